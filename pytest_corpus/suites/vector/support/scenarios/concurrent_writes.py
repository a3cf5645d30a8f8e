"""Several clients that concurrently write, read and delete the same two ids (VEC-STATE-2, VEC-STATE-3)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.generation.histories import Event, HistoryStep, Value
from pytest_corpus.kit.store.clients import Clients
from pytest_corpus.kit.store.results import next_cursor
from pytest_corpus.suites.vector.support.answers import id_of, matches_of, metadata_of, vector_of
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.geometry import are_parallel, direction
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox

APART = 5
"""The degrees between the vectors of two writes."""


class VectorClients(Clients):
    """Clients that use two ids. The vector and the metadata of each write contain the number of the write."""

    rounds = (
        "+a ? | +a +b | +ab ? | ? ?",
        "-a ? | +a -b | +b ? | ? ?",
        "+ab | -a -b | +ba ? | ? ?",
        "-ab ? | ? ?",
        "+ab | +a +a | +a +a | ? ?",
        "-a | +b +b | +b ? | ?",
    )

    def __init__(self, vector: Vector, sandbox: VectorSandbox, ids: Mapping[str, str]) -> None:
        super().__init__()
        self.vector, self.sandbox, self.ids = vector, sandbox, ids
        self.written: dict[str, list[float]] = {}

    def _step(self, name: str, writes: Mapping[str, Value], **args: Any) -> HistoryStep:
        return HistoryStep(self.vector.envelope(name, self.sandbox.args(**args)), writes)

    def write(self, names: str) -> HistoryStep:
        number = next(self.numbers)
        vector = self.written[number] = direction(APART * int(number), self.vector.dimensions)
        ids = [self.ids[name] for name in (names[:1] if self.vector.limits.most_in_batch == 1 else names)]
        items = [{"id": each, "vector": vector, "metadata": {"write": number}} for each in ids]
        self.sandbox.note_stored(*items)
        return self._step("upsert", dict.fromkeys(ids, number), vectors=items)

    def delete(self, names: str) -> HistoryStep:
        ids = [self.ids[name] for name in names]
        return self._step("delete", dict.fromkeys(ids), ids=ids)

    @property
    def read_step(self) -> HistoryStep:
        angle, top_k = direction(45, self.vector.dimensions), self.vector.limits.cap_matches(5)
        return self._step("query", {}, vector=angle, top_k=top_k, include_vectors=True)

    def read(self, result: Any) -> Mapping[str, Value]:
        # If more pages follow, an absent id may be on them; so it may if the page has foreign matches.
        ids = [*self.ids.values()]
        of_others = not self.vector.has_namespaces and any(id_of(each) not in ids for each in matches_of(result))
        partly = self.vector.limits.is_approximate or next_cursor(result) or of_others
        found: dict[str, Value] = {} if partly else dict.fromkeys(ids)
        times = Counter(map(id_of, matches_of(result)))
        for match in matches_of(result):
            number, components = str(metadata_of(match).get("write")), vector_of(match).get("vector")
            if id_of(match) in ids and number in self.written:
                seen = [each for each, stored in self.written.items() if are_parallel(components, stored)]
                torn = components and self.vector.dimensions > 1 and number not in seen
                wrong = " with another vector" if torn else " twice" if times[id_of(match)] > 1 else ""
                found[id_of(match)] = f"{number}{wrong}"
            elif id_of(match) in ids:
                found.pop(id_of(match), None)  # without metadata, the write is unknown
        return found


@remembered
def history(vector: Vector) -> dict[str, list[Event]]:
    """Return the history of both ids. Raises NotApplicable if a query finds at most one of them."""
    vector.require("query", "upsert", "delete")
    expect.applicable(vector.limits.cap_matches(2) >= 2, "a query may ask for at most one match")
    ids = {name: vector.new_name("v") for name in "ab"}
    sandbox = vector.sandbox()
    vector.store.note_planned_writes(
        vector.envelope("upsert", sandbox.args(vectors=[{"id": each} for each in ids.values()]))
    )
    vector.shared.actions.note("upsert", {})
    return VectorClients(vector, sandbox, ids).play(vector)
