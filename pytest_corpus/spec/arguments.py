"""Rules for the arguments of requests (`args`), which the schema of the envelope does not restrict.

Null always counts as absent, because edition 1.1.0 allows null for every optional key.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AtLeastOne:
    """The rule that at least one of `keys` is present; `source` is the document and section of the rule."""

    keys: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Within:
    """The rule that a number is from `low` to `high` (None: no upper limit); with `above`, it must exceed `low`."""

    key: str
    low: float
    high: float | None
    source: str
    above: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The rule that a value is one of a few strings. In a path, the key ``*`` means each item of an array."""

    path: tuple[str, ...]
    choices: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Numbers:
    """The rule that a value is an array of one or more finite numbers. `path` is written as in `Choice`."""

    path: tuple[str, ...]
    source: str


Rule = AtLeastOne | Within | Choice | Numbers

_FINITE = "SCHEMA 6.3, SPECIFICATION 4.1, 17.2"
_DELETE = "SPECIFICATION 9.2, R42"
_EMBED = "SPECIFICATION 10.3"


def _chat_rules(source: str) -> tuple[Rule, ...]:
    sampling = "SPECIFICATION 8.3"
    return (
        AtLeastOne(("messages", "prompt"), source),
        Choice(("messages", "*", "role"), ("system", "user", "assistant", "tool"), sampling),
        Within("temperature", 0, 2, "SCHEMA 6.3, SPECIFICATION 8.3"),
        Within("top_p", 0, 1, sampling, above=True),
        Within("frequency_penalty", -2, 2, sampling),
        Within("presence_penalty", -2, 2, sampling),
    )


RULES: dict[str, tuple[Rule, ...]] = {
    "llm.complete": _chat_rules("SCHEMA 6.3"),
    "llm.stream": _chat_rules("SPECIFICATION 8.3"),
    "llm.count_tokens": (AtLeastOne(("text",), "SPECIFICATION 8.3"),),
    "vector.query": (
        AtLeastOne(("vector", "text"), "SCHEMA 6.3"),
        Numbers(("vector",), _FINITE),
        Within("top_k", 0, None, "SPECIFICATION 9.3", above=True),
    ),
    "vector.batch_query": (Numbers(("queries", "*", "vector"), _FINITE),),
    "vector.upsert": (AtLeastOne(("vectors",), "SPECIFICATION 9.2"), Numbers(("vectors", "*", "vector"), _FINITE)),
    "vector.delete": (AtLeastOne(("ids", "filter"), _DELETE),),
    "embedding.embed": (AtLeastOne(("text",), _EMBED), AtLeastOne(("model",), _EMBED)),
    "embedding.embed_batch": (AtLeastOne(("texts",), _EMBED), AtLeastOne(("model",), _EMBED)),
    "embedding.count_tokens": (AtLeastOne(("text", "texts"), "SPECIFICATION 10.3, R40"),),
    "graph.query": (AtLeastOne(("text",), "SPECIFICATION 7.3.2"),),
    "graph.stream_query": (AtLeastOne(("text",), "SPECIFICATION 7.3.2"),),
    "graph.delete_nodes": (AtLeastOne(("ids", "filter"), "SPECIFICATION 7.3.1, R42"),),
    "graph.delete_edges": (AtLeastOne(("ids", "filter"), "SPECIFICATION 7.3.1, R42"),),
}
"""The rules for the arguments of each operation, in addition to its request schema (R42)."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A key that SCHEMA 6.3 accepts instead of a key that the request schema requires.

    The object at `path` (written as in `Choice`) has the required `key`, or `other` instead.
    """

    key: str
    other: str
    path: tuple[str, ...] = ()


ALTERNATIVES = {
    "llm.complete": Alternative("messages", "prompt"),
    "llm.stream": Alternative("messages", "prompt"),
    "vector.query": Alternative("vector", "text"),
    "vector.batch_query": Alternative("vector", "text", ("queries", "*")),
}
"""The alternatives by operation; those of `llm.stream` and `vector.batch_query` are analogous to SCHEMA 6.3."""
