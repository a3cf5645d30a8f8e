"""`pytest-corpus report sign`, and `report check --public-key`: an envelope that others read, and no change unseen."""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization as kept
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from ledgers import ledger
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import SSlibKey
from signatures import DOCUMENT, KEY, OTHER, REPORT_CHANGES, STATEMENT_CHANGES, UNSEALED, pem, public
from sound import sound, violated, written
from tables import read_json_rows

from pytest_corpus import cli
from pytest_corpus.reports import formats, json_report
from pytest_corpus.reports.signing import dsse
from pytest_corpus.spec.requirements import applicable_requirements
from pytest_corpus.verdict.verdict import decide


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a report and a key in two halves, in which the commands are run."""
    monkeypatch.chdir(tmp_path)
    json_report.write_report(DOCUMENT, tmp_path / "a.json")
    (tmp_path / "key.pem").write_bytes(pem(KEY))
    (tmp_path / "pub.pem").write_bytes(public(KEY))
    return tmp_path


@pytest.fixture
def signed(here: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """The folder, with the report signed."""
    assert run("sign", "a.json", "--key", "key.pem") == 0
    capsys.readouterr()
    return here


def run(*given: str) -> int:
    return cli.main(["report", *given])


def verified(name: str = "a.dsse.json", key: str = "pub.pem") -> int:
    """The exit code of checking a signed statement."""
    return run("check", name, "--public-key", key)


def test_the_envelope_holds_the_statement(signed: Path) -> None:
    """The payload is the in-toto statement of the report, byte for byte, and says what it is."""
    envelope = json.loads((signed / "a.dsse.json").read_text())
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    assert base64.b64decode(envelope["payload"]).decode() == formats.render(DOCUMENT, ".intoto.json")
    assert [each["keyid"] for each in envelope["signatures"]][1:] == [""]


def test_what_is_signed_is_the_pae(signed: Path) -> None:
    """The signature is over the pre-authentication encoding of DSSE, written out here a second time."""
    envelope = json.loads((signed / "a.dsse.json").read_text())
    payload = base64.b64decode(envelope["payload"])
    said = b"DSSEv1 28 application/vnd.in-toto+json " + str(len(payload)).encode() + b" " + payload
    for each in envelope["signatures"]:
        KEY.public_key().verify(base64.b64decode(each["sig"]), said)


def test_securesystemslib_reads_it(signed: Path) -> None:
    """The library behind in-toto finds the key by its id and accepts the signature, and no other key's."""
    keys: list[Any] = [SSlibKey.from_crypto(each.public_key()) for each in (KEY, OTHER)]
    envelope = Envelope.from_dict(json.loads((signed / "a.dsse.json").read_text()))
    assert list(envelope.verify(keys[:1], 1)) == [keys[0].keyid]
    with pytest.raises(VerificationError):
        envelope.verify(keys[1:], 1)


