"""Contexts with new tenants and new idempotency keys."""

from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.kit.requests import canary
from pytest_corpus.kit.vocabulary import ALIKE, INJECTIONS, SIMILAR, WORDS, choose, fill_in
from pytest_corpus.kit.vocabulary import STEM as STEM_OF_WORDS
from pytest_corpus.spec.errors import PERMANENT

STEM = "qzkvxwjhtpbzqxkv"
"""The common beginning of tenants and keys, which an adapter that shortens them would confuse."""


def new_tenant_context() -> dict[str, str]:
    """Return the context of a tenant that no other call names."""
    return {"tenant": f"tenant{STEM}{canary()}"}


def new_key_context(**more: str) -> dict[str, str]:
    """Return a context with an idempotency key that no other call has."""
    return {"idempotency_key": f"key{STEM}{canary()}", **more}


def unusual_key_context(**more: str) -> dict[str, str]:
    """Return a context with a new idempotency key that contains an unusual word (R138)."""
    [word] = fill_in(choose({**INJECTIONS, **WORDS}, 1), new_key_context()["idempotency_key"]).values()
    return {"idempotency_key": word, **more}


def similar_key_contexts() -> list[dict[str, str]]:
    """Return contexts with similar new keys (R139), which differ in letter case, a sign or a blank."""
    stem = new_key_context()["idempotency_key"]
    return [{"idempotency_key": f"{stem}{end}"} for end in ("A_b", "a-b", "a_b ", "a_b")]


def similar_tenant_contexts(subject: Subject, number: int = 0) -> list[dict[str, str]]:
    """Return the contexts of two new tenants. Their names are similar, or plain if the adapter refuses similar names.

    Args:
        number: the index of the pair of kinds in `ALIKE`; after the last pair, the first one follows.
    """
    kinds = ALIKE[number % len(ALIKE)]

    def contexts_for(stem: str) -> list[dict[str, str]]:
        return [{"tenant": SIMILAR.get(kind, f"{STEM_OF_WORDS}a").replace(STEM_OF_WORDS, stem)} for kind in kinds]

    def are_taken() -> bool:
        replies = [subject.invoke(subject.principal, ctx=ctx) for ctx in contexts_for(new_tenant_context()["tenant"])]
        return not any(reply.is_a(*PERMANENT) for reply in replies)

    if cached(subject, ("tenants alike", kinds), are_taken):
        return contexts_for(new_tenant_context()["tenant"])
    return [new_tenant_context(), new_tenant_context()]


def require_tenants(subject: Subject, *, claimed: bool = True) -> None:
    """Check that capabilities claim to isolate tenants (R25); with `claimed` false, check the opposite (R127)."""
    if (subject.capabilities.flag("supports_multi_tenant") is True) is not claimed:
        raise NotApplicable("supports_multi_tenant is not claimed" if claimed else "supports_multi_tenant is claimed")
