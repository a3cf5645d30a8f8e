"""Access to a served adapter: who may call it, and the hosts that its reports may go to.

Nothing that a web page in the developer's browser sends may reach the adapter, which holds keys of a provider: a page
can name a host of its own that leads to this machine, but not another `Host` header; it cannot leave out `Origin`.
"""

import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

LOCAL_NAME = "localhost"
SCHEME = "Bearer "


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that may not be made: the status over HTTP, and the reason."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Access:
    """The rules of a server.

    Attributes:
        host: the address that it listens on; requests to an address beyond loopback may name any host.
        token: what each request must have as `Authorization: Bearer TOKEN`; empty if nothing is asked for.
        hook_hosts: the hosts beyond loopback that reports may go to.
    """

    host: str = "127.0.0.1"
    token: str = field(default="", repr=False)
    hook_hosts: frozenset[str] = frozenset()

    def refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        """The reason to refuse a request with these headers, whose names are in lower case; None if it is allowed."""
        host = headers.get("host", "")
        if is_loopback(self.host) and not is_loopback(_host_of(f"//{host}")):
            return Refusal(403, "only requests to a loopback host are served; serve with --host to allow others")
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return Refusal(403, "requests of pages of another origin are not served")
        return self.refusal_by_token(headers.get("authorization", ""))

    def refusal_by_token(self, authorization: str) -> Refusal | None:
        """The reason to refuse a request with this value of `Authorization`; None if it has the token."""
        given = authorization.encode("utf-8", "surrogateescape")
        if self.token and not secrets.compare_digest(given, f"{SCHEME}{self.token}".encode()):
            return Refusal(401, "send the token of this server as Authorization: Bearer TOKEN")
        return None

    def allows_hooks(self, url: str) -> bool:
        """True if reports may be posted to this address; an empty one means that there are none."""
        host = _host_of(url)
        return not url or is_loopback(host) or host in self.hook_hosts


def is_loopback(host: str) -> bool:
    """True if a host is this machine alone: an address, or the name `localhost`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == LOCAL_NAME


def _host_of(url: str) -> str:
    """The host of an address in lower case; empty if it has none, or cannot be read."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""
