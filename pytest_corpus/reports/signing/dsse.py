"""A signed in-toto statement: a DSSE envelope, version 1, with an Ed25519 signature.

https://github.com/secure-systems-lab/dsse describes the envelope and what is signed (its PAE). The signature is in it
twice: with the key's id of securesystemslib, which in-toto looks for, and without an id, for cosign and others that
have their own id for the same key.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
SUFFIX = ".dsse.json"  # the suffix of an envelope's file name
_MEMBERS = {"payload", "payloadType", "signatures"}


class EnvelopeError(Exception):
    """An envelope that is refused; the message continues a sentence that begins with its name."""


def pae(payload: bytes) -> bytes:
    """The bytes to sign: type and payload, each after its length in bytes (DSSE, "PAE")."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def keyid(key: Ed25519PublicKey) -> str:
    """The id of a key: the SHA-256 of its description as canonical JSON, as securesystemslib makes it."""
    described = {"keytype": "ed25519", "keyval": {"public": key.public_bytes_raw().hex()}, "scheme": "ed25519"}
    return hashlib.sha256(json.dumps(described, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def sealed(payload: bytes, key: Ed25519PrivateKey) -> str:
    """The envelope of a payload, as text."""
    return _text(payload, key.sign(pae(payload)), keyid(key.public_key()))


def is_envelope(name: str, data: bytes) -> bool:
    """True if a file is meant as an envelope, by its name or its content."""
    return name.endswith(SUFFIX) or b'"payloadType"' in data


def opened(data: bytes, key: Ed25519PublicKey) -> bytes:
    """The payload of an envelope whose signature matches a key, byte for byte.

    Raises:
        EnvelopeError: it is anything else.
    """
    from cryptography.exceptions import InvalidSignature

    envelope = _envelope(data)
    if envelope["payloadType"] != PAYLOAD_TYPE:
        raise EnvelopeError(f"does not hold an in-toto statement: its payloadType is not {PAYLOAD_TYPE}")
    payload = _decoded(envelope["payload"], "its payload")
    own, signatures = keyid(key), envelope["signatures"]
    ids = [each.get("keyid") for each in signatures]
    if own not in ids:
        others = [each for each in ids if isinstance(each, str) and each.isalnum() and len(each) == len(own)]
        said = f"the one with the id {others[0]}" if others else "an unknown one"
        raise EnvelopeError(f"was signed with another key: {said}, not the one with the id {own}")
    signature = _decoded(signatures[ids.index(own)].get("sig"), "its signature")
    try:
        key.verify(signature, pae(payload))
    except InvalidSignature:
        raise EnvelopeError("was changed after it was signed, or its signature was: they do not match") from None
    if data != _text(payload, signature, own).encode():
        raise EnvelopeError("was changed around what is signed: it is not as `pytest-corpus report sign` wrote it")
    return payload


def _text(payload: bytes, signature: bytes, own: str) -> str:
    sig = base64.b64encode(signature).decode()
    envelope = {
        "payload": base64.b64encode(payload).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": own, "sig": sig}, {"keyid": "", "sig": sig}],
    }
    return json.dumps(envelope, indent=2) + "\n"


def _envelope(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise EnvelopeError("is not JSON in UTF-8, so it is not a signed statement") from None
    if not isinstance(found, dict) or set(found) != _MEMBERS:
        raise EnvelopeError("is not a DSSE envelope, which has the members payload, payloadType and signatures")
    signatures = found["signatures"]
    if not isinstance(signatures, list) or not signatures or not all(isinstance(each, dict) for each in signatures):
        raise EnvelopeError("has no list of signatures")
    return found


def _decoded(text: object, what: str) -> bytes:
    try:
        return base64.b64decode(text if isinstance(text, str) else "?", validate=True)
    except (binascii.Error, ValueError):
        raise EnvelopeError(f"was changed after it was signed: {what} is not base64") from None
