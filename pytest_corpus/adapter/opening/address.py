"""Addresses of adapters outside of this process, in the notation of users (R91)."""

import re
import shlex
from dataclasses import dataclass
from urllib.parse import urlsplit

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.redaction import redact, redact_command
from pytest_corpus.spec.transports import SCHEMES, Scheme

_HOST = re.compile(r"(?:\[[^\]]*\]|[^:]*)(?::\d*)?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_LABELLED = re.compile(r"(?P<label>[A-Za-z0-9_-]+)=(?P<rest>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Address:
    """The address of an adapter.

    Attributes:
        scheme: the row of its scheme.
        text: the unchanged address.
        shown: the address in reports: without the query and without possible credentials.
    """

    scheme: Scheme
    text: str
    shown: str

    @property
    def command(self) -> list[str]:
        """The command line after `cmd:`, split like a shell does."""
        return shlex.split(self.text.removeprefix(self.scheme.prefix))


def scheme_of(declared: str) -> Scheme | None:
    """Return the scheme of an address that has no label; None if the declaration is not an address."""
    return next((scheme for scheme in SCHEMES if declared.strip().lower().startswith(scheme.prefix)), None)


def split_label(declared: str) -> tuple[str, str] | None:
    """Split a declaration into label and address; None if it is not an address. The default label hides credentials.

    Addresses may contain `=`, so a label consists of letters, digits, `_` and `-` before the first `=` (R91).
    """
    found = _LABELLED.fullmatch(declared.strip())
    if found and scheme_of(found["rest"]):
        return found["label"], found["rest"].strip()
    scheme = scheme_of(declared)
    return None if scheme is None else (_display(declared.strip(), scheme), declared.strip())


def parse(declared: str) -> Address:
    """Parse a declaration without its label. Raises DeclarationError if it is not valid or contains a password."""
    scheme = scheme_of(declared)
    assert scheme is not None, "no address"
    text = declared.strip()
    text = scheme.prefix + text[len(scheme.prefix) :]
    visible = _display(text, scheme)
    address = Address(scheme, text, visible)
    try:
        if scheme.prefix == "cmd:":
            if not address.command:
                raise DeclarationError(visible, "names no program", "write it as cmd:node adapter.js")
            if _ASSIGNMENT.fullmatch(address.command[0]):
                raise DeclarationError(
                    visible, "begins with a variable, and no shell runs that would set it", "begin it with cmd:env"
                )
        if not scheme.prefix.endswith("://"):
            return address
        url = urlsplit(text)
    except ValueError as error:
        raise DeclarationError(visible, f"cannot be read: {str(error).lower()}") from None
    try:
        url.port  # noqa: B018 - an invalid port raises only when it is read
    except ValueError:
        raise DeclarationError(visible, "cannot be read: the port must be a number from 0 to 65535") from None
    if not url.hostname:
        raise DeclarationError(visible, "names no host", f"write it as {scheme.prefix}host:port/path")
    if url.username is not None or url.password is not None:
        raise DeclarationError(visible, "carries a user name", "set credentials in corpus_header: NAME:VALUE")
    return address


def display_address(declared: str) -> str:
    """Return an address as reports show it."""
    scheme = scheme_of(declared)
    return declared if scheme is None else _display(declared.strip(), scheme)


def _display(text: str, scheme: Scheme) -> str:
    if scheme.prefix == "cmd:":
        return scheme.prefix + redact_command(text[len(scheme.prefix) :])
    rest = text[len(scheme.prefix) :]
    host, slash, path = rest.partition("#")[0].partition("?")[0].partition("/")
    if "@" in rest and not _HOST.fullmatch(host.rpartition("@")[2]):
        return f"{scheme.prefix}***"  # perhaps a password with `/`, `?` or `#`
    return scheme.prefix + host.rpartition("@")[2] + slash + redact(path)
