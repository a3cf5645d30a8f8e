"""Mistakes that graph/test_capabilities_shape.py finds (COM-CAP, GRA-CAP)."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.request import Call

from .. import catches
from .shared import Result


@catches("GRA-CAP-1")
class BatchOperationsNotListed(ReferenceGraph):
    """It does not say which operations a batch may hold."""

    async def capabilities(self, call: Call) -> Result:
        return {**await super().capabilities(call), "extensions": {"reference:deterministic": True}}


@catches("COM-CAP-6")
class TraversalIsClaimedOnly(ReferenceGraph):
    """It claims traversals and does not offer them."""

    async def traversal(self, call: Call) -> Result:
        raise AdapterError("NotSupported", "Traversals are not offered")


@catches("COM-CAP-6")
class SchemaIsClaimedOnly(ReferenceGraph):
    """It claims schema operations, and has none to read the schema with."""

    async def get_schema(self, call: Call) -> Result:
        raise AdapterError("Unavailable", "The schema cannot be read")


class Modest(ReferenceGraph):
    """A legal variant that offers neither batches nor transactions nor traversals."""

    features: Mapping[str, bool] = {
        **ReferenceGraph.features,
        "supports_batch": False,
        "supports_txn": False,
        "supports_traversal": False,
    }


@catches("COM-CAP-7", control=Modest)
class DeniedIsABadRequest(Modest):
    """It calls a traversal that it does not offer a bad request."""

    def require(self, feature: str) -> None:
        if feature == "supports_traversal":
            raise AdapterError("BadRequest", "Traversals are not offered")
        super().require(feature)


@catches("COM-CAP-7", control=Modest)
class DeniedIsDown(Modest):
    """It takes an operation that it does not offer for an outage."""

    def require(self, feature: str) -> None:
        if feature == "supports_txn":
            raise AdapterError("Unavailable", "Transactions are not offered")
        super().require(feature)


@catches("GRA-CAP-2")
class SizeOfBatchesIsNotTold(ReferenceGraph):
    """It does not say how many operations a batch may hold."""

    async def capabilities(self, call: Call) -> Result:
        facts = await super().capabilities(call)
        del facts["limits"]["max_batch_ops"]
        return facts
