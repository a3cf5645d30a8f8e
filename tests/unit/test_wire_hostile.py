"""Any envelope raises the documented errors alone, and shows nothing of its content."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_requests import COMPLETE, complete

from pytest_corpus import wire
from pytest_corpus.spec.operations import BY_OP


class Hostile:
    """Raises whatever is asked of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")

    def __hash__(self) -> int:
        return hash("op")

    def __repr__(self) -> str:
        raise RuntimeError("secret")

    @property
    def __class__(self) -> Any:
        raise RuntimeError("secret")


class HostileDict(dict):  # type: ignore[type-arg]
    """A dict that cannot be read."""

    def __iter__(self) -> Any:
        raise RuntimeError("secret")

    items = keys = values = get = __getitem__ = __len__ = __contains__ = __iter__  # type: ignore[assignment]


class HostileText(str):
    __slots__ = ()

    def encode(self, *_: Any) -> Any:
        raise RuntimeError("secret")

    __eq__ = __ne__ = __hash__ = encode  # type: ignore[assignment]


HOSTILE = {
    "object": Hostile,
    "dict": lambda: HostileDict(op="llm.complete", ctx={}, args={}),
    "text": lambda: HostileText("a secret"),
}
"""Objects that raise where they are touched, each made anew: pytest touches its parameters."""
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.text(st.characters(categories=["Cs"])),
    st.binary(), st.decimals(), st.datetimes(), st.complex_numbers(), st.just(object),
    *map(st.builds, HOSTILE.values()), st.sampled_from([{1}, frozenset(), range(3), ..., len]),
)  # fmt: skip
KEYS = st.one_of(
    st.sampled_from(["op", "ctx", "args", "messages", "role", "deadline_ms", "attrs", "vector", "temperature", "text"]),
    st.text(max_size=5),
    st.integers(),
    st.none(),
    st.tuples(st.integers()),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)
ENVELOPES = st.one_of(
    ANYTHING,
    st.fixed_dictionaries(
        {"op": st.sampled_from(list(BY_OP)), "ctx": ANYTHING, "args": ANYTHING}, optional={"more": ANYTHING}
    ),
    st.fixed_dictionaries(
        {"op": st.sampled_from(list(BY_OP)), "ctx": st.just({}), "args": st.dictionaries(KEYS, ANYTHING)}
    ),
)


@given(envelope=ENVELOPES, op=st.sampled_from(list(BY_OP)))
def test_nothing_but_the_documented_errors_is_raised(envelope: Any, op: str) -> None:
    """Any envelope passes, or a `WireValidationError` with a documented code says why not."""
    named = envelope.get("op") if type(envelope) is dict else None
    case = wire.case_of(named if isinstance(named, str) and named in BY_OP else op)
    try:
        wire.validate_case(case, envelope)
    except wire.WireValidationError as error:
        refused: wire.WireValidationError | None = error
    else:
        refused = None
    if refused is not None:
        assert refused.code in wire.PROTOCOL_ERROR_CODES
        assert str(refused).startswith(f"{case.id}: ")
        assert "secret" not in str(refused)
    else:
        assert json.loads(json.dumps(envelope))["op"] == case.op


SECRET = "sk-live-4f9a0c7b2d51 The patient's name is Doe"


@pytest.mark.parametrize("place", ["op", "ctx.tenant", "ctx.request_id", "args.messages", "args.temperature", "top"])
def test_no_content_is_told(place: str) -> None:
    """A text that stands where it does not belong is not repeated."""
    envelope: dict[str, Any] = complete()
    head, _, tail = place.partition(".")
    if tail:
        envelope[head] = {**envelope[head], tail: SECRET * 10}
    else:
        envelope = SECRET if place == "top" else {**envelope, place: SECRET}  # type: ignore[assignment]
    with pytest.raises(wire.WireValidationError) as refused:
        wire.validate_case(COMPLETE, envelope)
    assert "Doe" not in str(refused.value)
    assert "sk-live" not in str(refused.value)
