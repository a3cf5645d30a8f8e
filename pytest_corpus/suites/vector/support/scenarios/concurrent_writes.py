"""Several clients that write, read and delete the same two ids at once (VEC-STATE-2, VEC-STATE-3)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.generation.histories import Event, HistoryStep, Value, play
from pytest_corpus.suites.vector.support.answers import id_of, matches_of, metadata_of, vector_of
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.geometry import direction, parallel
from pytest_corpus.suites.vector.support.pages import token_of
from pytest_corpus.suites.vector.support.sandbox import Sandbox
from pytest_corpus.suites.vector.support.store import PERHAPS

APART = 5
"""The degrees between the vectors of two writes."""


class Clients:
    """The requests of the clients: each write has a number, which its vector and its metadata tell."""

    def __init__(self, vector: Vector, sandbox: Sandbox, ids: Sequence[str]) -> None:
        self.vector, self.sandbox, self.ids, self.numbers = vector, sandbox, ids, count(1)
        self.written: dict[str, list[float]] = {}

    def step(self, name: str, **args: Any) -> HistoryStep:
        return HistoryStep(self.vector.envelope(name, self.sandbox.args(**args)))

    @property
    def query(self) -> HistoryStep:
        """Read both ids."""
        angle = direction(45, self.vector.dimensions)
        return self.step("query", vector=angle, top_k=self.vector.limits.at_most(5), include_vectors=True)

    def write(self, *keys: int) -> HistoryStep:
        """Write one or both ids in one upsert."""
        if self.vector.limits.batch == 1:
            keys = keys[:1]
        number, items = str(next(self.numbers)), []
        self.written[number] = direction(APART * int(number), self.vector.dimensions)
        for key in keys:
            items.append({"id": self.ids[key], "vector": self.written[number], "metadata": {"write": number}})
        self.sandbox.know(*items)
        request = self.step("upsert", vectors=items).request
        return HistoryStep(request, {self.ids[key]: number for key in keys})

    def delete(self, *keys: int) -> HistoryStep:
        """Delete one or both ids."""
        ids = [self.ids[key] for key in keys]
        return HistoryStep(self.step("delete", ids=ids).request, dict.fromkeys(ids))

    def rounds(self) -> Iterator[tuple[list[list[HistoryStep]], HistoryStep]]:
        """The concurrent writes of the clients, and the read after them."""
        a, b, query = 0, 1, self.query
        yield [[self.write(a), query], [self.write(a), self.write(b)], [self.write(a, b), query], [query, query]], query
        yield [[self.delete(a), query], [self.write(a), self.delete(b)], [self.write(b), query], [query, query]], query
        yield [[self.write(a, b)], [self.delete(a), self.delete(b)], [self.write(b, a), query], [query, query]], query
        yield [[self.delete(a, b), query], [query, query]], query
        others = [[self.write(a), self.write(a)] for _ in range(2)]
        yield [[self.write(a, b)], *others, [query, query]], query
        yield [[self.delete(a)], [self.write(b), self.write(b)], [self.write(b), query], [query]], query

    def read(self, result: Any) -> Mapping[str, Value]:
        """The numbers of the writes that a query saw, and what is wrong with a record; None: nothing.

        A page that is not the last tells nothing of an id that it does not show, nor do matches of others.
        """
        of_others = not self.vector.namespaces and any(id_of(each) not in self.ids for each in matches_of(result))
        partly = self.vector.limits.approximate or token_of(result) or of_others
        found: dict[str, Value] = {} if partly else dict.fromkeys(self.ids)
        times = Counter(map(id_of, matches_of(result)))
        for match in matches_of(result):
            number, components = str(metadata_of(match).get("write")), vector_of(match).get("vector")
            if id_of(match) in self.ids and number in self.written:
                seen = [each for each, stored in self.written.items() if parallel(components, stored)]
                torn = components and self.vector.dimensions > 1 and number not in seen
                wrong = " with another vector" if torn else " twice" if times[id_of(match)] > 1 else ""
                found[id_of(match)] = f"{number}{wrong}"
            elif id_of(match) in self.ids:
                found.pop(id_of(match), None)  # without metadata it is not known which write it shows
        return found


@remembered
def history(vector: Vector) -> dict[str, list[Event]]:
    """The history of both ids. Raises NotApplicable if a query finds one of them at most."""
    vector.require("query", "upsert", "delete")
    expect.applicable(vector.limits.at_most(2) >= 2, "one match at most can be asked for")
    ids = [vector.name("concurrent") for _ in range(2)]
    sandbox = vector.sandbox()
    vector.store.foresee(vector.envelope("upsert", sandbox.args(vectors=[{"id": name} for name in ids])))
    clients = Clients(vector, sandbox, ids)
    vector.shared.actions.note("upsert", {})
    return play(vector, clients.rounds(), clients.read, PERHAPS)
