"""Signed in-toto statements: DSSE envelopes, version 1, with an Ed25519 signature; and the reader of keys (PEM)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pytest_corpus.text import bounded
from pytest_corpus.validation.schema.evidence import first_flaw

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
SUFFIX = ".dsse.json"  # the suffix of an envelope's file name


class EnvelopeError(Exception):
    """An envelope that is refused. The message is the end of a sentence that begins with the file's name."""


def bytes_to_sign(payload: bytes) -> bytes:
    """Return the bytes that are signed: type and payload, each after its length in bytes (DSSE, "PAE")."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def key_id(key: Ed25519PublicKey) -> str:
    """Return the id of a key: the SHA-256 of its canonical JSON description, as securesystemslib computes it."""
    described = {"keytype": "ed25519", "keyval": {"public": key.public_bytes_raw().hex()}, "scheme": "ed25519"}
    return hashlib.sha256(json.dumps(described, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sign_payload(payload: bytes, key: Ed25519PrivateKey) -> str:
    """Sign a payload and return the envelope as text."""
    return _envelope_text(payload, key.sign(bytes_to_sign(payload)), key_id(key.public_key()))


def is_envelope(name: str, data: bytes) -> bool:
    """True if a file is probably an envelope, by its name or its content."""
    return name.endswith(SUFFIX) or b'"payloadType"' in data


def open_envelope(data: bytes, key: Ed25519PublicKey) -> bytes:
    """Return the payload of an envelope, byte for byte, after checking its signature with a key.

    Raises:
        EnvelopeError: the envelope or its signature is not valid.
    """
    from cryptography.exceptions import InvalidSignature

    envelope = _parse_envelope(data)
    if envelope["payloadType"] != PAYLOAD_TYPE:
        raise EnvelopeError(f"does not hold an in-toto statement: its payloadType is not {PAYLOAD_TYPE}")
    payload = _decode(envelope["payload"], "its payload")
    own, signatures = key_id(key), envelope["signatures"]
    ids = [each.get("keyid") for each in signatures]
    if own not in ids:
        others = [each for each in ids if isinstance(each, str) and each.isalnum() and len(each) == len(own)]
        said = f"the one with the id {others[0]}" if others else "an unknown one"
        raise EnvelopeError(f"was signed with another key: {said}, not the one with the id {own}")
    signature = _decode(signatures[ids.index(own)].get("sig"), "its signature")
    try:
        key.verify(signature, bytes_to_sign(payload))
    except InvalidSignature:
        raise EnvelopeError("was changed after it was signed, or its signature was: they do not match") from None
    if data != _envelope_text(payload, signature, own).encode():
        raise EnvelopeError("was changed around what is signed: it is not as `pytest-corpus report sign` wrote it")
    return payload


def _envelope_text(payload: bytes, signature: bytes, own: str) -> str:
    sig = base64.b64encode(signature).decode()
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": own, "sig": sig}, {"keyid": "", "sig": sig}],
    }
    return json.dumps(envelope, indent=2) + "\n"


def _parse_envelope(data: bytes) -> dict[str, Any]:
    try:
        found: dict[str, Any] = bounded.parse_value(data)
    except ValueError:
        raise EnvelopeError("is not JSON in UTF-8, so it is not a signed statement") from None
    if said := first_flaw("report/envelope", found):
        raise EnvelopeError(
            f"is not a DSSE envelope, which has the members payload, payloadType and signatures: {said}"
        )
    return found


def _decode(text: object, what: str) -> bytes:
    try:
        return base64.b64decode(text if isinstance(text, str) else "?", validate=True)
    except (binascii.Error, ValueError):
        raise EnvelopeError(f"was changed after it was signed: {what} is not base64") from None


NEW_KEY = "openssl genpkey -algorithm ed25519 -out key.pem"
PUBLIC_PART = "openssl pkey -in key.pem -pubout -out pub.pem"
DECRYPTED = "openssl pkey -in key.pem | pytest-corpus report sign attestation.json --key -"

LARGEST = 64 * 2**10  # the size limit of a key file, in bytes
_BEGIN = re.compile(rb"-----BEGIN ([A-Z0-9 ]{1,40})-----")
_OTHER_PRIVATE = {
    "ENCRYPTED PRIVATE KEY": f"is encrypted; hand it over decrypted, without a file: {DECRYPTED}",
    "ENCRYPTED SIGSTORE PRIVATE KEY": f"is a key of cosign, which only cosign can decrypt; make another: {NEW_KEY}",
    "ENCRYPTED COSIGN PRIVATE KEY": f"is a key of cosign, which only cosign can decrypt; make another: {NEW_KEY}",
    "OPENSSH PRIVATE KEY": f"is a key of OpenSSH; one in PKCS #8 is needed: {NEW_KEY}",
    "RSA PRIVATE KEY": f"is an RSA key; an Ed25519 key is needed: {NEW_KEY}",
    "EC PRIVATE KEY": f"is a key of an elliptic curve that is not Ed25519, which is needed: {NEW_KEY}",
    "DSA PRIVATE KEY": f"is a DSA key; an Ed25519 key is needed: {NEW_KEY}",
}
_NO_KEYS = {"CERTIFICATE": "holds a certificate, not a key", "EC PARAMETERS": "holds parameters, not a key"}


class KeyFileError(Exception):
    """A file without a usable key. The message is the end of a sentence that begins with the file's name."""


