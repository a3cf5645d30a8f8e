"""Mistakes that every bad request meets, in each component: one root cause is one finding."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.embedding_adapter import ReferenceEmbedding
from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.graph_adapter import ReferenceGraph
from pytest_corpus.reference.llm_adapter import ReferenceLLM
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.vector_adapter import ReferenceVector

from . import catches


class Misnaming(ReferenceAdapter):
    """Answers every bad request with UNAVAILABLE."""

    def failure(self, call: Call, fault: Exception) -> dict[str, Any]:
        if isinstance(fault, AdapterError) and fault.kind.family == "BadRequest":
            fault = AdapterError("Unavailable", "The service is temporarily unavailable")
        return super().failure(call, fault)


@catches("COM-WIRE-7")
class MisnamingLLM(Misnaming, ReferenceLLM):
    """It answers every bad request with UNAVAILABLE."""


@catches("COM-WIRE-7")
class MisnamingVector(Misnaming, ReferenceVector):
    """It answers every bad request with UNAVAILABLE."""


@catches("COM-WIRE-7")
class MisnamingEmbedding(Misnaming, ReferenceEmbedding):
    """It answers every bad request with UNAVAILABLE."""


@catches("COM-WIRE-7")
class MisnamingGraph(Misnaming, ReferenceGraph):
    """It answers every bad request with UNAVAILABLE."""
