"""Access to a served adapter: permitted callers, and permitted hosts for its reports.

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
    """A request that is not allowed: the HTTP status and the reason."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of a server.

    Attributes:
        host: the address that the server listens on; requests to an address beyond loopback may name any host.
        token: the token that requests must send as `Authorization: Bearer TOKEN`; empty if none is required.
        hook_hosts: hosts beyond loopback to which reports may be sent.
    """

    host: str = "127.0.0.1"
    token: str = field(default="", repr=False)
    hook_hosts: frozenset[str] = frozenset()

    def refusal(self, headers: Mapping[str, str]) -> AccessRefusal | None:
        """The reason to refuse a request with these headers (names in lower case); None if it is allowed."""
        host = headers.get("host", "")
        if is_loopback(self.host) and not is_loopback(_host_of(f"//{host}")):
            return AccessRefusal(403, "only requests to a loopback host are served; serve with --host to allow others")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return AccessRefusal(403, "requests of pages of another origin are not served")
        return self.refusal_by_token(headers.get("authorization", ""))

    def refusal_by_token(self, authorization: str) -> AccessRefusal | None:
        """The reason to refuse a request with this `Authorization`; None if it contains the token."""
        given = authorization.encode("utf-8", "surrogateescape")
        if self.token and not secrets.compare_digest(given, f"{SCHEME}{self.token}".encode()):
            return AccessRefusal(401, "send the token of this server as Authorization: Bearer TOKEN")
        return None

    def allows_hooks(self, url: str) -> bool:
        """True if reports may be posted to this address. An empty address is allowed, because it means no hooks."""
        host = _host_of(url)
        return not url or is_loopback(host) or host in self.hook_hosts


def is_loopback(host: str) -> bool:
    """True if only this machine can reach a host: a loopback address, or the name `localhost`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == LOCAL_NAME


def _host_of(url: str) -> str:
    """The host of an address in lower case; empty if the address has none or is not valid."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
