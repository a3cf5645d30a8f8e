"""A machine that writes, deletes and queries at random, with a model of the expected content (VEC-STATE-1)."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from random import Random
from typing import Any, NoReturn

from pytest_corpus.kit import expect
from pytest_corpus.kit.generation.stateful import Rule, Step, Trial
from pytest_corpus.kit.outcomes import Blocked, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.suites.vector.support import pages
from pytest_corpus.suites.vector.support.answers import id_of, matches_of, results_of
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.geometry import GOODNESS, TOLERANCE, canonical_metric, direction, is_near
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox
from pytest_corpus.suites.vector.support.scenarios.checks import has_metadata

IDS, MOST_IN_BATCH = 2, 2

UPSERTS = 6
"""Upserts are this many times as frequent as any other operation: most faults need ids that are written often."""

ANGLES = (5, 40, 75, 110, 145, 175)
KINDS = ("a", "b")
TOP_K = (8, 3, 1)

QueryChoice = tuple[int, "str | None", int, bool]
"""A direction, a kind to filter by (or None), the number of matches, and True if the query is sent in a batch."""


class VectorContents:
    """The writes of one random sequence, and the expected directions and kinds by namespace and id."""

    def __init__(self, vector: Vector) -> None:
        self.vector = vector
        self.names = [vector.new_name(f"id{number}") for number in range(IDS)]
        self.sandboxes: dict[int, VectorSandbox] = {}
        self.held: dict[int, dict[str, tuple[int, str]]] = {}
        self.written: set[int] = set()

    def call(self, name: str, args: Mapping[str, Any], filled: bool = False) -> Reply:
        """Call an operation, and wait for the index of a `filled` namespace; return the reply unchecked."""
        envelope = self.vector.envelope(name, args)
        self.vector.shared.actions.note(name, args)
        return self.vector.wait_for_index(lambda: self.vector.send(envelope), filled)

    def call_successfully(self, name: str, args: Mapping[str, Any]) -> Any:
        """Return the result of an operation, which must succeed."""
        reply = self.call(name, args)
        expect.readable(reply)
        if not reply.is_carried_out:
            raise Violation(f"{name} to succeed after this sequence", str(reply))
        return reply.result

    def sandbox_at(self, where: int) -> VectorSandbox:
        """Return one of the namespaces, made on its first use; without namespaces, the only one."""
        if where not in self.sandboxes:
            if not self.vector.has_namespaces:
                self.sandboxes[where] = self.vector.sandbox()
            else:
                args = self.vector.namespace_args()
                self.call_successfully("create_namespace", args)
                self.sandboxes[where] = VectorSandbox(
                    self.vector, args["namespace"], args["dimensions"], self.vector.metric, {}
                )
            self.held[where] = {}
        return self.sandboxes[where]

    def close(self) -> None:
        """Delete the data of the sequence."""
        for sandbox in self.sandboxes.values():
            if self.vector.has_namespaces:
                self.vector.call("delete_namespace", {"namespace": sandbox.name})

    def upsert(self, where: int, batch: list[tuple[int, int, str]]) -> None:
        """Insert or update vectors of a namespace. Of two vectors with one id, the last one is kept."""
        rows = {self.names[name]: (angle, kind) for name, angle, kind in batch}
        items = [
            {"id": name, "vector": direction(angle, self.vector.dimensions), "metadata": {"kind": kind}}
            for name, (angle, kind) in rows.items()
        ]
        self.sandbox_at(where).note_stored(*items)
        self.call_successfully("upsert", self.sandbox_at(where).args(vectors=items))
        self.held[where].update(rows)
        self.written.add(where)

    def delete(self, where: int, name: int) -> None:
        """Delete a vector by id if it is stored."""
        sandbox = self.sandbox_at(where)
        if self.names[name] in self.held[where]:
            self.call_successfully("delete", sandbox.args(ids=[self.names[name]]))
            del self.held[where][self.names[name]]

    def delete_kind(self, where: int, kind: str) -> None:
        """Delete by a filter. Skipped before the first write, because the store may not know the filter's key yet."""
        if where not in self.written:
            return
        self.call_successfully("delete", self.sandbox_at(where).args(filter={"kind": kind}))
        self.held[where] = {name: row for name, row in self.held[where].items() if row[1] != kind}

    def recreate(self, where: int) -> None:
        """Delete a namespace and create it again."""
        name = self.sandbox_at(where).name
        self.call_successfully("delete_namespace", {"namespace": name})
        self.call_successfully("create_namespace", self.vector.namespace_args(name))
        self.held[where] = {}
        self.written.discard(where)

    def change_nothing(self, where: int) -> None:
        """Change nothing. The rule with this step only queries."""
        self.sandbox_at(where)

    def check_query(self, where: int, angle: int, kind: str | None, top_k: int, batched: bool) -> None:
        """Check that a query finds the best stored vectors with their metadata."""
        query = self.sandbox_at(where).args(
            vector=direction(angle, self.vector.dimensions),
            top_k=self.vector.limits.cap_matches(top_k),
            **({"filter": {"kind": kind}} if kind else {}),
        )
        rows = {name: row for name, row in self.held[where].items() if kind in (None, row[1])}
        name, args = "query", query
        if batched:
            name, args = "batch_query", {"queries": [query], **self.sandbox_at(where).args()}
        reply = self.call(name, args, bool(self.held[where]))
        if not self.held[where] and self.vector.is_empty_answer(reply):
            return
        if kind and where not in self.written and reply.is_a(*PERMANENT):
            return
        result = expect.success(reply, f"an answer to {name} after this sequence")
        results = results_of(result) if batched else [result]
        if len(results) != 1:
            raise Blocked("VEC-MULTI-1", f"1 query has {len(results)} results")
        matches_of(results[0], "VEC-MULTI-1" if batched else "VEC-QUERY-1")
        matches = pages.join_pages(self.vector.shared, partial(self.vector.call, "query"), query, results[0])["matches"]
        least = (
            self.count_certain_matches(rows, query, self.held[where])
            if kind and self.vector.limits.filters_after_search
            else None
        )
        if self.vector.limits.is_approximate:
            asked = (
                []
                if kind and self.vector.limits.filters_after_search
                else [row for row in rows.values() if row[0] == angle]
            )
            least = min(query["top_k"], len(asked))
        self.expect_best_matches(rows, query, self.sandbox_at(where).expect_own(matches), least)

    def goodness(self, rows: Mapping[str, tuple[int, str]], query: Mapping[str, Any]) -> dict[str, float]:
        """Return the quality of each expected vector as a match of a query."""
        measure = GOODNESS[canonical_metric(self.vector.metric) or "cosine"]
        return {
            name: measure(query["vector"], direction(angle, self.vector.dimensions))
            for name, (angle, _) in rows.items()
        }

    def count_certain_matches(
        self, rows: Mapping[str, tuple[int, str]], query: Mapping[str, Any], held: Mapping[str, tuple[int, str]]
    ) -> int:
        """Return the number of matches that surely remain if a filter is applied after the search (R47)."""
        if self.vector.dimensions == 1 or not held:
            return 0
        good = self.goodness(held, query)
        cut = sorted(good.values(), reverse=True)[: query["top_k"]]
        missed = sum(good[name] >= cut[-1] - TOLERANCE for name in held if name not in rows)
        sure = sum(good[name] >= cut[-1] - TOLERANCE for name in rows)
        most: int = query["top_k"]
        return max(0, min(sure, most - missed))

    def expect_best_matches(
        self, rows: Mapping[str, tuple[int, str]], query: Mapping[str, Any], matches: list[Any], least: int | None
    ) -> None:
        """Check that the matches are the best of the expected vectors, each with its kind.

        If `least` is given, this number of matches is enough. An approximate search must keep the order and find the
        vectors of the requested direction (R113).
        """
        found = [id_of(match) for match in matches]
        wanted = min(query["top_k"], len(rows))
        if least is not None:
            wanted = max(least, min(wanted, len(found)))
        if not set(found) <= set(rows) or len(set(found)) != wanted or len(found) != wanted:
            extra = len(set(found) - set(rows))
            about = set(found) ^ set(rows) if query["top_k"] >= len(rows) else set(found) - set(rows)
            self.raise_difference(
                f"{wanted} of {len(rows)} vectors", f"{len(found)} matches, {extra} of them wrong", about=about
            )
        for match in matches:
            if not has_metadata(match, {"kind": rows[id_of(match)][1]}):
                about = {id_of(match)}
                self.raise_difference(
                    "the metadata that were written last", "other metadata", "result.matches", about=about
                )
        if self.vector.dimensions > 1:
            good = self.goodness(rows, query)
            reachable = found if self.vector.limits.is_approximate else rows
            best = sorted((good[name] for name in reachable), reverse=True)[:wanted]
            if any(abs(good[name] - value) > TOLERANCE for name, value in zip(found, best, strict=True)):
                about = {id_of(match) for match in matches if not is_near(match.get("score"), good[id_of(match)])}
                self.raise_difference(
                    "the best vectors, best first", "other vectors, or another order", "result.matches", about=about
                )

    def raise_difference(self, *said: str, about: Iterable[str] = ()) -> NoReturn:
        """Raise a Violation with these texts; `about` are the ids that it concerns."""
        raise Violation(*said, about=(str(self.names.index(name)) for name in about if name in self.names))


