"""Signed reports: `report sign` and `report verify --public-key`.

A private key is read and used, never printed or written; messages name it by the id of its public half.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_corpus.commands import CommandError
from pytest_corpus.commands._files import read_bytes, shown_name
from pytest_corpus.reports.reading import read
from pytest_corpus.reports.signing import dsse, intoto, keys
from pytest_corpus.reports.text import VERDICT_WORDS, printable
from pytest_corpus.text.atomic_write import obstacle

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ENVIRONMENT = "env://"  # the prefix, as in cosign, of an environment variable that holds a key
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Signed:
    """A statement with a valid signature: the id of the key and the claims of its holder."""

    keyid: str
    adapter: str
    verdict: str
    suite: str
    commit: str
    report_sha256: str


@dataclass(frozen=True, slots=True)
class Result:
    """The faults, one sentence each, the statement, and the report that was checked with it, if one was."""

    faults: list[str]
    signed: Signed | None = None
    report: str = ""


def needs_library() -> None:
    """Refuse to go on without the extra `sign`."""
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
    except ImportError:
        said = "signatures need the package cryptography; install it with: pip install 'pytest-corpus[sign]'"
        raise CommandError(said) from None


def private_key(name: str) -> Ed25519PrivateKey:
    """The private key that `--key` names: Ed25519, in PKCS #8 without a passphrase."""
    return _key("--key", name, keys.private)


def public_key(name: str) -> Ed25519PublicKey:
    """The Ed25519 key that `--public-key` names."""
    return _key("--public-key", name, keys.public)


def _key(option: str, name: str, load: Callable[[bytes], _Key]) -> _Key:
    variable = name.removeprefix(ENVIRONMENT)
    try:
        if variable == name:
            return load(read_bytes(name, keys.LARGEST))
        if variable not in os.environ:
            raise CommandError(f"{option} {name}: there is no environment variable {variable}")
        return load(os.environ[variable].encode("utf-8", "surrogateescape"))
    except keys.KeyFileError as error:
        raise CommandError(f"{option} {shown_name(name)}: {error}") from None


def target(report: str, output: str | None, key: str) -> Path:
    """The path of a report's envelope; it must not replace the report or the key."""
    path = Path(output or _beside(report))
    if not path.name.endswith(dsse.SUFFIX) or path.name == dsse.SUFFIX:
        raise CommandError(f"-o {path}: the name must end in {dsse.SUFFIX}")
    if blocked := obstacle(path):
        raise CommandError(f"-o {path}: {blocked}")
    for other in (report, key):
        if path.exists() and os.path.exists(other) and path.samefile(other):
            raise CommandError(f"-o {path}: this is the file {other}, which would be lost; name another one")
    return path


def _beside(report: str) -> str:
    return report.removesuffix(".json") + dsse.SUFFIX


def verified(name: str, signature: str | None, key: Ed25519PublicKey, check: Callable[[str], list[str]]) -> Result:
    """Check a report and its signed statement; either may be named, and the report may be missing.

    Args:
        check: returns the faults of a report.
    """
    if dsse.is_envelope(name, read_bytes(name)):
        envelope, report = name, name.removesuffix(dsse.SUFFIX).removesuffix(".json") + ".json"
        report = report if os.path.exists(report) else ""
    else:
        envelope, report = signature or _beside(name), name
    faults = [f"{printable(report)}: {fault}" for fault in check(report)] if report else []
    if not os.path.exists(envelope):
        said = f"there is no such file, so {report} is not signed; name its signed statement with --signature"
        raise CommandError(f"{envelope}: {said}")
    try:
        payload = dsse.opened(read_bytes(envelope), key)
        signed = Signed(dsse.keyid(key), **intoto.claims(payload))
        if report and not faults:
            _must_be_of(payload, signed, report)
    except dsse.EnvelopeError as error:
        return Result([*faults, f"{printable(envelope)}: {error}"])
    except ValueError:
        said = "is signed, but is not a statement on a report of pytest-corpus"
        return Result([*faults, f"{printable(envelope)}: {said}"])
    return Result(faults, signed, report)


def _must_be_of(payload: bytes, signed: Signed, report: str) -> None:
    document, _ = read(Path(report))
    if signed.report_sha256 != document["sha256"]:
        raise dsse.EnvelopeError(f"is signed, but is of another report than {printable(report)}")
    if payload != intoto.render(document).encode("utf-8", "backslashreplace"):
        raise dsse.EnvelopeError(f"is signed, but does not say what {printable(report)} says")


def explained(result: Result, key: str) -> str:
    """The statement, what the signature proves and what it does not; empty if there are faults."""
    signed = result.signed
    if signed is None or result.faults:
        return ""
    commit = f" at commit {signed.commit}" if signed.commit else ""
    report = f"{result.report}, whole and unaltered" if result.report else "not at hand, so only the statement counts"
    verdict = VERDICT_WORDS.get(signed.verdict, signed.verdict)
    lines = (
        f"signed with the key in {key} (keyid {signed.keyid})",
        f'statement: "{verdict}", of {signed.adapter}{commit}, tested with {signed.suite}',
        f"report: {report} (sha256 {signed.report_sha256})",
        "proved: whoever holds this key signed just this, and no byte was changed since",
        "trust the holder of the key for: that the run was made, and that nothing in its process deceived the suite",
        "find out yourself: whose key it is, not from where the report came; whether what you use is what was tested",
    )
    return "".join(f"{printable(line)}\n" for line in lines)
