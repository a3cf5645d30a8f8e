"""The cost of calls: the tokens that an answer says its own call took."""

from typing import Any

import pytest

from pytest_corpus.adapter.exchange import Exchange, Frame
from pytest_corpus.adapter.usage import Meter


@pytest.mark.parametrize(("op", "frames", "tokens"), [
    ("embedding.embed_batch", [{"ok": True, "result": {"total_tokens": 9}}], 9),
    ("embedding.get_stats", [{"ok": True, "result": {"total_tokens": 9}}], 0),
    ("llm.complete", [{"ok": True, "result": {"usage": {"total_tokens": 7}}}], 7),
    ("llm.stream", [{"chunk": {"usage_so_far": {"total_tokens": 2}}}, {"chunk": {"usage_so_far": None}}], 2),
    ("llm.complete", [{"ok": True, "result": {"usage": {"total_tokens": True}}}], 0),
    ("llm.complete", [{"ok": True, "result": {"usage": {"total_tokens": -1}}}], 0),
    ("llm.complete", [["no", "object"]], 0),
    ("llm.complete", [], 0),
])  # fmt: skip
def test_the_tokens_of_a_call(op: str, frames: list[Any], tokens: int) -> None:
    """The most that one of its frames accounts for; statistics count all calls so far, so they are none."""
    meter = Meter()
    answers = [Frame(body, 1, 0.0) for body in frames]
    meter.note("llm", [Exchange({"op": op}, streaming=False, frames=answers)])
    assert (meter.calls["llm"], meter.tokens["llm"]) == (1, tokens)