def rules_of(vector: Vector) -> list[Rule[VectorContents]]:
    """Return the rules of random sequences: one for each offered operation, more for upserts."""
    places = (0, 0, 1) if vector.has_namespaces else (0,)
    size = max(1, min(MOST_IN_BATCH, vector.limits.most_in_batch or MOST_IN_BATCH))
    batches, filters = vector.works("batch_query"), vector.features.accepts_filters

    def draw_batch(chance: Random) -> list[tuple[int, int, str]]:
        return [
            (chance.randrange(IDS), chance.choice(ANGLES), chance.choice(KINDS)) for _ in range(chance.randint(1, size))
        ]

    def draw_query(chance: Random) -> QueryChoice:
        kind, batched = chance.choice((None, None, *KINDS)), chance.choice((False, True))
        return chance.choice(ANGLES), kind if filters else None, chance.choice(TOP_K), batches and batched

    def rule(
        operation: Callable[..., None], share: float = 0.4, **draws: Callable[[Random], Any]
    ) -> Rule[VectorContents]:
        """Return a rule that carries out an operation and, in a share of the steps, queries afterwards."""

        def take_random_step(chance: Random, trial: Trial[VectorContents]) -> None:
            where, given = chance.choice(places), {name: draw(chance) for name, draw in draws.items()}
            names = {given["name"]} if "name" in given else {name for name, _, _ in given.get("batch", ())}
            act = partial(operation, where=where, **given)
            is_reset = operation is VectorContents.recreate
            trial.take_step(Step(act, where, frozenset(map(str, names)), is_reset=is_reset))
            if chance.random() < share:
                then = draw_query(chance)
                trial.take_step(Step(lambda model: model.check_query(where, *then), where, is_read_only=True))

        return take_random_step

    rules = [rule(VectorContents.upsert, batch=draw_batch)] * UPSERTS
    rules += [
        rule(VectorContents.delete, name=lambda chance: chance.randrange(IDS)),
        rule(VectorContents.change_nothing, 1.0),
    ]
    if vector.features.deletes_by_filter:
        rules.append(rule(VectorContents.delete_kind, kind=lambda chance: chance.choice(KINDS)))
    if vector.has_namespaces:
        rules.append(rule(VectorContents.recreate))
    return rules