def test_it_holds_no_key_and_no_content(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing of the private key is written or said, and no file is left but the envelope."""
    assert run("sign", "a.json", "--key", "key.pem", "-o", "b.dsse.json") == 0
    said = capsys.readouterr()
    private = pem(KEY).decode().splitlines()[1]
    raw = KEY.private_bytes_raw()
    secrets = (private, private[-20:], raw.hex(), base64.b64encode(raw).decode())
    told = said.out + said.err + "".join(path.read_text() for path in signed.glob("*.json"))
    assert not any(secret in told for secret in secrets)
    assert {path.name for path in signed.iterdir()} == {"a.json", "a.dsse.json", "b.dsse.json", "key.pem", "pub.pem"}


def test_signing_twice_gives_the_same_bytes(signed: Path) -> None:
    """The envelope is a function of report and key."""
    first = (signed / "a.dsse.json").read_bytes()
    assert run("sign", "a.json", "--key", "key.pem") == 0
    assert (signed / "a.dsse.json").read_bytes() == first


@pytest.mark.parametrize("way", ["stdin", "env"])
def test_a_key_that_is_in_no_file(here: Path, way: str) -> None:
    """A key may come through stdin or an environment variable, as in CI, where no file of it should be left."""
    code = "import sys; from pytest_corpus.cli import main; sys.exit(main())"
    name = "-" if way == "stdin" else "env://SIGNING_KEY"
    command = [sys.executable, "-c", code, "report", "sign", "a.json", "--key", name]
    root = str(Path(__file__).resolve().parents[2])
    env = {"PYTHONPATH": root} | ({"SIGNING_KEY": pem(KEY).decode()} if way == "env" else {})
    sent = pem(KEY) if way == "stdin" else b""
    done = subprocess.run(command, input=sent, env=env, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert verified() == 0


def test_whom_to_trust_for_what(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A signature that fits is told with the key, the statement, the report, and what each side answers for."""
    for name in ("a.dsse.json", "a.json"):
        assert verified(name) == 0
        said = capsys.readouterr().out
        assert 'statement: "conformant", of mine, tested with pytest-corpus@' in said
        assert f"report: a.json, whole and unaltered (sha256 {DOCUMENT['sha256']})" in said
        assert re.findall(r"^(\w[\w ]+):", said, re.M)[-3:] == ["proved", "trust the signer for", "find out yourself"]


def test_the_statement_alone(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If the report is not at hand the signature is checked, and it is said that the report was not."""
    (signed / "a.json").unlink()
    assert verified() == 0
    assert "report: not at hand, so only the statement counts" in capsys.readouterr().out


def test_for_machines(signed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON: what is wrong, and what the statement says."""
    assert run("check", "a.json", "--public-key", "pub.pem", "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["valid"], told["faults"]) == (True, [])
    assert (told["signed"]["adapter"], told["signed"]["verdict"]) == ("mine", "conformant")
    (signed / "pub.pem").write_bytes(public(OTHER))
    assert run("check", "a.json", "--public-key", "pub.pem", "--format", "json") == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["valid"], told["signed"], len(told["faults"])) == (False, None, 1)


def test_a_verdict_that_is_red_can_be_signed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The signature states that a run was made, not that it went well."""
    name = applicable_requirements("llm")[0].id
    json_report.write_report(written(sound({name: violated(name)})), here / "a.json")
    assert run("sign", "a.json", "--key", "key.pem") == 0
    assert verified() == 0
    assert 'statement: "not conformant"' in capsys.readouterr().out


@pytest.mark.parametrize("change", [*STATEMENT_CHANGES, *(f"report: {name}" for name in REPORT_CHANGES)])
def test_a_change_is_refused(signed: Path, capsys: pytest.CaptureFixture[str], change: str) -> None:
    """Whatever is changed of a signed statement, or of the report that it is of, one sentence refuses it."""
    files = {name: (signed / name).read_bytes() for name in ("a.json", "a.dsse.json")}
    changes = {**STATEMENT_CHANGES, **{f"report: {name}": each for name, each in REPORT_CHANGES.items()}}
    after = changes[change](dict(files))
    assert after != files
    for name, data in after.items():
        (signed / name).write_bytes(data)
    for name in files:
        assert verified(name) == 1
        said = capsys.readouterr()
        assert said.out.startswith("a.json: " if change in UNSEALED else "a.dsse.json: ")
        assert "proved" not in said.out
        assert "Traceback" not in said.err


def test_any_changed_byte_is_refused(signed: Path) -> None:
    """Every 37th byte of the envelope, and each of its last 600, may not be another."""
    data = (signed / "a.dsse.json").read_bytes()
    for place in [*range(0, len(data), 37), *range(len(data) - 600, len(data))]:
        for mask in (1, 0x20, 0x80):
            other = bytes([data[place] ^ mask])
            with pytest.raises(dsse.EnvelopeError):
                dsse.open_envelope(data[:place] + other + data[place + 1 :], KEY.public_key())


FOREIGN = dsse.sign_payload(b'{"_type": "https://in-toto.io/Statement/v1"}', KEY)


@pytest.mark.parametrize(("name", "data", "said"), [
    ("pub.pem", public(OTHER).decode(), r"was signed with another key: the one with the id \w{64}, not"),
    ("a.dsse.json", FOREIGN, "is not a statement on a report of pytest-corpus"),
    ("a.json", json_report.render(written(sound(name="other"))), "is of another report than a.json"),
], ids=["key", "statement", "report"])  # fmt: skip
def test_what_does_not_belong_together(
    signed: Path, capsys: pytest.CaptureFixture[str], name: str, data: str, said: str
) -> None:
    """Another key, another statement of the right key and another report are told as what they are."""
    (signed / name).write_text(data)
    assert verified() == 1
    assert re.search(said, capsys.readouterr().out)


def test_only_what_stands_is_signed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An altered or a partial report is refused, with what is wrong, and nothing is written."""
    found = ledger(missing=(applicable_requirements("llm")[0].id,))
    run_of = json_report.RunFacts("2026-01-01T00:00:00+00:00", 5.0, 0, "must", None)
    json_report.write_report(json_report.build_report(found, decide(found), run_of), here / "partial.json")
    (here / "altered.json").write_text((here / "a.json").read_text().replace('"mine"', '"yours"', 1))
    for name, said in (("partial.json", "was not complete"), ("altered.json", "was changed after it was written")):
        assert run("sign", name, "--key", "key.pem") == 1
        assert said in capsys.readouterr().out
    assert not list(here.glob("*.dsse.json"))


RSA = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
WRONG_PRIVATE: dict[str, tuple[bytes, str]] = {
    "encrypted": (pem(KEY, b"secret"), "is encrypted; hand it over decrypted, without a file: openssl pkey"),
    "public": (public(KEY), "holds a public key; signing needs the private one"),
    "RSA": (pem(RSA), "is an RSA key; an Ed25519 key is needed: openssl genpkey"),
    "RSA, old form": (pem(RSA, form=kept.PrivateFormat.TraditionalOpenSSL), "is an RSA key"),
    "elliptic curve": (pem(CURVE), "is an ECDSA key; an Ed25519 key is needed"),
    "Ed448": (pem(ed448.Ed448PrivateKey.generate()), "is a key of the kind Ed448; an Ed25519 key is needed"),
    "OpenSSH": (pem(KEY, form=kept.PrivateFormat.OpenSSH), "is a key of OpenSSH; one in PKCS #8 is needed"),
    "cosign": (b"-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\neyJ\n", "is a key of cosign"),
    "damaged": (pem(KEY).replace(b"\nMC4", b"\nMC5"), "is damaged"),
    "cut off": (pem(KEY)[:60], "is damaged"),
    "certificate": (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "holds a certificate"),
    "two": (pem(KEY) + pem(OTHER), "holds 2 PEM blocks"),
    "raw": (KEY.private_bytes_raw(), "is not a key in PEM"),
    "empty": (b"", "is empty"),
    "huge": (b"x" * 70_000, "more than 64.0 KiB"),
}
WRONG_PUBLIC: dict[str, tuple[bytes, str]] = {
    "private": (pem(KEY), "holds a private key, which must stay with its owner"),
    "encrypted private": (pem(KEY, b"secret"), "holds a private key, which must stay with its owner"),
    "RSA": (public(RSA), "is an RSA key; an Ed25519 key is needed"),
    "damaged": (public(KEY).replace(b"\nMCo", b"\nMCp"), "is damaged"),
    "certificate": (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "holds a certificate"),
    "text": (b"hello", "is not a key in PEM"),
}


def one_sentence(capsys: pytest.CaptureFixture[str], *secret: bytes) -> str:
    """The text on stderr: a line that holds nothing of a key, and nothing on stdout."""
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    for each in secret:
        lines = [line for line in each.decode("latin-1").splitlines() if len(line) > 15 and "-----" not in line]
        assert not any(line[:16] in said.err for line in lines)
    return said.err


@pytest.mark.parametrize("kind", WRONG_PRIVATE)
def test_a_key_that_cannot_sign(here: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """Each ends in one sentence that says what it is and what is needed; nothing is written."""
    data, said = WRONG_PRIVATE[kind]
    (here / "key.pem").write_bytes(data)
    assert run("sign", "a.json", "--key", "key.pem") == 2
    found = one_sentence(capsys, data)
    assert found.startswith("pytest-corpus report sign: ")
    assert "key.pem: " in found
    assert said in found
    assert not list(here.glob("*.dsse.json"))


@pytest.mark.parametrize("kind", WRONG_PUBLIC)
def test_a_key_that_cannot_verify(signed: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """Each ends in one sentence that says what it is; a private key is told to stay where it belongs."""
    data, said = WRONG_PUBLIC[kind]
    (signed / "pub.pem").write_bytes(data)
    assert verified() == 2
    assert said in one_sentence(capsys, data)


@pytest.mark.parametrize(("given", "said"), read_json_rows(Path(__file__).with_name("signing_mistakes.txt")))
def test_a_command_that_makes_no_sense(
    here: Path, capsys: pytest.CaptureFixture[str], given: list[str], said: str
) -> None:
    """Each ends in one sentence, with exit code 2."""
    (here / "key.dsse.json").symlink_to("key.pem")
    assert run(*given) == 2
    assert said in one_sentence(capsys)


@pytest.mark.parametrize("command", [("sign", "a.json", "--key", "key.pem"), ("check", "a.json", "--public-key", "p")])
def test_without_the_extra(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """Without cryptography one sentence says what to install; a report without a signature is verified as ever."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert run(*command) == 2
    assert "pip install 'pytest-corpus[sign]'" in one_sentence(capsys)
    assert run("check", "a.json") == 0


def test_cryptography_is_only_loaded_to_sign() -> None:
    """The other commands do not pay for it."""
    code = "import sys; from pytest_corpus.cli import main; main(['report', 'badge', '--help'])"
    tail = "print('cryptography' in sys.modules, file=sys.stderr)"
    whole = f"import atexit, sys; atexit.register(lambda: {tail}); {code}"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr.strip() == "False"
