"""Nodes and edges with words that are not tame: written as far as they are taken (R138, R139)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_corpus.adapter.facts import whole
from pytest_corpus.kit import expect, vocabulary
from pytest_corpus.kit.reply import error_names
from pytest_corpus.kit.vocabulary import INJECTIONS, RESERVED, WORDS
from pytest_corpus.spec.errors import PERMANENT, is_a
from pytest_corpus.suites.graph.support.answers import failures
from pytest_corpus.suites.graph.support.place import value_of
from pytest_corpus.suites.graph.support.sandbox import Sandbox

Item = Mapping[str, Any]

LABELS = (
    "single_quote",
    "backtick",
    "mixed_case",
    "inner_blanks",
    "leading_blank",
    "digits_first",
    "separators",
    "both_forms",
)
"""The kinds of labels of each run."""

LARGE = 2**53
"""The last integer that a double tells from the next one."""

MOST_LABELS, FEW_LABELS = 11, 3
"""The number of words, and of reserved words, that are labels in a run."""


def offer(sandbox: Sandbox, kind: str, items: Mapping[str, Item]) -> dict[str, Item]:
    """Upsert `nodes` or `edges` whose words may be refused permanently, by their kinds; those that are taken."""
    most = sandbox.graph.at_once
    found: dict[str, Item] = {}
    for start in range(0, len(items), most):
        found |= vocabulary.find_taken(dict([*items.items()][start : start + most]), partial(_taken, sandbox, kind))
    return found


def _taken(sandbox: Sandbox, kind: str, items: Sequence[Item]) -> list[Item] | None:
    """Upsert at once, and return what is stored by the adapter's own report; None if all is refused."""
    reply = sandbox.call(f"upsert_{kind}", {kind: [*items]})
    if not expect.either(reply, *PERMANENT):
        return None
    failed = failures(reply.result)
    names = [name for failure in failed for name in error_names(failure)]
    permanent = all(any(is_a(name, family) for family in PERMANENT) for name in names)
    expect.check(permanent, "a failure of a word to be permanent", ", ".join(names), "result.failures")
    lost = {index for failure in failed if (index := whole(failure.get("index"))) is not None}
    lost = lost or {at for at, item in enumerate(items) for each in failed if each.get("id") == item["id"]}
    return None if len(lost) < len(failed) else [item for at, item in enumerate(items) if at not in lost]


def put_with_words(
    sandbox: Sandbox, kind: str, made: Callable[[str], Mapping[str, Item]]
) -> tuple[str, Mapping[str, Item]]:
    """Write `nodes` or `edges` that have a text of many words, or of fewer, or none; the text that is taken (R138).

    Args:
        made: the items with a text, which may be empty.
    """
    for text in vocabulary.held_texts("w"):
        items = made(text)
        if len(offer(sandbox, kind, items)) == len(items):
            return text, items
    plain = made("")
    (sandbox.put if kind == "nodes" else sandbox.link)(*plain.values())
    return "", plain


def injected(victim: str) -> dict[str, str]:
    """Labels that delete a node where they are written into the text of a query: the one with this `corpus_key`."""
    delete = f"MATCH (v {{corpus_key: '{victim}'}}) DETACH DELETE v //"
    return {
        "with": f"A WITH n {delete}",
        "backtick": f"A`) WITH 1 AS x {delete}",
        "brackets": f"A) WITH 1 AS x {delete}",
    }


def with_labels(sandbox: Sandbox, victim: str) -> dict[str, Item]:
    """A node for each word, which is its label; not all words in each run, for some stores make a table of a label."""
    words = {**vocabulary.choose(WORDS, MOST_LABELS, LABELS), **INJECTIONS, **vocabulary.choose(RESERVED, FEW_LABELS)}
    labels = vocabulary.fill_in(words, "L") | injected(sandbox.key(victim))
    return {
        kind: {**sandbox.node(f"l{number}"), "labels": [label]} for number, (kind, label) in enumerate(labels.items())
    }


def with_ids(sandbox: Sandbox, words: Mapping[str, str]) -> dict[str, Item]:
    """A node for each word, which is in its id."""
    ids = vocabulary.fill_in(words, sandbox.id("i"))
    return {kind: {**sandbox.node(f"i{number}"), "id": name} for number, (kind, name) in enumerate(ids.items())}


def properties() -> dict[str, dict[str, str]]:
    """Properties with some words each, as values or as keys."""
    values = vocabulary.group_words(vocabulary.fill_in({**WORDS, **INJECTIONS}, "w"))
    keys = vocabulary.group_words(vocabulary.fill_in({**WORDS, **INJECTIONS, **RESERVED}, "w"))
    return {
        **{kinds: {f"corpus_word{n}": word for n, word in enumerate(some)} for kinds, some in values.items()},
        **{f"{kinds} key": {word: f"a{n}" for n, word in enumerate(some)} for kinds, some in keys.items()},
    }


def with_properties(sandbox: Sandbox) -> dict[str, Item]:
    """Nodes with words as values of properties, or as their keys."""
    return {kinds: sandbox.node(f"p{number}", **held) for number, (kinds, held) in enumerate(properties().items())}


def put_kinds(sandbox: Sandbox) -> tuple[str, str]:
    """Write the nodes `a` and `b` of a kind, and `c` of another one; these kinds are not tame, if that is taken (R138).

    They differ in their sizes, and in `corpus_true`.
    """
    given: dict[str, tuple[int, dict[str, Any]]] = {
        "a": (0, {"corpus_size": LARGE + 1, "corpus_true": True}),
        "b": (0, {"corpus_size": LARGE, "corpus_true": False}),
        "c": (1, {"corpus_size": LARGE + 1}),
    }

    def kinds(text: str) -> tuple[str, str]:
        return f"x{text}", vocabulary.INJECTIONS["condition"] if text else "y"

    def of_kinds(text: str) -> dict[str, Item]:
        return {name: sandbox.node(name, corpus_kind=kinds(text)[at], **more) for name, (at, more) in given.items()}

    return kinds(put_with_words(sandbox, "nodes", of_kinds)[0])


def places(home: Sandbox, names: Sequence[str], *, by: str) -> list[tuple[Sandbox, list[str]]]:
    """Places of other namespaces, or tenants, of these names, each with a node; those whose names are taken."""
    found = []
    for name in names:
        given = {"namespace": name, "tenant": home.tenant} if by == "namespaces" else {"tenant": name}
        place = home.like(**{"namespace": home.namespace, **given})
        taken = offer(place, "nodes", {"": place.node("a")})
        found += [(place, [value_of(node)]) for node in taken.values()]
    return found
