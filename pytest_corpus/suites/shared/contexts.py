"""Contexts of calls: new tenants and new idempotency keys."""

from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary


def new_tenant() -> dict[str, str]:
    """The context of a tenant that no other call names."""
    return {"tenant": f"tenant-{canary()}"}


def new_key(**more: str) -> dict[str, str]:
    """A context with an idempotency key that no other call has."""
    return {"idempotency_key": f"key-{canary()}", **more}


def require_tenants(subject: Subject) -> None:
    """Go on only if capabilities claim that tenants are kept apart (R25).

    Raises:
        NotApplicable: they do not.
    """
    if subject.capabilities.flag("supports_multi_tenant") is not True:
        raise NotApplicable("supports_multi_tenant is not claimed")
