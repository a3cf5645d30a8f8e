"""Checks of the vector chapters: stored items, refused items, the true order of matches (R14, R30, R45)."""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.answer_cache import remembered, remembered_by_all
from pytest_corpus.kit.judgement import look_at, note_condition_held, reading_separately
from pytest_corpus.kit.outcomes import NotAssessed, Undecided, Violation, describe_names, difference
from pytest_corpus.kit.reply import Reply, error_names, failed_items
from pytest_corpus.kit.store.results import failed_indexes, processed_count
from pytest_corpus.kit.vocabulary import group_words
from pytest_corpus.spec.errors import is_a
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.contexts import new_tenant_context, require_tenants
from pytest_corpus.suites.vector.support.answers import failed_count, id_of, matches_of, metadata_of
from pytest_corpus.suites.vector.support.component import Vector
from pytest_corpus.suites.vector.support.geometry import GOODNESS, POLAR, SEEN_FROM, TOLERANCE, direction, is_number
from pytest_corpus.suites.vector.support.sandbox import VectorSandbox
from pytest_corpus.suites.vector.support.shared import RANKING, READING, WRITING, Item

RETRYABLE = ("ResourceExhausted", "TransientNetwork", "Unavailable")


def five_directions(vector: Vector) -> tuple[VectorSandbox, list[Item]]:
    """Return a sandbox with five vectors of different directions, which tests only read."""
    return vector.main_sandbox(), [*vector.requests.settled_vectors]


def upsert_and_query(
    vector: Vector, args: Mapping[str, Any], what: str, created: Reply | None = None
) -> list[Mapping[str, Any]]:
    """Create a namespace with these arguments and write a vector; return the matches of a query for the vector."""
    expect.success(created or vector.call("create_namespace", args), f"a namespace of {what}")
    sandbox = VectorSandbox(vector, args["namespace"], args["dimensions"], args.get("distance_metric"), {})
    item: dict[str, Any] = {"id": vector.new_name(), "vector": direction(40, sandbox.dimensions)}
    expect.full_success(sandbox.upsert(item), f"a vector of {what}")
    return matches_of(expect.success(sandbox.ask(item["vector"], 1), f"a query of {what}"))


def expect_present(sandbox: VectorSandbox, *items: Item) -> dict[str, Mapping[str, Any]]:
    """Check that a sandbox has these vectors; return all found vectors by id."""
    note_condition_held()  # a finding then shows the queries and the last writes
    found = sandbox.contents()
    missing = [item["id"] for item in items if item["id"] not in found]
    expect.check(not missing, f"all of {len(items)} vectors", f"{describe_names(missing)} missing", "result.matches")
    return found


def expect_exactly(sandbox: VectorSandbox, *items: Item, claim: str = "", **args: Any) -> dict[str, Mapping[str, Any]]:
    """Check that a sandbox has exactly these vectors; return them by id."""
    note_condition_held()  # a finding then shows the queries and the upserts of surplus items
    found = sandbox.contents(**args)
    ids = {item["id"] for item in items}
    wanted = claim or f"exactly {len(ids)} vectors"
    got, strange = difference(ids, set(found)), set(found) - ids
    expect.check(ids == set(found), wanted, got, "result.matches", about=strange)
    return found


def expect_refused_or_reported(reply: Reply, *families: str) -> None:
    """Check that a call with one bad item is refused as a bad request, or reports the item as failed (R14, R45)."""
    if not reply.is_success:
        expect.refusal(reply, *(families or ("BadRequest",)))
        return
    failures = reply.failed_items
    is_reported = failures and failed_count(reply.result)
    expect.check(is_reported, "a refusal, or a failed item", "a success without a failed item", "result")
    for failure in failures:
        names = error_names(failure)
        wrong = [name for name in names for family in RETRYABLE if is_a(name, family)]
        expect.check(not wrong, "a failure that is not retryable", ", ".join(wrong), "result.failures")
        if families:
            fits = any(is_a(name, family) for name in names for family in families)
            expect.check(fits, " or ".join(families), ", ".join(names) or "none of the taxonomy", "result.failures")


def names_wrong_items(reply: Reply, wrong: Mapping[int, Item], edition: str | None) -> bool:
    """True if the reported failures name exactly the wrong items: by index, or by id under edition 1.0.0 (R14)."""
    if edition == "1.0.0":
        named = sorted(str(failure.get("id")) for failure in reply.failed_items)
        return named == sorted(str(item.get("id")) for item in wrong.values())
    return sorted(failed_indexes(reply)) == sorted(wrong)


def expect_count(result: Any, count: int) -> None:
    """Check that a result counts this number of items as processed."""
    found = processed_count(result)
    expect.check(found == count, f"{count} processed", "no count" if found is None else f"{found}", "result")


