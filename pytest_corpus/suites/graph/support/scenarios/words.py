"""Writes nodes and edges with unusual words, as far as the adapter accepts them (R138, R139)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_corpus.kit import vocabulary
from pytest_corpus.kit.store.results import write_accepted_items
from pytest_corpus.kit.vocabulary import INJECTIONS, RESERVED, WORDS
from pytest_corpus.suites.graph.support.node_group import value_of
from pytest_corpus.suites.graph.support.sandbox import GraphSandbox

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
"""The first integer whose successor a double cannot represent."""

MOST_LABELS, FEW_LABELS = 11, 3
"""The number of unusual words, and the number of reserved words, that are labels in a run."""


def offer_items(sandbox: GraphSandbox, kind: str, items: Mapping[str, Item]) -> dict[str, Item]:
    """Upsert `nodes` or `edges` with words that may be refused permanently (R138); return the accepted items."""
    return write_accepted_items(
        items, sandbox.graph.items_per_request, lambda part: sandbox.call(f"upsert_{kind}", {kind: [*part]})
    )


def put_with_words(
    sandbox: GraphSandbox, kind: str, make_items: Callable[[str], Mapping[str, Item]]
) -> tuple[str, Mapping[str, Item]]:
    """Write `nodes` or `edges` with a text of unusual words, as many as are accepted (R138); return text and items.

    Args:
        make_items: returns the items for a text. The text may be empty.
    """
    for text in vocabulary.refusable_texts("w"):
        items = make_items(text)
        if len(offer_items(sandbox, kind, items)) == len(items):
            return text, items
    plain = make_items("")
    (sandbox.put if kind == "nodes" else sandbox.put_edges)(*plain.values())
    return "", plain


def injections(victim: str) -> dict[str, str]:
    """Return labels that delete the node with this `corpus_key` if an adapter writes them into a query's text."""
    delete = f"MATCH (v {{corpus_key: '{victim}'}}) DETACH DELETE v //"
    return {
        "with": f"A WITH n {delete}",
        "backtick": f"A`) WITH 1 AS x {delete}",
        "brackets": f"A) WITH 1 AS x {delete}",
    }


def nodes_with_labels(sandbox: GraphSandbox, victim: str) -> dict[str, Item]:
    """Return nodes whose labels are unusual words. They are few, because a store may create a table for each label."""
    words = {**vocabulary.choose(WORDS, MOST_LABELS, LABELS), **INJECTIONS, **vocabulary.choose(RESERVED, FEW_LABELS)}
    labels = vocabulary.fill_in(words, "L") | injections(sandbox.key(victim))
    return {
        kind: {**sandbox.node(f"l{number}"), "labels": [label]} for number, (kind, label) in enumerate(labels.items())
    }


def nodes_with_ids(sandbox: GraphSandbox, words: Mapping[str, str]) -> dict[str, Item]:
    """Return a node for each word, with the word in its id."""
    ids = vocabulary.fill_in(words, sandbox.id("i"))
    return {kind: {**sandbox.node(f"i{number}"), "id": name} for number, (kind, name) in enumerate(ids.items())}


def word_properties() -> dict[str, dict[str, str]]:
    """Return groups of properties. In some groups the values are unusual words, in others the keys are."""
    values = vocabulary.group_words(vocabulary.fill_in({**WORDS, **INJECTIONS}, "w"))
    keys = vocabulary.group_words(vocabulary.fill_in({**WORDS, **INJECTIONS, **RESERVED}, "w"))
    return {
        **{kinds: {f"corpus_word{n}": word for n, word in enumerate(some)} for kinds, some in values.items()},
        **{f"{kinds} key": {word: f"a{n}" for n, word in enumerate(some)} for kinds, some in keys.items()},
    }


def changed_properties(sandbox: GraphSandbox) -> list[str]:
    """Write nodes with the texts of `word_properties`; return the kinds that are accepted, but listed with changes."""
    nodes = {kinds: sandbox.node(f"p{n}", **held) for n, (kinds, held) in enumerate(word_properties().items())}
    taken = offer_items(sandbox, "nodes", nodes)
    shown = {node.get("id"): node["properties"] for node in sandbox.list_nodes()}
    return [
        kinds
        for kinds, node in taken.items()
        if any(shown.get(node["id"], {}).get(key) != value for key, value in node["properties"].items())
    ]


def put_nodes_of_two_kinds(sandbox: GraphSandbox) -> tuple[str, str]:
    """Write the nodes `a` and `b` of one kind and `c` of another; return both kinds.

    The kinds are unusual words, if these are accepted (R138). The nodes differ in `corpus_size` and in `corpus_true`.
    """
    given: dict[str, tuple[int, dict[str, Any]]] = {
        "a": (0, {"corpus_size": LARGE + 1, "corpus_true": True}),
        "b": (0, {"corpus_size": LARGE, "corpus_true": False}),
        "c": (1, {"corpus_size": LARGE + 1}),
    }

    def kinds(text: str) -> tuple[str, str]:
        return f"x{text}", vocabulary.INJECTIONS["condition"] if text else "y"

    def build_nodes(text: str) -> dict[str, Item]:
        return {name: sandbox.node(name, corpus_kind=kinds(text)[at], **more) for name, (at, more) in given.items()}

    return kinds(put_with_words(sandbox, "nodes", build_nodes)[0])


def sandboxes_elsewhere(home: GraphSandbox, names: Sequence[str], *, by: str) -> list[tuple[GraphSandbox, list[str]]]:
    """Return sandboxes in other namespaces, or of other tenants, each with a node; refused names are left out."""
    found = []
    for name in names:
        given = {"namespace": name, "tenant": home.tenant} if by == "namespaces" else {"tenant": name}
        place = home.copy_to(**{"namespace": home.namespace, **given})
        taken = offer_items(place, "nodes", {"": place.node("a")})
        found += [(place, [value_of(node)]) for node in taken.values()]
    return found
