"""One root cause, one finding: the sentences that nearly every test of a store rests on.

Where a test finds a violation, these are tried in their plainest form, once a run. If one of them does not hold,
what the test found may be its consequence: then the test is blocked by it, and it is red in its own test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pytest_corpus.suites.outcomes import Blocked, Undecided, Violation
from pytest_corpus.suites.vector.geometry import direction
from pytest_corpus.suites.vector.place import Place, id_of, metadata_of

if TYPE_CHECKING:
    from pytest_corpus.suites.vector.probe import Vector

ANGLES = (10, 45, 80, 115, 150)
RANKING = {"cosine": "VEC-SCORE-1", "euclidean": "VEC-SCORE-2", "dot": "VEC-SCORE-3"}
COUNTED = {"part": 7, "group": "a"}

DEPENDENT = (
    *(f"VEC-UPSERT-{number}" for number in (2, 3, 4, 5, 6, 7, 11, 13, 14, 15, 16, 17)),
    *(f"VEC-QUERY-{number}" for number in (2, 3, 4, 7, 8, 12, 14, 16)),
    *(f"VEC-SCORE-{number}" for number in (1, 2, 3, 4, 5)),
    *(f"VEC-MULTI-{number}" for number in (2, 3, 6, 7)),
    *(f"VEC-LIMIT-{number}" for number in (1, 3, 4)),
    *(f"VEC-DIM-{number}" for number in (1, 4, 5, 6, 9)),
    *(f"VEC-FILTER-{number}" for number in (1, 2, 3, 4, 5, 6, 7, 8, 10, 13, 14)),
    *(f"VEC-DELETE-{number}" for number in (2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14)),
    *(f"VEC-NS-{number}" for number in (1, 2, 3, 4, 5, 8, 9, 13)),
    "VEC-CAP-2",
    "VEC-STATE-1",
    *("COM-IDEM-1", "COM-IDEM-2", "COM-IDEM-3", "COM-TENANT-1", "COM-CACHE-1", "COM-CONC-1", "COM-CAP-6"),
)
"""The requirements whose tests read back what they wrote."""

FILTERING = (
    *(f"VEC-FILTER-{number}" for number in range(1, 15)),
    *(f"VEC-DELETE-{number}" for number in (2, 5, 6, 11, 14)),
    *("VEC-UPSERT-5", "VEC-MULTI-3", "VEC-STATE-1", "COM-IDEM-3"),
)
"""Those among them whose tests filter."""


def root_cause(vector: Vector, requirement: str) -> Blocked | None:
    """What explains a violation of a requirement, other than that requirement itself."""
    if requirement not in DEPENDENT:
        return None
    if vector.broken is None:
        vector.broken = tuple(_broken(vector))
    for root in vector.broken:
        if root == requirement:
            return None
        if requirement in FILTERING or not root.startswith("VEC-FILTER"):
            return Blocked(root, "what the test found may be a consequence of it")
    return None


def _broken(vector: Vector) -> Iterator[str]:
    """The sentences that do not hold, the deepest one first; none where that cannot be told."""
    vector.client.provider.clear()
    try:
        yield from _reading(vector) or _writing(vector) or _filtering(vector)
    except Blocked as obstacle:
        if obstacle.by == "VEC-NS-1":
            yield obstacle.by
    except (Undecided, Violation):
        return


def _items(vector: Vector) -> list[dict[str, Any]]:
    angles = ANGLES[: vector.at_most(len(ANGLES))]
    return [vector.item(angle, {**COUNTED, "group": "ab"[number % 2]}) for number, angle in enumerate(angles)]


def _reading(vector: Vector) -> list[str]:
    """What is wrong with plain queries, however the vectors came there."""
    single, batch = _items(vector), _items(vector)
    one = vector.place()
    for item in reversed(single):
        one.put(item)
    alone, best = _ids(one, len(single)), [one.ids(direction(10, vector.dimensions), count) for count in (1, 2)]
    other = vector.place(*batch)
    together = _ids(other, len(batch))
    if vector.namespaces and (_strange(alone, batch) or _strange(together, single)):
        return ["VEC-NS-2"]
    if len(best[0]) > 1 or len(best[1]) > 2:
        return ["VEC-QUERY-2"]
    if not _complete(alone, single):
        return ["VEC-UPSERT-2" if _complete(together, batch) else "VEC-QUERY-3"]
    if not _complete(together, batch):
        return ["VEC-UPSERT-3"]
    return _answers(other, batch) or _order(one, single, alone, best[0])


def _ids(place: Place, count: int) -> list[str]:
    return place.ids(direction(10, place.dimensions), count)


def _strange(found: list[str], items: list[dict[str, Any]]) -> bool:
    return any(item["id"] in found for item in items)


def _complete(found: list[str], items: list[dict[str, Any]]) -> bool:
    return sorted(found) == sorted(str(item["id"]) for item in items)


def _answers(place: Place, items: list[dict[str, Any]]) -> list[str]:
    """What is wrong with the metadata in answers."""
    held = {id_of(match): metadata_of(match) for match in place.matches(direction(10, place.dimensions), len(items))}
    if any(not held.get(item["id"]) for item in items):
        return ["VEC-QUERY-7"]
    kept = all(_like(held[item["id"]], item["metadata"]) for item in items)
    return [] if kept else ["VEC-UPSERT-6"]


def _like(held: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    return all(key in held and held[key] == value for key, value in metadata.items())


def _order(place: Place, items: list[dict[str, Any]], found: list[str], best: list[str]) -> list[str]:
    """What is wrong with the ranking of vectors of one length."""
    wanted = [str(item["id"]) for item in items]
    if place.dimensions < 2 or place.truth is None:
        return []
    if found != wanted:
        return [RANKING[place.truth]]
    return [] if best == wanted[:1] else ["VEC-QUERY-4"]


def _writing(vector: Vector) -> list[str]:
    """What is wrong with overwriting and deleting by id."""
    moved, stays, goes = (vector.item(angle, COUNTED) for angle in (10, 45, 150))
    place = vector.place()
    for item in (moved, stays, goes):
        place.put(item)
    place.put({**moved, "vector": direction(170, vector.dimensions), "metadata": {**COUNTED, "group": "new"}})
    found = place.contents()
    nearest = place.ids(direction(10, vector.dimensions), 1)
    if moved["id"] in found and vector.dimensions > 1 and nearest == [moved["id"]]:
        return ["VEC-UPSERT-4"]
    if moved["id"] in found and metadata_of(found[moved["id"]]).get("group") != "new":
        return ["VEC-UPSERT-5"]
    place.remove(goes["id"])
    left = place.contents()
    if goes["id"] in left:
        return ["VEC-DELETE-2"]
    return [] if stays["id"] in left else ["VEC-DELETE-4"]


def _filtering(vector: Vector) -> list[str]:
    """What is wrong with filters by one string."""
    if not vector.filters:
        return []
    items = _items(vector)
    place = vector.place(*items)
    wanted = [item for item in items if item["metadata"]["group"] == "a"]
    found = [id_of(match) for match in place.matches(None, len(items), filter={"group": "a"})]
    if not _complete(found, wanted):
        return ["VEC-FILTER-1"]
    none = place.ask(None, len(items), filter={"group": "nobody"})
    return [] if none.is_success and not none.result.get("matches") else ["VEC-FILTER-4"]
