"""Signed reports: `report sign`, and what `report verify --public-key` adds to `report verify`.

A private key is read, used, and named by the id of its public half; nothing of it is said or written.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
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

ENVIRONMENT = "env://"
"""What stands before the name of an environment variable that holds a key, as cosign writes it."""

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Signed:
    """What a statement says, whose signature fits: the id of the key, and what its holder vouches for."""

    keyid: str
    adapter: str
    verdict: str
    suite: str
    commit: str
    report_sha256: str


@dataclass(frozen=True, slots=True)
class Result:
    """What is wrong, a sentence each; what the statement says, and the report that was checked with it, if one was."""

    faults: list[str]
    signed: Signed | None = None
    report: str = ""


def needs_library() -> None:
    """Say what to install where the extra is missing.

    Raises:
        CommandError: it is missing.
    """
    try:
        import cryptography.hazmat.primitives.asymmetric.ed25519  # noqa: F401
    except ImportError:
        raise CommandError(
            "signatures need the package cryptography; install it with: pip install 'pytest-corpus[sign]'"
        ) from None


def private_key(name: str) -> Ed25519PrivateKey:
    """The private key that `--key` names.

    Raises:
        CommandError: it cannot be read, or is not an Ed25519 key in PKCS #8 without a passphrase.
    """
    return _key("--key", name, keys.private)


def public_key(name: str) -> Ed25519PublicKey:
    """The public key that `--public-key` names.

    Raises:
        CommandError: it cannot be read, or is not an Ed25519 key.
    """
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
    """Where the envelope of a report goes.

    Raises:
        CommandError: it cannot be written there, or would take the place of the report or of the key.
    """
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


def _report_of(envelope: str) -> str:
    return envelope.removesuffix(dsse.SUFFIX).removesuffix(".json") + ".json"


def verified(name: str, signature: str | None, key: Ed25519PublicKey, check: Callable[[str], list[str]]) -> Result:
    """Check a report and its signed statement, of which either was named; a report that is not there is left out.

    Args:
        check: tells what is wrong with a report.

    Raises:
        CommandError: a file cannot be read.
    """
    if dsse.is_envelope(name, read_bytes(name)):
        envelope, report = name, _report_of(name)
        report = report if os.path.exists(report) else ""
    else:
        envelope, report = signature or _beside(name), name
    faults = [f"{printable(report)}: {fault}" for fault in check(report)] if report else []
    if not os.path.exists(envelope):
        raise CommandError(
            f"{envelope}: there is no such file, so {report} is not signed; name its signed statement with --signature"
        )
    try:
        payload = dsse.opened(read_bytes(envelope), key)
        signed = _said(payload, dsse.keyid(key))
        if report and not faults:
            _must_be_of(payload, signed, report)
    except dsse.EnvelopeError as error:
        return Result([*faults, f"{printable(envelope)}: {error}"])
    return Result(faults, signed, report)


def _must_be_of(payload: bytes, signed: Signed, report: str) -> None:
    document, _ = read(Path(report))
    if signed.report_sha256 != document["sha256"]:
        raise dsse.EnvelopeError(f"is signed, but is of another report than {printable(report)}")
    if payload != intoto.render(document).encode("utf-8", "backslashreplace"):
        raise dsse.EnvelopeError(f"is signed, but does not say what {printable(report)} says")


def _said(payload: bytes, keyid: str) -> Signed:
    try:
        return Signed(keyid, **intoto.told(payload))
    except ValueError:
        raise dsse.EnvelopeError("is signed, but is no statement on a report of pytest-corpus") from None


def explained(result: Result, key: str) -> str:
    """Who vouches for what, and what nobody does; nothing where anything is wrong."""
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


def as_json(signed: Signed | None) -> dict[str, str] | None:
    """What a statement says, for machines."""
    return asdict(signed) if signed else None
