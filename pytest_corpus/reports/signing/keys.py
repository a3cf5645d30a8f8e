"""Ed25519 keys in PEM: private ones as PKCS #8, public ones as SubjectPublicKeyInfo, as OpenSSL writes both.

No message holds anything of a key's file but the label of its PEM block.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

NEW_KEY = "openssl genpkey -algorithm ed25519 -out key.pem"
PUBLIC_PART = "openssl pkey -in key.pem -pubout -out pub.pem"
DECRYPTED = "openssl pkey -in key.pem | pytest-corpus report sign attestation.json --key -"

LARGEST = 64 * 2**10  # no file with a key is larger, in bytes
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
    """A file without a usable key; the message continues a sentence that begins with its name."""


def private(data: bytes) -> Ed25519PrivateKey:
    """The private key in a PEM file.

    Raises:
        KeyFileError: the file has no key, or the key is encrypted or of another kind.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    label = _label(data, other="PUBLIC KEY", said="holds a public key; signing needs the private one")
    if label != "PRIVATE KEY":
        raise KeyFileError(_OTHER_PRIVATE.get(label) or _NO_KEYS.get(label) or f"holds no private key: {NEW_KEY}")
    key: Ed25519PrivateKey = _loaded(
        lambda: load_pem_private_key(data, password=None), Ed25519PrivateKey, f": {NEW_KEY}"
    )
    return key


def public(data: bytes) -> Ed25519PublicKey:
    """The public key in a PEM file. Raises KeyFileError if the file has no key, or one of another kind."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    said = f"holds a private key, which must stay with its owner; give the public one: {PUBLIC_PART}"
    label = _label(data, other="PRIVATE KEY", said=said)
    if label != "PUBLIC KEY":
        raise KeyFileError(_NO_KEYS.get(label) or f"holds no public key in SubjectPublicKeyInfo: {PUBLIC_PART}")
    key: Ed25519PublicKey = _loaded(lambda: load_pem_public_key(data), Ed25519PublicKey)
    return key


def _loaded(load: Callable[[], object], kind: Any, advice: str = "") -> Any:
    try:
        key = load()
    except Exception:  # noqa: BLE001  # whatever it is, its text may quote the key
        raise KeyFileError("is damaged: its PEM block holds no key that can be read") from None
    if not isinstance(key, kind):
        name = re.sub(r"(Private|Public)Key$", "", type(key).__name__.lstrip("_"))
        said = _KINDS.get(name, f"a key of the kind {name}")
        raise KeyFileError(f"is {said}; an Ed25519 key is needed{advice}")
    return key


def _label(data: bytes, other: str, said: str) -> str:
    """The label of the only PEM block, which must not be of the other half of a key."""
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
