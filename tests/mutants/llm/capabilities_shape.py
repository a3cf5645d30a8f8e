"""Mistakes that llm/test_capabilities_shape.py finds (LLM-CAP)."""

from __future__ import annotations

from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Result


@catches("LLM-CAP-1")
class NoContextLength(ReferenceLLM):
    """It does not state how long a prompt may be."""

    async def capabilities(self, call: Call) -> Result:
        facts = await super().capabilities(call)
        models = [{"name": model["name"]} for model in facts["models"]]
        return {**facts, "models": models, "limits": {}}


@catches("LLM-CAP-1")
class NoModels(ReferenceLLM):
    """It does not list its models."""

    async def capabilities(self, call: Call) -> Result:
        facts = await super().capabilities(call)
        del facts["models"]
        return facts


@catches("LLM-CAP-2")
class TemperatureUpToFive(ReferenceLLM):
    """It states a range of temperatures beyond the protocol's."""

    async def capabilities(self, call: Call) -> Result:
        facts = await super().capabilities(call)
        return {**facts, "sampling": {**facts["sampling"], "temperature_range": [0, 5]}}
