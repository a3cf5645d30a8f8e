"""Mistakes in how four components of one adapter share a context (COM-CTX-6)."""

from collections.abc import Callable
from typing import Any, ClassVar

from pytest_corpus.reference.embedding.adapter import ReferenceEmbedding
from pytest_corpus.reference.foundation import ReferenceAdapter
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call, Fields
from pytest_corpus.reference.vector.adapter import ReferenceVector

from .. import catches

KINDS: tuple[type[ReferenceAdapter], ...] = (ReferenceLLM, ReferenceVector, ReferenceEmbedding, ReferenceGraph)


class Four(dict[str, ReferenceAdapter]):
    """The reference adapters of all components; `reads` is called with what each reads of a context."""

    component: ClassVar[str] = "vector"

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        super().__init__()
        for kind in KINDS:
            self[kind.component] = watched(kind, self.reads)(metrics=metrics, provider=provider)

    def reads(self, component: str, ctx: Fields) -> None:
        """The other changes of a context."""


def watched(kind: type[ReferenceAdapter], reads: Callable[[str, Fields], None]) -> type[ReferenceAdapter]:
    """A reference adapter that tells what it reads of a context."""

    class Watched(kind):  # type: ignore[misc, valid-type]
        def read_context(self, call: Call, ctx: Fields) -> None:
            super().read_context(call, ctx)
            reads(kind.component, ctx)

    return Watched


@catches("COM-CTX-6", control=Four)
class RequestsAreOfOneComponent(Four):
    """It refuses the id of a request that another component has seen."""

    def __init__(self, metrics: Any = None, provider: Any = None) -> None:
        self.seen: dict[str, str] = {}
        super().__init__(metrics, provider)

    def reads(self, component: str, ctx: Fields) -> None:
        request = ctx.text("request_id")
        if request is not None and self.seen.setdefault(request, component) != component:
            raise ctx.invalid("request_id", "DUPLICATE", "was used before")
