"""The basic requirements of a vector store, so that one root cause is one finding.

After a violation in a test, these requirements are tried in their plainest form, once in a run. If one is violated, it
blocks the tests that depend on it. No query is sent twice here, so a faulty cache is not mistaken for a broken basic
requirement.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, Undecided, Violation
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.root_causes import BasicRequirement, Feature, RootCauses
from pytest_corpus.suites.vector.support.answers import id_of, metadata_of
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.geometry import POLAR, SEEN_FROM, canonical_metric, direction, ids_best_first
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox
from pytest_corpus.suites.vector.support.shared import DROPPING, FILTERING, RANKING, READING, WRITING, objects_in

ANGLES = (10, 45, 80, 115, 150)
RANKING_OF = {"cosine": "VEC-SCORE-1", "euclidean": "VEC-SCORE-2", "dot": "VEC-SCORE-3"}
OTHERS_FOUND = "VEC-NS-2"
OTHER_IDS = "VEC-UPSERT-18"
DROPPED = "VEC-NS-4"
STORED = frozenset((WRITING,))
SEEN = {
    "VEC-QUERY-12": "a vector with a negative component is refused",
    OTHERS_FOUND: "a query finds a vector that was written to another namespace",
    OTHER_IDS: "a query finds a vector under another id than it was written with",
    "VEC-UPSERT-2": "a query does not find vectors that were written",
    "VEC-QUERY-2": "a query has more matches than `top_k`",
    "VEC-QUERY-3": "a query for all vectors of a namespace does not find all of them",
    "VEC-UPSERT-3": "a query does not find all vectors of one upsert",
    "VEC-QUERY-7": "the matches of a plain query have no metadata",
    "VEC-UPSERT-6": "the matches of a plain query have other metadata than were written",
    **dict.fromkeys(RANKING_OF.values(), "a better match comes after a worse one"),
    "VEC-QUERY-4": "a query for one match does not get the best one",
    "VEC-UPSERT-4": "a query finds the old vector of an id that was written again",
    "VEC-UPSERT-5": "a query finds the old metadata of an id that was written again",
    "VEC-DELETE-2": "a query finds a vector that was deleted",
    "VEC-DELETE-4": "a query does not find a vector after another one was deleted",
    "VEC-FILTER-1": "a query with a filter by one string does not find just the vectors that fit it",
    "VEC-FILTER-4": "a query with a filter that nothing fits has matches, or fails",
    "VEC-CAP-2": "a namespace with a metric that capabilities list cannot be made",
    DROPPED: "a query finds a vector in a namespace that was deleted",
}
"""For each basic requirement, the observation that shows a violation."""

COUNTED = {"part": 7, "group": "a"}


class VectorRootCauses(RootCauses[Vector]):
    """The basic requirements of a vector store. A violation of one of them explains the failures of many tests."""

    def features(self) -> Iterator[Feature]:
        vector = self.subject
        yield from super().features()

        def try_upsert() -> Reply:
            return vector.call(
                "upsert", {"vectors": [vector.item(45, {"kind": "plain"})], **vector.requests.scratch_namespace_arg}
            )

        def try_filter() -> Reply:
            if not vector.features.accepts_filters:
                raise NotApplicable("filters are not offered")
            vector.require("query")
            return vector.call("query", {**vector.requests.minimal("query"), "filter": {"kind": "home"}})

        def ask_for_two_matches() -> Reply:
            expect.applicable(vector.limits.cap_matches(2) == 2, "a query may ask for at most one match")
            sandbox = vector.sandbox(vector.item(45))
            expect.success(sandbox.ask(top_k=1), "an answer to a query for one match")
            return sandbox.ask(top_k=2)

        yield Feature("VEC-UPSERT-6", partial(_has_argument, "vectors", "metadata"), try_upsert)
        yield Feature("VEC-FILTER-1", partial(_has_argument, "queries", "filter"), try_filter)
        yield Feature("VEC-QUERY-3", partial(_has_argument, "queries", "top_k"), ask_for_two_matches)

    def failing_basics(self) -> Iterator[BasicRequirement]:
        vector = self.subject
        try:
            if found := _try_negative_components(vector) or _try_reading(vector) or _try_writing(vector):
                yield _basic_requirement(found, WRITING)
                if found == OTHERS_FOUND:
                    yield _basic_requirement(found, READING)
                return
            if found := _try_filtering(vector):
                yield _basic_requirement(found, FILTERING)
            yield from (_basic_requirement(ranking, RANKING) for ranking in _try_ranking(vector))
            if _keeps_deleted_namespace(vector):
                yield _basic_requirement(DROPPED, DROPPING)
        except Blocked as obstacle:
            if obstacle.by == "VEC-NS-1":
                yield BasicRequirement(obstacle.by, STORED, obstacle.seen, obstacle.exchanges)
        except (Undecided, Violation):
            return


def _basic_requirement(requirement: str, *needs: str) -> BasicRequirement:
    return BasicRequirement(requirement, frozenset(needs), SEEN[requirement])


def _has_argument(items: str, key: str, request: Mapping[str, Any]) -> bool:
    """True if the arguments of a request, or of one of its items, have a non-empty value for a key."""
    return any(each.get(key) for each in objects_in(request.get("args"), items))


def _items(vector: Vector) -> list[dict[str, Any]]:
    angles = ANGLES[: vector.limits.cap_matches(len(ANGLES))]
    return [vector.item(angle, {**COUNTED, "group": "ab"[number % 2]}) for number, angle in enumerate(angles)]


def _try_negative_components(vector: Vector) -> str | None:
    """Return VEC-QUERY-12 if a vector with negative components is refused, or None."""
    sandbox = vector.sandbox(vector.item(45))
    refused = vector.dimensions > 1 and sandbox.upsert(vector.item(135)).is_a("BadRequest")
    return "VEC-QUERY-12" if refused else None


def _try_reading(vector: Vector) -> str | None:
    """Return the requirement that plain queries violate, or None. Single and batch upserts write the vectors."""
    single, batch = _items(vector), _items(vector)
    one = vector.sandbox()
    for item in reversed(single):
        one.put(item)
    plain, cut = _find_ids(one, len(single), 10), [_find_ids(one, 1, 11), _find_ids(one, 2, 12)]
    alone = _look_up(one, single, plain)
    other = vector.sandbox(*batch)
    together = _look_up(other, batch, _find_ids(other, len(batch), 13))
    if _finds_foreign_vectors(one, alone) or _finds_foreign_vectors(other, together):
        return OTHERS_FOUND
    if not {item["id"] for item in (*single, *batch)} & {*alone, *together}:
        only = vector.sandbox(vector.item(45))
        if len(found := _find_ids(only, 1, 45)) == 1 and vector.has_namespaces and found[0] not in only.known:
            return OTHER_IDS
        return "VEC-UPSERT-2"
    if len(cut[0]) > 1 or len(cut[1]) > 2:
        return "VEC-QUERY-2"
    if not _is_complete(alone, single):
        return "VEC-UPSERT-2" if _is_complete(together, batch) else "VEC-QUERY-3"
    if not _is_complete(together, batch):
        return "VEC-UPSERT-3"
    return _try_metadata(other, batch) or _try_order(one, single, plain, cut[0])


def _find_ids(sandbox: VectorSandbox, count: int, degrees: float) -> list[str]:
    return sandbox.ids(direction(degrees, sandbox.dimensions), count)


def _look_up(sandbox: VectorSandbox, items: list[dict[str, Any]], found: list[str]) -> list[str]:
    """Return the found ids. In an approximate search, query for each missing vector and add the matches (R113)."""
    missing = [item for item in items if item["id"] not in found] if sandbox.vector.limits.is_approximate else []
    more = (name for item in missing for name in sandbox.ids(item["vector"], len(items)) if name not in found)
    return [*found, *dict.fromkeys(more)]


def _finds_foreign_vectors(sandbox: VectorSandbox, found: list[str]) -> bool:
    """True if matches are vectors that the suite wrote to another namespace."""
    vector = sandbox.vector
    return vector.has_namespaces and any(name not in sandbox.known and vector.settings.run in name for name in found)


def _expected_order(vector: VectorCalls, ranked: list[str], found: list[str]) -> list[str]:
    """Return the vectors in their true order; for an approximate search, only the found ones."""
    return [name for name in ranked if name in found] if vector.limits.is_approximate else ranked


def _is_complete(found: list[str], items: list[dict[str, Any]]) -> bool:
    return sorted(found) == sorted(str(item["id"]) for item in items)


def _try_metadata(sandbox: VectorSandbox, items: list[dict[str, Any]]) -> str | None:
    """Return the violated requirement on the metadata in answers, or None."""
    matches = sandbox.matches(direction(10, sandbox.dimensions), len(items))
    if sandbox.vector.limits.is_approximate:
        matches = [*sandbox.contents().values()]
    held = {id_of(match): metadata_of(match) for match in matches}
    if any(not held.get(item["id"]) for item in items):
        return "VEC-QUERY-7"
    kept = all(all(held[item["id"]].get(key) == value for key, value in item["metadata"].items()) for item in items)
    return None if kept else "VEC-UPSERT-6"


def _try_order(sandbox: VectorSandbox, items: list[dict[str, Any]], found: list[str], first: list[str]) -> str | None:
    """Return the violated requirement on the ranking of vectors of equal length, or None.

    The queries for `first` and `found` have different directions, so an approximate search may answer differently.
    """
    wanted = _expected_order(sandbox.vector, [str(item["id"]) for item in items], found)
    if sandbox.dimensions < 2 or sandbox.protocol_metric is None:
        return None
    if found != wanted:
        return RANKING_OF[sandbox.protocol_metric]
    return None if sandbox.vector.limits.is_approximate or first == wanted[:1] else "VEC-QUERY-4"


def _try_writing(vector: Vector) -> str | None:
    """Return the violated requirement on overwriting and deleting by id, or None."""
    moved, stays, goes = (vector.item(angle, COUNTED) for angle in (10, 45, 150))
    sandbox = vector.sandbox()
    for item in (moved, stays, goes):
        sandbox.put(item)
    sandbox.put({**moved, "vector": direction(170, vector.dimensions), "metadata": {**COUNTED, "group": "new"}})
    found = sandbox.contents()
    nearest = sandbox.ids(direction(10, vector.dimensions), 1)
    if moved["id"] in found and vector.dimensions > 1 and nearest == [moved["id"]]:
        return "VEC-UPSERT-4"
    if moved["id"] in found and metadata_of(found[moved["id"]]).get("group") != "new":
        return "VEC-UPSERT-5"
    sandbox.remove(goes["id"])
    left = sandbox.contents()
    if goes["id"] in left:
        return "VEC-DELETE-2"
    return None if stays["id"] in left else "VEC-DELETE-4"


def _try_filtering(vector: Vector) -> str | None:
    """Return the requirement that a filter by one string violates, or None."""
    if not vector.features.accepts_filters:
        return None
    items = _items(vector)
    sandbox = vector.sandbox(*items)
    wanted = [item for item in items if item["metadata"]["group"] == "a"]
    queries = [item["vector"] for item in items] if vector.limits.is_approximate else [None]
    found = [*dict.fromkeys(name for each in queries for name in sandbox.ids(each, len(items), filter={"group": "a"}))]
    if not _is_complete(found, wanted):
        return "VEC-FILTER-1"
    none = sandbox.ask(direction(77, vector.dimensions), len(items), filter={"group": "nobody"})
    return None if none.is_success and not none.result.get("matches") else "VEC-FILTER-4"


def _keeps_deleted_namespace(vector: Vector) -> bool:
    """True if a query finds a vector in a deleted namespace."""
    if not vector.has_namespaces or not vector.works("delete_namespace"):
        return False
    sandbox = vector.sandbox(vector.item(45))
    dropped = vector.call("delete_namespace", {"namespace": sandbox.name}, sandbox.ctx)
    sandbox.held.clear()
    return dropped.is_success and bool(_find_ids(sandbox, 1, 45))


def _try_ranking(vector: Vector) -> Iterator[str]:
    """Yield the violated requirements on the ranking of vectors of several lengths, for each offered metric."""
    if vector.dimensions < 2 or not vector.has_namespaces or vector.limits.cap_matches(len(POLAR)) < len(POLAR):
        return
    for metric in vector.limits.metrics:
        truth = canonical_metric(metric)
        items = [{**vector.item(), "vector": direction(angle, vector.dimensions, length)} for angle, length in POLAR]
        try:
            sandbox = vector.sandbox(*items, metric=metric)
        except Blocked:
            yield "VEC-CAP-2"
            continue
        query = direction(SEEN_FROM[0], vector.dimensions, SEEN_FROM[1])
        ranked = ids_best_first(truth, query, {item["id"]: item["vector"] for item in items}) if truth else []
        found = sandbox.ids(query, len(items))
        if truth and found != _expected_order(vector, ranked, found):
            yield RANKING_OF[truth]


ROOT_CAUSES = VectorRootCauses