def read_private_key(data: bytes) -> Ed25519PrivateKey:
    """Return the private key in a PEM file.

    Raises:
        KeyFileError: the file contains no key, or the key is encrypted or has another type.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    label = _pem_label(data, other="PUBLIC KEY", said="holds a public key; signing needs the private one")
    if label != "PRIVATE KEY":
        raise KeyFileError(_OTHER_PRIVATE.get(label) or _NO_KEYS.get(label) or f"holds no private key: {NEW_KEY}")
    key: Ed25519PrivateKey = _load_key(
        lambda: load_pem_private_key(data, password=None), Ed25519PrivateKey, f": {NEW_KEY}"
    )
    return key


def read_public_key(data: bytes) -> Ed25519PublicKey:
    """Return the public key in a PEM file. Raises KeyFileError if it contains no key, or a key of another type."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    said = f"holds a private key, which must stay with its owner; give the public one: {PUBLIC_PART}"
    label = _pem_label(data, other="PRIVATE KEY", said=said)
    if label != "PUBLIC KEY":
        raise KeyFileError(_NO_KEYS.get(label) or f"holds no public key in SubjectPublicKeyInfo: {PUBLIC_PART}")
    key: Ed25519PublicKey = _load_key(lambda: load_pem_public_key(data), Ed25519PublicKey)
    return key


def _load_key(load: Callable[[], object], kind: Any, advice: str = "") -> Any:
    try:
        key = load()
    except Exception:  # noqa: BLE001  # the text of the exception may contain the key
        raise KeyFileError("is damaged: its PEM block holds no key that can be read") from None
    if not isinstance(key, kind):
        name = re.sub(r"(Private|Public)Key$", "", type(key).__name__.lstrip("_"))
        said = _KINDS.get(name, f"a key of the kind {name}")
        raise KeyFileError(f"is {said}; an Ed25519 key is needed{advice}")
    return key


def _pem_label(data: bytes, other: str, said: str) -> str:
    """Return the label of the only PEM block. If this label ends with `other`, raise KeyFileError(`said`)."""
    if not data.strip():
        raise KeyFileError("is empty")
    if len(data) > LARGEST:
        raise KeyFileError(f"is larger than any key ({LARGEST // 2**10} KiB)")
    found = _BEGIN.findall(data)
    if not found:
        raise KeyFileError("is not a key in PEM: it has no line -----BEGIN ...-----")
    if len(found) > 1:
        raise KeyFileError(f"holds {len(found)} PEM blocks; it must hold one key and nothing else")
    label: str = found[0].decode("ascii")
    if label.endswith(other):
        raise KeyFileError(said)
    return label


_KINDS = {"RSA": "an RSA key", "EC": "an ECDSA key", "EllipticCurve": "an ECDSA key", "DSA": "a DSA key"}
