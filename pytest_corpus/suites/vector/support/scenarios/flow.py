"""A flow of one context over all four components (SPECIFICATION A, 11.3; R95)."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import context_with_key
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.kit.requests import canary
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.geometry import is_number
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox
from pytest_corpus.text.values import strings_of

STEPS = {"graph": "query", "llm": "complete", "embedding": "embed"}
"""The other components and their operations, in the order of the flow; the operations on vectors follow."""

MOST_ROWS, MOST_LETTERS = 3, 24
"""The number of values from the graph in the prompt, and the number of letters of each."""

MOST_MATCHES = 10


def shared_context(edition: str | None) -> dict[str, Any]:
    """Return the context of the flow: every documented member, and hints for caches if they are allowed (R134)."""
    hints: dict[str, Any] = {"cache_scope": "tenant", "cache_tags": ["kb"]} if edition != "1.0.0" else {}
    key = {"idempotency_key": f"key{canary()}", "tenant": f"tenant{canary()}"}
    return {**context_with_key(key), "attrs": {"user": f"u-{canary(6)}"}, **hints}


def other_components(vector: Vector) -> dict[str, Subject]:
    """Return the three other components by name.

    Raises:
        NotApplicable: the adapter lacks a component or its operation.
        NotAssessed: an operation does not work.
    """
    found = {}
    for component, name in STEPS.items():
        subject = vector.other_component(component)
        if subject is None:
            raise NotApplicable(f"the adapter is not tested for {component}: the flow needs all four components")
        try:
            subject.require(name)
        except NotApplicable:
            raise
        except Undecided as obstacle:
            raise NotAssessed(Obstacle.NOT_RELIED_ON, op=f"{component}.{name}", reason=obstacle.reason) from None
        found[component] = subject
    return found


def take_step(subject: Subject, name: str, args: Mapping[str, Any], ctx: Mapping[str, Any]) -> Any:
    """Carry out one step in the shared context and return the result.

    Raises:
        Violation: the step works, but not in this context.
        NotAssessed: the step never works.
    """
    reply = subject.invoke(name, args, ctx)
    expect.readable(reply)
    if not reply.is_error:
        return expect.success(reply)  # type: ignore[arg-type]
    alone = subject.invoke(name, args, {"tenant": ctx["tenant"]})
    if alone.is_error:
        raise NotAssessed(Obstacle.NOT_ALONE_EITHER, op=f"{subject.component}.{name}", reply=alone)
    raise Violation(
        f"{subject.component}.{name} to be carried out in the context that all components share", f"{reply}"
    )


def embed_flow(vector: Vector, ctx: Mapping[str, Any]) -> list[float]:
    """Return the vector of a flow: the LLM completes a prompt with records of the graph, and the answer is embedded."""
    subjects = other_components(vector)
    rows = strings_of(take_step(subjects["graph"], "query", subjects["graph"].requests.minimal("query"), ctx))
    prompt = subjects["llm"].requests.distinct("complete")
    window = subjects["llm"].capabilities.limit("max_context_length")
    if window is None or window >= 256:
        said = " ".join([*(row[:MOST_LETTERS] for row in [*rows][:MOST_ROWS])])
        prompt = {**prompt, "messages": [{"role": "user", "content": f"{prompt['messages'][0]['content']} {said}"}]}
    completed = take_step(subjects["llm"], "complete", prompt, ctx)
    text = completed.get("text") if isinstance(completed, Mapping) else None
    if not isinstance(text, str) or not text.strip():
        raise NotApplicable("the completion holds no text to embed")
    text = text[: subjects["embedding"].capabilities.limit("max_text_length")]
    done = take_step(
        subjects["embedding"], "embed", {**subjects["embedding"].requests.minimal("embed"), "text": text}, ctx
    )
    found = done.get("embedding") if isinstance(done, Mapping) else None
    numbers = found.get("vector") if isinstance(found, Mapping) else None
    if not isinstance(numbers, list) or not all(map(is_number, numbers)) or not any(numbers):
        raise NotAssessed(Obstacle.NOT_EMBEDDED)
    return numbers


def make_sandbox(vector: Vector, dimensions: int, tenant: str) -> VectorSandbox:
    """Return a namespace for a tenant's vectors of these dimensions. Raises NotApplicable if it is refused."""
    fixed, most = vector.limits.fixed_dimensions, vector.capabilities.limit("max_dimensions")
    if (fixed or dimensions) != dimensions or dimensions > (most or dimensions):
        raise NotApplicable(
            f"the embedding component makes vectors of {dimensions} dimensions, which the store does not take"
        )
    if not vector.has_namespaces and vector.dimensions != dimensions:
        raise NotApplicable("the only namespace has other dimensions than the embedding component")
    return vector.sandbox(tenant=tenant, dimensions=dimensions)
