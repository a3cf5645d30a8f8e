"""Contexts of calls: new tenants and new idempotency keys."""

from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary

STEM = "qzkvxwjhtpbzqxkv"
"""The beginning of all tenants and keys: they differ at their ends, where a short form of them does not."""


def new_tenant() -> dict[str, str]:
    """The context of a tenant that no other call names."""
    return {"tenant": f"tenant{STEM}{canary()}"}


def like_tenants() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """The contexts of three tenants: the second differs in letter case, the third in a hyphen, and may be refused."""
    stem = f"tenant{STEM}{canary()}"
    return {"tenant": f"{stem}a"}, {"tenant": f"{stem}A"}, {"tenant": f"{stem}-a"}


def new_key(**more: str) -> dict[str, str]:
    """A context with an idempotency key that no other call has."""
    return {"idempotency_key": f"key{STEM}{canary()}", **more}


def require_tenants(subject: Subject, *, claimed: bool = True) -> None:
    """Go on only if capabilities claim that tenants are kept apart (R25), or only if they do not (R127)."""
    if (subject.capabilities.flag("supports_multi_tenant") is True) is not claimed:
        raise NotApplicable("supports_multi_tenant is not claimed" if claimed else "supports_multi_tenant is claimed")
