"""Signed reports: `report sign` and `report check --public-key`.

A private key is never printed or written; messages name it by the id of its public key.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pytest_corpus.commands import CommandError
from pytest_corpus.commands._files import display_name, read_bytes
from pytest_corpus.reports.reading import read_report
from pytest_corpus.reports.signing import dsse, intoto, keyless
from pytest_corpus.reports.text import VERDICT_WORDS, printable
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import find_obstacle

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ENVIRONMENT = "env://"  # the prefix, as in cosign, of an environment variable that contains a key
_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Signer:
    """The signer that the user expects: a key or an identity.

    Attributes:
        name: the description for messages.
        by: the id of the key, or the identity.
        suffix: the suffix of its signed files.
        open_payload: checks the signature in a file's bytes and returns the signed payload.
    """

    name: str
    by: str
    suffix: str
    open_payload: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class SignatureResult:
    """The result of a check.

    Attributes:
        faults: one sentence each.
        signed: the claims of the statement (`intoto.read_claims`) and the `keyid`; None without a valid signature.
        report: the name of the report, or empty.
    """

    faults: list[str]
    signed: dict[str, str] | None = None
    report: str = ""


def require_package(package: str, extra: str) -> None:
    """Raise CommandError if the package of an extra is not installed."""
    if find_spec(package) is None:
        said = f"these signatures need the package {package}; install it with: pip install 'pytest-corpus[{extra}]'"
        raise CommandError(said)


def key_signer(name: str) -> Signer:
    """Return the signer for the Ed25519 key that `--public-key` names."""
    require_package("cryptography", "sign")
    key = _read_key("--public-key", name, dsse.read_public_key)
    own = dsse.key_id(key)
    return Signer(f"the key in {name} (keyid {own})", own, dsse.SUFFIX, lambda data: dsse.open_envelope(data, key))


def identity_signer(identity: str, issuer: str | None) -> Signer:
    """Return the signer for the identity that `--identity` names and an issuer confirms."""
    require_package("sigstore", "sigstore")
    vouching = issuer or next((by for below, by in keyless.ISSUERS.items() if identity.startswith(below)), None)
    if vouching is None:
        raise CommandError(f"--identity {identity}: say with --issuer who vouches for it")
    name = f"the identity {identity} of {vouching}"
    return Signer(name, identity, keyless.SUFFIX, lambda data: keyless.open_bundle(data, identity, vouching))


def read_private_key(name: str) -> Ed25519PrivateKey:
    """Return the private key that `--key` names: Ed25519, in PKCS #8 without a passphrase."""
    return _read_key("--key", name, dsse.read_private_key)


def _read_key(option: str, name: str, load: Callable[[bytes], _Key]) -> _Key:
    variable = name.removeprefix(ENVIRONMENT)
    try:
        if variable == name:
            return load(read_bytes(name, dsse.LARGEST))
        if variable not in os.environ:
            raise CommandError(f"{option} {name}: there is no environment variable {variable}")
        return load(os.environ[variable].encode("utf-8", "surrogateescape"))
    except dsse.KeyFileError as error:
        raise CommandError(f"{option} {display_name(name)}: {error}") from None


def statement_target(report: str, output: str | None, key: str, suffix: str = dsse.SUFFIX) -> Path:
    """Return the path for a report's signed statement. Raises CommandError if it would replace report or key."""
    path = Path(output or _statement_path(report, suffix))
    if not path.name.endswith(suffix) or path.name == suffix:
        raise CommandError(f"-o {path}: the name must end in {suffix}")
    if blocked := find_obstacle(path):
        raise CommandError(f"-o {path}: {blocked}")
    for other in (report, key):
        if path.exists() and os.path.exists(other) and path.samefile(other):
            raise CommandError(f"-o {path}: this is the file {other}, which would be lost; name another one")
    return path


def _statement_path(report: str, suffix: str) -> str:
    return report.removesuffix(".json") + suffix


def is_signed(name: str, data: bytes = b"") -> bool:
    """True if a file is probably a signed statement, by its name or its content."""
    return name.endswith(keyless.SUFFIX) or dsse.is_envelope(name, data)


def check_signature(
    name: str, signature: str | None, signer: Signer, check: Callable[[str], list[str]]
) -> SignatureResult:
    """Check a report and its signed statement; `name` may be either of them, and the report may be missing.

    Args:
        signature: the signed statement, if the user names it.
        check: returns the faults of a report.
    """
    if is_signed(name, bounded.read_contents(Path(name))):
        envelope, report = name, name.removesuffix(signer.suffix).removesuffix(".json") + ".json"
        report = report if os.path.exists(report) else ""
    else:
        envelope, report = signature or _statement_path(name, signer.suffix), name
    faults = [f"{printable(report)}: {fault}" for fault in check(report)] if report else []
    if not os.path.exists(envelope):
        said = f"there is no such file, so {report} is not signed; name its signed statement with --signature"
        raise CommandError(f"{envelope}: {said}")
    try:
        payload = signer.open_payload(bounded.read_contents(Path(envelope)))
        signed = {"keyid": signer.by, **intoto.read_claims(payload)}
        if report and not faults:
            document, _ = read_report(Path(report))
            if signed["report_sha256"] != document["sha256"]:
                raise dsse.EnvelopeError(f"is signed, but is of another report than {printable(report)}")
            if payload != intoto.render(document).encode("utf-8", "backslashreplace"):
                raise dsse.EnvelopeError(f"is signed, but does not say what {printable(report)} says")
    except dsse.EnvelopeError as error:
        return SignatureResult([*faults, f"{printable(envelope)}: {error}"])
    except ValueError:
        said = "is signed, but is not a statement on a report of pytest-corpus"
        return SignatureResult([*faults, f"{printable(envelope)}: {said}"])
    return SignatureResult(faults, signed, report)


def describe_signature(result: SignatureResult, signer: Signer) -> str:
    """Describe the statement, and what the signature proves and does not prove; empty if there are faults."""
    signed = result.signed
    if signed is None or result.faults:
        return ""
    commit = f" at commit {signed['commit']}" if signed["commit"] else ""
    report = f"{result.report}, whole and unaltered" if result.report else "not at hand, so only the statement counts"
    verdict = VERDICT_WORDS.get(signed["verdict"], signed["verdict"])
    lines = (
        f"signed with {signer.name}",
        f'statement: "{verdict}", of {signed["adapter"]}{commit}, tested with {signed["suite"]}',
        f"report: {report} (sha256 {signed['report_sha256']})",
        "proved: this signer signed just this, and no byte was changed since",
        "trust the signer for: that the run was made, and that nothing in its process deceived the suite",
        "find out yourself: who the signer is, not from where the report came; whether what you use is what was tested",
    )
    return "".join(f"{printable(line)}\n" for line in lines)
