"""`report sign --keyless` and `report check --identity`, as far as a machine without an identity and a network can go.

No signature by an identity is made here. A bundle that Sigstore accepts is replaced by a verifier that accepts it.
"""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from signatures import DOCUMENT

from pytest_corpus import cli
from pytest_corpus.reports import formats, json_report
from pytest_corpus.reports.signing.dsse import PAYLOAD_TYPE

IDENTITY = "https://github.com/me/mine/.github/workflows/conformance.yml@refs/heads/main"
STATEMENT = formats.render(DOCUMENT, ".intoto.json").encode()
OF_THE_CI = ("GITHUB_ACTIONS", "GITLAB_CI", "CIRCLECI", "BUILDKITE", "SIGSTORE_ID_TOKEN")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a report and something in the place of its bundle, in which the commands are run."""
    monkeypatch.chdir(tmp_path)
    json_report.write_report(DOCUMENT, tmp_path / "a.json")
    (tmp_path / "a.sigstore.json").write_text("{}")
    return tmp_path


def verified(name: str = "a.json") -> int:
    return cli.main(["report", "check", name, "--identity", IDENTITY])


def signed_by(monkeypatch: pytest.MonkeyPatch, identity: str, kind: str, payload: bytes) -> None:
    """Let Sigstore, which takes a second to import, accept every bundle as signed by an identity of GitHub."""
    from sigstore.errors import VerificationError
    from sigstore.models import Bundle
    from sigstore.verify import Verifier

    def verify_dsse(_bundle: object, policy: Any) -> tuple[str, bytes]:
        if (policy._identity, policy._issuer and policy._issuer._value) != (
            identity,
            "https://token.actions.githubusercontent.com",
        ):
            raise VerificationError("Certificate's SANs do not match")
        return kind, payload

    monkeypatch.setattr(Bundle, "from_json", lambda data: data)
    monkeypatch.setattr(Verifier, "production", lambda offline: SimpleNamespace(verify_dsse=verify_dsse))


@pytest.mark.parametrize("name", ["a.json", "a.sigstore.json"])
def test_a_signature_by_the_identity(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """The report or its bundle is checked, and the text says whose identity it is and who vouches for that."""
    signed_by(monkeypatch, IDENTITY, PAYLOAD_TYPE, STATEMENT)
    assert verified(name) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"signed with the identity {IDENTITY} of https://token.actions.githubusercontent.com\n")
    assert 'statement: "conformant", of mine' in said


OTHERS = {
    "is not signed by https://github.com/me/mine": (IDENTITY.replace("main", "fork"), PAYLOAD_TYPE, STATEMENT),
    "does not hold an in-toto statement": (IDENTITY, "text/plain", STATEMENT),
    "is not a statement on a report of pytest-corpus": (IDENTITY, PAYLOAD_TYPE, b"{}"),
    "does not say what a.json says": (IDENTITY, PAYLOAD_TYPE, STATEMENT.replace(b'"mine"', b'"mind"')),
    "is of another report": (IDENTITY, PAYLOAD_TYPE, STATEMENT.replace(DOCUMENT["sha256"].encode(), b"0" * 64)),
}


@pytest.mark.parametrize("why", OTHERS)
def test_any_other_signature_is_refused(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], why: str
) -> None:
    """Another identity, another content and another report are each named."""
    signed_by(monkeypatch, *OTHERS[why])
    assert verified() == 1
    assert why in capsys.readouterr().out


@pytest.mark.parametrize("data", ["", "{}", "[", json.dumps({"payloadType": PAYLOAD_TYPE}), "\xff"])
def test_what_is_not_a_bundle(here: Path, capsys: pytest.CaptureFixture[str], data: str) -> None:
    """Sigstore itself refuses it, in one line."""
    (here / "a.sigstore.json").write_bytes(data.encode("latin-1"))
    assert verified() == 1
    said = capsys.readouterr().out
    assert said.startswith("a.sigstore.json: is not a Sigstore bundle: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("ci", [{}, {"GITHUB_ACTIONS": "true"}])
def test_no_identity_to_sign_by(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ci: dict[str, str]
) -> None:
    """Outside of CI, and in a job that lacks the permission, the message says what a job needs; nothing is written."""
    for name in OF_THE_CI:
        monkeypatch.delenv(name, raising=False)
    for name, value in ci.items():
        monkeypatch.setenv(name, value)
    (here / "a.sigstore.json").unlink()
    assert cli.main(["report", "sign", "a.json", "--keyless"]) == 2
    assert "a.json: cannot be signed, because this process has no identity: a job of" in capsys.readouterr().err
    assert [path.name for path in here.iterdir()] == ["a.json"]
