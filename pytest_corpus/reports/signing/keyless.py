"""Statements that are signed by the identity of a CI job instead of a key (https://docs.sigstore.dev).

The identity is in a certificate that is valid for minutes. A public log proves that the signature was made within
that time. A bundle contains the certificate and the proof, so it can be checked without network.
"""

from __future__ import annotations

from pytest_corpus.reports.signing.dsse import PAYLOAD_TYPE, EnvelopeError

SUFFIX = ".sigstore.json"  # the suffix of a bundle's file name
ISSUERS = {
    "https://github.com/": "https://token.actions.githubusercontent.com",
    "https://gitlab.com/": "https://gitlab.com",
}
"""The issuer of certificates for identities that begin with an address."""


def sign_payload(payload: bytes) -> str:
    """Sign a statement with the identity of this CI job, and return the bundle as text. Signing needs the network.

    Raises:
        EnvelopeError: this process has no identity, or a service of Sigstore refuses it.
    """
    from sigstore.dsse import Statement
    from sigstore.errors import Error
    from sigstore.models import ClientTrustConfig
    from sigstore.oidc import IdentityError, IdentityToken, detect_credential
    from sigstore.sign import SigningContext

    try:
        token = detect_credential()
    except IdentityError:
        token = None
    if token is None:
        raise EnvelopeError(
            "cannot be signed, because this process has no identity: a job of GitHub needs the permission "
            "`id-token: write`, one of GitLab `id_tokens` with the audience sigstore in SIGSTORE_ID_TOKEN"
        )
    try:
        with SigningContext.from_trust_config(ClientTrustConfig.production()).signer(IdentityToken(token)) as signer:
            return str(signer.sign_dsse(Statement(payload)).to_json())
    except (Error, IdentityError, OSError) as error:
        raise EnvelopeError(f"could not be signed by the identity of this job: {_first_line(error)}") from None


def open_bundle(data: bytes, identity: str, issuer: str) -> bytes:
    """Return the statement in a bundle, byte for byte, after checking its identity. The check needs no network.

    Raises:
        EnvelopeError: the bundle, its signature or the identity is not valid.
    """
    from sigstore.errors import Error, VerificationError
    from sigstore.models import Bundle, InvalidBundle
    from sigstore.verify import Verifier
    from sigstore.verify.policy import Identity

    try:
        bundle = Bundle.from_json(data)
    except (InvalidBundle, ValueError) as error:
        raise EnvelopeError(f"is not a Sigstore bundle: {_first_line(error)}") from None
    try:
        policy = Identity(identity=identity, issuer=issuer)
        kind, payload = Verifier.production(offline=True).verify_dsse(bundle, policy)
    except (VerificationError, Error) as error:
        raise EnvelopeError(f"is not signed by {identity}: {_first_line(error)}") from None
    if kind != PAYLOAD_TYPE:
        raise EnvelopeError(f"does not hold an in-toto statement: its payloadType is not {PAYLOAD_TYPE}")
    return bytes(payload)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