def are_equal(left: Any, right: Any) -> bool:
    """True if two JSON values are equal: 1 equals 1.0, but not true."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if is_number(left) and is_number(right):
        return bool(abs(left - right) <= TOLERANCE * 1e-3 * max(1.0, abs(right)))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(are_equal, left, right))
    return type(left) is type(right) and bool(left == right)


def has_metadata(match: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """True if a match has at least these metadata."""
    held = metadata_of(match)
    return all(key in held and are_equal(held[key], value) for key, value in metadata.items())


def expect_metadata(
    found: Mapping[str, Mapping[str, Any]], items: Sequence[Item], claim: str = "the metadata as they were written"
) -> None:
    """Check that the found vectors have their metadata."""
    right = all(has_metadata(found[item["id"]], item["metadata"]) for item in items if item["id"] in found)
    expect.check(right, claim, "other metadata", "result.matches.vector.metadata")


def expect_only_match(sandbox: VectorSandbox, item: Item, top_k: int, operation: str = "query") -> None:
    """Check that a query for a vector finds this vector and nothing else."""
    if operation == "query":
        reply = sandbox.ask(item["vector"], top_k)
        expect.readable(reply)
        expect.assessable(not reply.is_a("IndexNotReady", "ResourceExhausted"), Obstacle.QUERY_ANSWERED, reply=reply)
        with expect.resting_on("VEC-QUERY-1"):
            found = sandbox.expect_own(matches_of(expect.success(reply, "a query to be answered")))
    else:
        found = sandbox.matches(item["vector"], top_k, by=operation)
    is_right = [*map(id_of, found)] == [item["id"]]
    expect.check(is_right, "the one vector that the query must find", "other matches, or none")


def items_with_value(vector: Vector, words: Mapping[str, str], key: str = "word") -> dict[str, Item]:
    """Return a vector for each word, with the word as the value of one key."""
    return {kind: vector.item(5 + 4 * number, {key: word}) for number, (kind, word) in enumerate(words.items())}


def items_with_words(vector: Vector, values: Mapping[str, str], keys: Mapping[str, str]) -> dict[str, Item]:
    """Return vectors with words in their metadata: some have `values` as values, the others have `keys` as keys."""
    held = [
        *((kinds, {f"word{n}": word for n, word in enumerate(some)}) for kinds, some in group_words(values).items()),
        *(
            (f"{kinds} key", {word: f"a{n}" for n, word in enumerate(some)})
            for kinds, some in group_words(keys).items()
        ),
    ]
    return {kinds: vector.item(5 + 4 * number, metadata) for number, (kinds, metadata) in enumerate(held)}


def items_with_ids(vector: Vector, words: Mapping[str, str]) -> dict[str, Item]:
    """Return a vector for each word, with the word in its id."""
    names = vocabulary.fill_in(words, vector.new_name("i"))
    return {
        kind: {**vector.item(3 + 4 * number, {"word": number}), "id": name}
        for number, (kind, name) in enumerate(names.items())
    }


def two_tenants(
    vector: Vector, *items: Item, claimed: bool = True, like: tuple[str, str] = ("", "letter_case")
) -> list[VectorSandbox]:
    """Return namespaces of the same name for two tenants; the first one has these vectors.

    Args:
        claimed: True if capabilities must claim isolation, False if they must not. NotApplicable is raised otherwise.
        like: the kinds of the tenants' names. An empty kind is a plain name. Plain names replace refused names (R139).
    """
    require_tenants(vector, claimed=claimed)
    name, tenant = vector.new_name("same"), new_tenant_context()["tenant"]
    similar = vocabulary.fill_in(vocabulary.SIMILAR, tenant)
    found: list[VectorSandbox] = []
    for kind, end in zip(like, "ab", strict=True):
        place = vector.offer_sandbox(name, tenant=similar[kind]) if kind else None
        found.append(place or vector.sandbox(tenant=f"{tenant}{end}", name=name))
    found[0].put(*items)
    return found


FAULTS: dict[str, tuple[str, Any]] = {
    "no_vector": ("vector", ...),
    "no_id": ("id", ...),
    "wrong_type": ("vector", "x"),
    "empty_id": ("id", ""),
    "empty_vector": ("vector", []),
    "wrong_component": ("vector", ["x"]),
    "wrong_metadata": ("metadata", "x"),
}
"""By kind of bad item: a field and its bad value. For each kind, an adapter may refuse the batch or report the item."""

KINDS = ("wrong_dimension", *FAULTS)

ENDS = (KINDS[0], *KINDS[1::2])
"""The kinds of bad items at the end of a batch; all other kinds are tried at its beginning."""


def faulty_item(vector: Vector, kind: str) -> dict[str, Any]:
    """Return an item that cannot be stored."""
    item = vector.item(85)
    if kind == "wrong_dimension":
        return {**item, "vector": [*item["vector"], 0.5]}
    key, value = FAULTS[kind]
    return {name: each for name, each in {**item, key: value}.items() if each is not ...}


@dataclass(frozen=True)
class MixedBatch:
    """A batch with bad items, its answer, and the stored content after it.

    Attributes:
        bad: the bad items by their index.
        before: a vector that was stored before the batch.
        found: the ids that are stored after the batch, according to the queries `shown_by`.
    """

    items: Sequence[Item]
    bad: Mapping[int, Item]
    before: Item
    reply: Reply
    found: Collection[str]
    shown_by: Sequence[Exchange]

    def expect_consistent(self) -> None:
        """Check that the batch was refused and wrote nothing, or was applied and reported every bad item."""
        expect.readable(self.reply)
        good = [item for at, item in enumerate(self.items) if at not in self.bad]
        kept = {item["id"] for item in (self.before, *(() if self.reply.is_error else good))}
        missing = len(kept.difference(self.found))
        is_refused = self.reply.is_error
        look_at(*self.shown_by)
        if is_refused:
            extra = sum(item.get("id") in self.found for item in self.items)
            expect.check(not extra, "no vector of a refused batch", f"{extra} vectors", "result.matches")
        expect.check(not missing, f"all of {len(kept)} vectors", f"{missing} missing", "result.matches")
        if is_refused:
            return
        result = self.reply.result
        expect_count(result, len(good))
        counted, listed = failed_count(result), len(failed_items(result))
        said = f"{counted} counted, {listed} listed"
        is_right = counted == len(self.bad) == listed
        expect.check(is_right, f"{len(self.bad)} failed items reported", said, "result.failures")


BAD: tuple[tuple[Mapping[int, str], ...], ...] = (
    *(tuple({at: kind} for kind in kinds) for at, kinds in enumerate((KINDS[::2], KINDS, ENDS))),
    ({1: "wrong_dimension", 3: "no_vector"}, {1: "empty_id", 3: "wrong_type"}),
)
"""Groups of batches with three or four items. Each mapping stands for a batch: the kinds of its bad items by index."""


@remembered
def mixed_batches(vector: Vector) -> list[list[MixedBatch]]:
    """Send the batches of `BAD` once in a run, then read what they stored; return the batches by group."""
    before, number = vector.item(1), 0
    sandbox, sent = vector.sandbox(before), []
    for group in BAD:
        batches = []
        for kinds in group if len(group[0]) == 1 or (vector.limits.most_in_batch or 4) >= 4 else ():
            wrong = {at: faulty_item(vector, kind) for at, kind in kinds.items()}
            items = []
            for at in range(len(kinds) + 2):
                number += 1  # separate directions: a low `max_top_k` would hide equal ones
                items.append(wrong.get(at) or vector.item(2 + 2 * number % 177))
            batches.append((items, wrong, sandbox.upsert(*items)))
        sent.append(batches)
    with reading_separately() as shown_by:
        found = sandbox.contents()
    return [
        [MixedBatch(items, wrong, before, reply, found, shown_by) for items, wrong, reply in batches]
        for batches in sent
    ]


RANDOM_VECTORS, RANDOM_QUERIES = 5, 3


@dataclass(frozen=True)
class Ranking:
    """One query and its matches; an approximate search may miss any vector (R113).

    Attributes:
        truth: the true quality of each vector by id; more is better.
        batched: the matches of the same query in a batch, or empty.
    """

    truth: Mapping[str, float]
    matches: list[Mapping[str, Any]]
    is_approximate: bool = False
    batched: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def goodness(self) -> list[float]:
        """The true quality of the matches, in the order of the answer."""
        return [self.truth[id_of(match)] for match in self.matches]

    @property
    def tolerance(self) -> float:
        """The largest difference of quality at which two vectors may be in either order."""
        return TOLERANCE * max(1.0, *map(abs, self.truth.values()))

    def expect_order(self) -> None:
        """Check that the matches are the best ones, best first. Vectors of nearly equal quality may be in any order."""
        goodness, path = self.goodness, "result.matches"
        for earlier, later in pairwise(goodness):
            ordered = later <= earlier + self.tolerance
            expect.check(ordered, "the best match first", "a better match after a worse match", path)
        left_out = [value for name, value in self.truth.items() if name not in map(id_of, self.matches)]
        if left_out and goodness and not self.is_approximate:
            best = max(left_out) <= goodness[-1] + self.tolerance
            expect.check(best, "the best of all vectors", "a better vector is missing", path)

    def expect_monotonic(self, key: str, sign: int) -> None:
        """Check that better matches have a higher number (sign 1) or a lower one (-1), if their quality differs."""
        numbers: list[Any] = [match.get(key) for match in self.matches]
        path = f"result.matches.{key}"
        expect.check(all(map(is_number, numbers)), "a number", "another value, or none", path)
        pairs = sorted(zip(self.goodness, numbers, strict=True), key=lambda pair: pair[0])
        claim = f"a {'higher' if sign > 0 else 'lower'} {key} of a better match"
        for (worse, low), (better, high) in pairwise(pairs):
            fits = sign * (high - low) >= -TOLERANCE * 1e-3 * max(1.0, abs(low))
            expect.check(
                better <= worse + self.tolerance or fits, claim, f"a {'lower' if sign > 0 else 'higher'} one", path
            )
        (worst, low), (top, high) = pairs[0], pairs[-1]
        differs = top <= worst + self.tolerance or sign * (high - low) > 0
        expect.check(differs, f"a different {key} for the best and the worst match", "the same number", path)


def rankings(vector: Vector, metric: str) -> list[Ranking]:
    """Send several queries once in a run, in a namespace with this metric; return the answers.

    Raises NotApplicable if no namespace is known to have the metric, NotAssessed if vectors have no direction.
    """
    return [Ranking(*row) for row in _ranked_queries(vector, metric)]


@remembered_by_all
def _ranked_queries(vector: Vector, metric: str) -> list[tuple[Any, ...]]:
    """Return the arguments of each `Ranking`."""
    spelled = vector.features.spell_metric(metric)
    vector.features.require_direction(metric)
    vector.shared.actions.done |= {RANKING, WRITING, READING}
    chance, dimensions = random.Random(vector.settings.seed), vector.dimensions
    stored = [direction(angle, dimensions, size) for angle, size in POLAR]
    stored += [random_vector(chance, dimensions) for _ in range(RANDOM_VECTORS)]
    items: list[dict[str, Any]] = [{"id": vector.new_name(), "vector": components} for components in stored]
    sandbox = vector.sandbox(*items, metric=spelled)
    queries = [direction(SEEN_FROM[0], dimensions, SEEN_FROM[1])]
    queries += (random_vector(chance, dimensions) for _ in range(RANDOM_QUERIES))
    in_batch = batch_matches(sandbox, queries, len(items)) if vector.works("batch_query") else {}
    found = []
    for number, query in enumerate([*queries, *(stored if vector.limits.is_approximate else ())]):
        truth = {item["id"]: GOODNESS[metric](query, item["vector"]) for item in items}
        matches = sandbox.matches(query, len(items))
        if not matches and vector.limits.is_approximate:
            continue
        if not matches:
            raise Violation("matches", "no matches", "result.matches")
        if any(id_of(match) not in truth for match in matches):
            raise NotAssessed(Obstacle.FOREIGN_MATCHES)
        found.append((truth, matches, vector.limits.is_approximate, in_batch.get(number, [])))
    if not found:
        raise Violation("matches of queries for stored vectors", "no matches", "result.matches")
    return found


def batch_matches(sandbox: VectorSandbox, queries: Sequence[Sequence[float]], top_k: int) -> dict[int, list[Any]]:
    """Send as many queries as fit into one batch; return their matches by index, or nothing if the batch fails."""
    limits = sandbox.vector.limits
    asked = [{"vector": [*query], "top_k": limits.cap_matches(top_k)} for query in queries]
    try:
        return dict(enumerate(sandbox.batch(*asked[: limits.most_in_batch])))
    except (Undecided, Violation):
        return {}


def random_vector(chance: random.Random, dimensions: int) -> list[float]:
    """Return a vector of random direction and length."""
    while True:
        components = [round(chance.uniform(-2, 2), 6) for _ in range(dimensions)]
        if sum(component * component for component in components) > 0.1:
            return components


def offer_sandboxes_in_turn(
    vector: Vector, wanted: Sequence[tuple[str, str | None, Item]]
) -> Iterator[list[tuple[VectorSandbox, Item]]]:
    """Yield one or two sandboxes at a time, each with its name, tenant and vector; leave refused ones out."""
    size = vector.features.count_namespaces_to_try()
    for start in range(0, len(wanted) if size else 0, size or 1):
        due = wanted[start : start + size]
        offers = ((vector.offer_sandbox(name, item, tenant=who), item) for name, who, item in due)
        held = [(place, item) for place, item in offers if place is not None]
        yield held
        for place, _ in held if vector.has_namespaces else ():
            vector.call("delete_namespace", {"namespace": place.name}, place.ctx)
