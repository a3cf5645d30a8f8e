"""Access to a served adapter: which clients may call it, and which hosts may receive its metrics and hook calls.

A web page in the developer's browser must not reach the adapter, which has keys of a provider. Such a page can use a
host name that resolves to this machine, but it cannot change the `Host` header or leave out `Origin`.
"""

import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOCAL_NAME = "localhost"
SCHEME = "Bearer "


@dataclass(frozen=True, slots=True)
class AccessRefusal:
    """The HTTP status and the reason for a request that is not allowed."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Access:
    """The access rules of a server.

    Attributes:
        host: the address that the server listens on; if it is not loopback, requests may name any host.
        token: the token that requests must send as `Authorization: Bearer TOKEN`; empty if none is required.
        hook_hosts: hosts beyond loopback that may receive hook calls.
    """

    host: str = "127.0.0.1"
    token: str = field(default="", repr=False)
    hook_hosts: frozenset[str] = frozenset()

    def refusal(self, headers: Mapping[str, str]) -> AccessRefusal | None:
        """Return the reason to refuse a request with these headers (names in lower case); None if it is allowed."""
        host = headers.get("host", "")
        if is_loopback(self.host) and not is_loopback(_host_of(f"//{host}")):
            return AccessRefusal(403, "only requests to a loopback host are served; serve with --host to allow others")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return AccessRefusal(403, "requests of pages of another origin are not served")
        return self.check_token(headers.get("authorization", ""))

    def check_token(self, authorization: str) -> AccessRefusal | None:
        """Return the reason to refuse a request with this `Authorization` header; None if its token is right."""
        given = authorization.encode("utf-8", "surrogateescape")
        if self.token and not secrets.compare_digest(given, f"{SCHEME}{self.token}".encode()):
            return AccessRefusal(401, "send the token of this server as Authorization: Bearer TOKEN")
        return None

    def allows_hooks(self, url: str) -> bool:
        """True if hook calls may be posted to this address, or if the address is empty (no hooks)."""
        host = _host_of(url)
        return not url or is_loopback(host) or host in self.hook_hosts


def is_loopback(host: str) -> bool:
    """True if only this machine can reach a host: a loopback address, or the name `localhost`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == LOCAL_NAME


def _host_of(url: str) -> str:
    """Return the host of an address in lower case; empty if it has none or is not valid."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
