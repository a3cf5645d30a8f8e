"""Answers to queries in a namespace of a known metric, compared with the true order (SPECIFICATION 9.4; R30)."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.outcomes import NotAssessed, Violation
from pytest_corpus.suites.vector.support.answers import id_of
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.geometry import GOODNESS, POLAR, SEEN_FROM, TOLERANCE, direction, is_number
from pytest_corpus.suites.vector.support.shared import RANKING, READING, WRITING

RANDOM_VECTORS, RANDOM_QUERIES = 4, 4


@dataclass(frozen=True)
class Ranking:
    """One query: how good each vector truly is by id (more is better), and the matches of the answer.

    Those of an approximate search may leave out any vector (R113).
    """

    truth: Mapping[str, float]
    matches: list[Mapping[str, Any]]
    approximate: bool = False

    @property
    def goodness(self) -> list[float]:
        """The true quality of the matches, in the order of the answer."""
        return [self.truth[id_of(match)] for match in self.matches]

    @property
    def tolerance(self) -> float:
        """Vectors that differ by no more are not clearly different."""
        return TOLERANCE * max(1.0, *map(abs, self.truth.values()))

    def in_order(self) -> None:
        """The matches are the best ones, best first, but for vectors that are not clearly different."""
        goodness, path = self.goodness, "result.matches"
        for earlier, later in pairwise(goodness):
            ordered = later <= earlier + self.tolerance
            expect.that(ordered, "the best match first", "a better one after a worse one", path)
        left_out = [value for name, value in self.truth.items() if name not in map(id_of, self.matches)]
        if left_out and goodness and not self.approximate:
            best = max(left_out) <= goodness[-1] + self.tolerance
            expect.that(best, "the best of all vectors", "a better one left out", path)

    def keeps(self, key: str, sign: int) -> None:
        """A number rises (sign 1) or falls (-1) with how good clearly different matches are."""
        numbers: list[Any] = [match.get(key) for match in self.matches]
        path = f"result.matches.{key}"
        expect.that(all(map(is_number, numbers)), "a number", "something else", path)
        pairs = sorted(zip(self.goodness, numbers, strict=True), key=lambda pair: pair[0])
        claim = f"a {'higher' if sign > 0 else 'lower'} {key} of a better match"
        for (worse, low), (better, high) in pairwise(pairs):
            fits = sign * (high - low) >= -TOLERANCE * 1e-3 * max(1.0, abs(low))
            expect.that(better <= worse + self.tolerance or fits, claim, "the opposite", path)
        (worst, low), (top, high) = pairs[0], pairs[-1]
        differs = top <= worst + self.tolerance or sign * (high - low) > 0
        expect.that(differs, f"another {key} of the best and of the worst match", "the same", path)


@remembered
def rankings(vector: Vector, metric: str) -> list[Ranking]:
    """The answers of a namespace of a metric to several queries, which are asked once in a run.

    Raises NotApplicable if the metric is not listed, or not that of the only namespace, NotAssessed if one-dimensional
    vectors have no direction to compare.
    """
    spelled = vector.spelling(metric)
    vector.need_direction(metric)
    vector.shared.actions.done |= {RANKING, WRITING, READING}
    chance = random.Random(vector.settings.seed)
    stored = [direction(angle, vector.dimensions, size) for angle, size in POLAR]
    stored += [scattered(chance, vector.dimensions) for _ in range(RANDOM_VECTORS)]
    items: list[dict[str, Any]] = [{"id": vector.name(), "vector": components} for components in stored]
    sandbox = vector.sandbox(*items, metric=spelled)
    queries = [direction(SEEN_FROM[0], vector.dimensions, SEEN_FROM[1])]
    queries += [scattered(chance, vector.dimensions) for _ in range(RANDOM_QUERIES)]
    queries += stored if vector.approximate else []
    found = []
    for query in queries:
        truth = {item["id"]: GOODNESS[metric](query, item["vector"]) for item in items}
        matches = sandbox.matches(query, len(items))
        if not matches and vector.approximate:
            continue
        if not matches:
            raise Violation("matches", "none", "result.matches")
        if any(id_of(match) not in truth for match in matches):
            raise NotAssessed("there are matches that the suite did not store here")
        found.append(Ranking(truth, matches, vector.approximate))
    if not found:
        raise Violation("matches of queries for stored vectors", "none", "result.matches")
    return found


def scattered(chance: random.Random, dimensions: int) -> list[float]:
    """A vector of any direction and of some length."""
    while True:
        components = [round(chance.uniform(-2, 2), 6) for _ in range(dimensions)]
        if sum(component * component for component in components) > 0.1:
            return components
