"""Keys, and changes of what was signed with them."""

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives import serialization as kept
from cryptography.hazmat.primitives.asymmetric import ed25519
from sound import sound, written

from pytest_corpus.reports import json_report

KEY, OTHER = ed25519.Ed25519PrivateKey.generate(), ed25519.Ed25519PrivateKey.generate()
DOCUMENT = written(sound(name="mine"))


def pem(key: Any, password: bytes | None = None, form: Any = kept.PrivateFormat.PKCS8) -> bytes:
    """A private key in PEM."""
    closed = kept.BestAvailableEncryption(password) if password else kept.NoEncryption()
    return bytes(key.private_bytes(kept.Encoding.PEM, form, closed))


def public(key: Any) -> bytes:
    """The public half of a key in PEM."""
    return bytes(key.public_key().public_bytes(kept.Encoding.PEM, kept.PublicFormat.SubjectPublicKeyInfo))


Files = dict[str, bytes]


def resealed(files: Files, change: Callable[[dict[str, Any]], None]) -> Files:
    """The envelope with a change of its members, written as before."""
    envelope = json.loads(files["a.dsse.json"])
    change(envelope)
    return {**files, "a.dsse.json": (json.dumps(envelope, indent=2) + "\n").encode()}


def in_payload(old: bytes, new: bytes) -> Callable[[Files], Files]:
    """A change of the statement: the first `old` becomes `new`."""

    def change(envelope: dict[str, Any]) -> None:
        payload = base64.b64decode(envelope["payload"])
        assert old in payload
        envelope["payload"] = base64.b64encode(payload.replace(old, new, 1)).decode()

    return lambda files: resealed(files, change)


def in_report(old: bytes, new: bytes, *, seal: bool = False) -> Callable[[Files], Files]:
    """A change of the report that the envelope is of, with its own sha256 made to fit if asked."""

    def change(files: Files) -> Files:
        assert old in files["a.json"]
        data = files["a.json"].replace(old, new, 1)
        text = json_report.render(json_report.add_digest(json.loads(data))) if seal else data.decode()
        return {**files, "a.json": text.encode()}

    return change


def in_text(old: bytes, new: bytes, last: bool = False) -> Callable[[Files], Files]:
    """A change of the text of the envelope."""

    def change(files: Files) -> Files:
        text = files["a.dsse.json"]
        assert old in text
        return {**files, "a.dsse.json": new.join(text.rsplit(old, 1)) if last else text.replace(old, new, 1)}

    return change


def flipped(bit: int) -> Callable[[dict[str, Any]], None]:
    """A bit of both signatures is another."""

    def change(envelope: dict[str, Any]) -> None:
        raw = bytearray(base64.b64decode(envelope["signatures"][0]["sig"]))
        raw[bit // 8] ^= 1 << bit % 8
        for each in envelope["signatures"]:
            each["sig"] = base64.b64encode(raw).decode()

    return change


def signed_by_another(envelope: dict[str, Any]) -> None:
    """Somebody else signs the same, and says that it was the holder of the key."""
    payload = base64.b64decode(envelope["payload"])
    said = b"DSSEv1 28 application/vnd.in-toto+json %d %s" % (len(payload), payload)
    for each in envelope["signatures"]:
        each["sig"] = base64.b64encode(OTHER.sign(said)).decode()


def signed_without_pae(envelope: dict[str, Any]) -> None:
    """The holder of the key signed the payload alone."""
    for each in envelope["signatures"]:
        each["sig"] = base64.b64encode(KEY.sign(base64.b64decode(envelope["payload"]))).decode()


def loose_end(envelope: dict[str, Any]) -> None:
    """The last character of the base64 of a signature has other bits where they mean nothing."""
    text = envelope["signatures"][0]["sig"]
    assert text.endswith("==")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    envelope["signatures"][0]["sig"] = text[:-3] + alphabet[alphabet.index(text[-3]) ^ 1] + "=="


STATEMENT_CHANGES: dict[str, Callable[[Files], Files]] = {
    "result": in_payload(b'"result": "PASSED"', b'"result": "FAILED"'),
    "verdict": in_payload(b'"verdict": "conformant"', b'"verdict": "Conformant"'),
    "adapter": in_payload(b'"name": "mine"', b'"name": "mind"'),
    "digest of the report": in_payload(DOCUMENT["sha256"].encode(), hashlib.sha256(b"").hexdigest().encode()),
    "a requirement": in_payload(b"llm/LLM-STREAM-1", b"llm/LLM-STREAM-9"),
    "seed": in_payload(b'"seed": ', b'"seed": 1'),
    "white space of the statement": in_payload(b"\n", b"\n "),
    "end of the statement": in_payload(b"}\n", b"}"),
    "payload type": lambda files: resealed(files, lambda each: each.update(payloadType="application/json")),
    "one bit at the beginning of the signature": lambda files: resealed(files, flipped(0)),
    "one bit at the end of the signature": lambda files: resealed(files, flipped(511)),
    "signature of another key": lambda files: resealed(files, signed_by_another),
    "signature of the payload alone": lambda files: resealed(files, signed_without_pae),
    "second signature": lambda files: resealed(files, lambda each: each["signatures"][1].update(sig="AAAA")),
    "no signature": lambda files: resealed(files, lambda each: each.update(signatures=[])),
    "one signature fewer": lambda files: resealed(files, lambda each: each["signatures"].pop()),
    "one signature more": lambda files: resealed(files, lambda each: each["signatures"].append({"keyid": "x"})),
    "key id": lambda files: resealed(files, lambda each: each["signatures"][0].update(keyid="0" * 64)),
    "a member more": lambda files: resealed(files, lambda each: each.update(more=1)),
    "a member fewer": lambda files: resealed(files, lambda each: each.pop("payload")),
    "bits that mean nothing": lambda files: resealed(files, loose_end),
    "white space of the envelope": in_text(b"  ", b" "),
    "a line feed at the end": in_text(b"}\n", b"}", last=True),
    "a key that appears twice": in_text(b'"payloadType"', b'"payloadType": "", "payloadType"'),
    "another spelling of the same text": in_text(b"vnd", b"\\u0076nd"),
    "white space in the base64": in_text(b'"payload": "', b'"payload": " '),
    "the first half": lambda files: {**files, "a.dsse.json": files["a.dsse.json"][:400]},
    "nothing": lambda files: {**files, "a.dsse.json": b""},
    "no UTF-8": in_text(b"keyid", b"key\xffd"),
}
REPORT_CHANGES: dict[str, Callable[[Files], Files]] = {
    "a status": in_report(b'"satisfied"', b'"satisfieD"'),
    "its digest": in_report(DOCUMENT["sha256"][:8].encode(), b"00000000"),
    "its white space": in_report(b"\n", b"\n\n"),
    "its seed, sealed again": in_report(b'"seed": ', b'"seed": 1', seal=True),
    "its time, sealed again": in_report(b"2025-01-01T00:00:00", b"2025-01-01T00:00:01", seal=True),
}
UNSEALED = {f"report: {name}" for name in REPORT_CHANGES if "sealed" not in name}
