"""Probe queries: the queries that the suite sends to graphs, in each known query language (SPECIFICATION 7.4; R33).

Each purpose has several spellings of one query, the most usual first; the suite uses the first one that an adapter
accepts. The queries ask for nodes of the label `CorpusNode` with the properties `corpus_key`, `corpus_group`,
`corpus_rank` and `corpus_value`, and for edges of the label `CORPUS_LINK`; parameters are `wanted`, `group` and
`wanted_rank`. In the records of an answer, only the values of `corpus_value` matter; their keys may have any name.

A user overrides or adds a language with a JSON file, ``--corpus-dialects=FILE``: `{language: {purpose: text}}`. A list
of texts may stand in place of one text.
"""

from collections.abc import Mapping
from dataclasses import dataclass

NODE_LABEL = "CorpusNode"
EDGE_LABEL = "CORPUS_LINK"

PURPOSES = {
    "find": "the node whose corpus_key is the parameter `wanted`",
    "group": "all nodes whose corpus_group is the parameter `group`",
    "typed": "the node whose corpus_key is `wanted` and whose corpus_rank is the parameter `wanted_rank`",
    "ordered": "all nodes of `group`, the lowest corpus_rank first",
    "links": "the target nodes of CORPUS_LINK edges from the node whose corpus_key is `wanted`, one record per edge",
    "link_values": "the corpus_value of the CORPUS_LINK edges that lead from the node whose corpus_key is `wanted`",
    "paths": "the paths along CORPUS_LINK edges from the node whose corpus_key is `wanted`; only if they are claimed",
    "literal": "as `find`, with {literal} in the quotes of the language in place of the parameter",
    "broken": "a text that is not a query of the language",
    "rare": "queries that not every engine of the language supports; they change nothing",
    "create_index": "creates an index of the corpus_rank of nodes if it is missing; only sent if DDL is claimed",
    "drop_index": "drops that index if it exists; only sent if DDL is claimed",
}
"""The meaning of each probe query."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The probe queries of one language.

    Attributes:
        spellings: the spellings of the query for each purpose.
        certain: True if an adapter of this language must accept one of the spellings. If False, an adapter that accepts
            no spelling is not assessed, but it violates a requirement if it refuses `plain` too.
        plain: a query that every adapter of the language accepts.
        supplied: the purposes whose spellings come from the user.
    """

    name: str
    spellings: Mapping[str, tuple[str, ...]]
    certain: bool = True
    plain: str = ""
    supplied: frozenset[str] = frozenset()


_NODE = f"(n:{NODE_LABEL} {{corpus_key: $wanted}})"
_GROUP = f"(n:{NODE_LABEL} {{corpus_group: $group}})"
_RANKED = f"(n:{NODE_LABEL} {{corpus_key: $wanted, corpus_rank: $wanted_rank}})"
_LINK = f"(a:{NODE_LABEL} {{corpus_key: $wanted}})-[r:{EDGE_LABEL}]->(n:{NODE_LABEL})"
_WAY = f"(a:{NODE_LABEL})-[r:{EDGE_LABEL}]->(n:{NODE_LABEL})"
_FOUND = "RETURN n.corpus_value AS found"

_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "find": (
        f"MATCH {_NODE} {_FOUND}",
        f"MATCH (n:{NODE_LABEL}) WHERE n.corpus_key = $wanted {_FOUND}",
        f"MATCH (n) WHERE n.corpus_key = $wanted {_FOUND}",
        f"MATCH {_NODE} RETURN n",
    ),
    "group": (
        f"MATCH {_GROUP} {_FOUND}",
        f"MATCH (n:{NODE_LABEL}) WHERE n.corpus_group = $group {_FOUND}",
        f"MATCH (n) WHERE n.corpus_group = $group {_FOUND}",
        f"MATCH {_GROUP} RETURN n",
    ),
    "typed": (
        f"MATCH {_RANKED} {_FOUND}",
        f"MATCH (n:{NODE_LABEL}) WHERE n.corpus_key = $wanted AND n.corpus_rank = $wanted_rank {_FOUND}",
        f"MATCH {_RANKED} RETURN n",
    ),
    "ordered": (
        f"MATCH {_GROUP} {_FOUND} ORDER BY n.corpus_rank",
        f"MATCH {_GROUP} RETURN n.corpus_value AS found, n.corpus_rank AS place ORDER BY place",
    ),
    "links": (  # a database may only check that an edge exists if its result does not name it (R142)
        f"MATCH {_LINK} {_FOUND}, id(r) AS edge",
        f"MATCH {_LINK} {_FOUND}, elementId(r) AS edge",
        f"MATCH {_LINK} {_FOUND}, element_id(r) AS edge",
        f"MATCH {_LINK} {_FOUND}",
        f"MATCH {_WAY} WHERE a.corpus_key = $wanted {_FOUND}",
        f"MATCH {_LINK} RETURN n",
    ),
    "link_values": (
        f"MATCH {_LINK} RETURN r.corpus_value AS found",
        f"MATCH {_WAY} WHERE a.corpus_key = $wanted RETURN r.corpus_value AS found",
        f"MATCH {_LINK} RETURN r",
    ),
    "paths": (
        f"MATCH p = {_LINK} RETURN p",
        f"MATCH p = (a)-[r:{EDGE_LABEL}]->(n) WHERE a.corpus_key = $wanted RETURN p",
    ),
    "literal": (
        f"MATCH (n:{NODE_LABEL} {{corpus_key: '{{literal}}'}}) {_FOUND}",
        f"MATCH (n:{NODE_LABEL}) WHERE n.corpus_key = '{{literal}}' {_FOUND}",
    ),
    "broken": (
        "MATCH ((n RETURN n.corpus_value AS",
        "MATCH (n:CorpusNone RETURN n",
        "MATCH (n:CorpusNone) WHERE n.corpus_value = RETURN n",
        "MATCH (n:CorpusNone) RETURN n ? # !",
        "RETURN RETURN )",
        "This is not a query at all (((",
    ),
    "rare": (
        "OPTIONAL MATCH (n:CorpusNone) RETURN n.corpus_value AS found",
        "MATCH (n:CorpusNone) WITH n.corpus_value AS found RETURN found",
        "MATCH (n:CorpusNone)-[*1..2]->(m:CorpusNone) RETURN m.corpus_value AS found",
        "MATCH (n:CorpusNone) RETURN collect(n.corpus_value) AS found",
        "MATCH (n:CorpusNone) RETURN count(n) AS found",
        "MATCH (n:CorpusNone) RETURN n.corpus_value AS found ORDER BY found DESC SKIP 1 LIMIT 2",
        "MATCH (n:CorpusNone) WHERE n.corpus_value = 'it\\'s' OR n.corpus_value IS NULL RETURN n.corpus_value AS found",
        "UNWIND [1, 2] AS one RETURN toString(one) AS found",
        "MATCH (n:CorpusNone) WHERE n.corpus_value STARTS WITH 'a' RETURN n.corpus_value AS found",
    ),
    "create_index": (
        f"CREATE INDEX corpus_rank_index IF NOT EXISTS FOR (n:{NODE_LABEL}) ON (n.corpus_rank)",
        f"CREATE INDEX corpus_rank_index FOR (n:{NODE_LABEL}) ON (n.corpus_rank)",
        f"CREATE INDEX ON :{NODE_LABEL}(corpus_rank)",
    ),
    "drop_index": (
        "DROP INDEX corpus_rank_index IF EXISTS",
        "DROP INDEX corpus_rank_index",
        f"DROP INDEX ON :{NODE_LABEL}(corpus_rank)",
    ),
}


def _node_traversals(has: str, then: str = "") -> tuple[str, ...]:
    """Return three traversals from the nodes that `has` selects; each returns values of nodes in another form."""
    start = f"g.V().hasLabel('{NODE_LABEL}').{has}{then}"
    return tuple(
        f"{start}.{end}"
        for end in ("project('found').by('corpus_value')", "valueMap('corpus_value')", "values('corpus_value')")
    )


def _node_queries(key: str, value: str) -> tuple[str, ...]:
    plain, labelled = f"g.V().has('{key}', {value})", f"g.V().has('{NODE_LABEL}', '{key}', {value})"
    ends = (".values('corpus_value')", ".valueMap()", "")
    return (*_node_traversals(f"has('{key}', {value})"), f"{labelled}{ends[0]}", *(f"{plain}{end}" for end in ends))


def _link_queries(step: str) -> tuple[str, ...]:
    """Return traversals along the edges of the wanted node."""
    way = f".{step}"
    return (*_node_traversals(_KEY, way), f"g.V().{_KEY}{way}.values('corpus_value')", f"g.V().{_KEY}{way}")


_KEY = "has('corpus_key', wanted)"

_GREMLIN: Mapping[str, tuple[str, ...]] = {
    "find": _node_queries("corpus_key", "wanted"),
    "group": _node_queries("corpus_group", "group"),
    "typed": (
        *_node_traversals(f"{_KEY}.has('corpus_rank', wanted_rank)"),
        f"g.V().{_KEY}.has('corpus_rank', wanted_rank)",
    ),
    "ordered": _node_traversals("has('corpus_group', group)", ".order().by('corpus_rank')"),
    "links": (*_link_queries(f"outE('{EDGE_LABEL}').inV()"), *_link_queries(f"out('{EDGE_LABEL}')")),
    "link_values": _link_queries(f"outE('{EDGE_LABEL}')"),
    "paths": (f"g.V().{_KEY}.out('{EDGE_LABEL}').path()",),
    "literal": (
        *_node_traversals("has('corpus_key', '{literal}')"),
        "g.V().has('corpus_key', '{literal}').values('corpus_value')",
        "g.V().has('corpus_key', '{literal}')",
    ),
    "rare": tuple(
        f"g.V().hasLabel('CorpusNone').{end}"
        for end in (
            "groupCount()",
            "out().path()",
            "repeat(__.out()).times(2)",
            "where(__.out())",
            "values().fold()",
            "count()",
            "order().by('corpus_value', desc).range(0, 1)",
            "elementMap()",
            "has('corpus_value', 'it\\'s').dedup()",
        )
    ),
    "broken": (
        "g.V(.has((",
        "g.V().hasLabel('CorpusNone') ? # !",
        "g.V().has('corpus_key'",
        "This is not a query at all (((",
    ),
}

DIALECTS: Mapping[str, Dialect] = {
    **{name: Dialect(name, _PATTERNS) for name in ("cypher", "opencypher", "gql")},
    "gremlin": Dialect("gremlin", _GREMLIN, certain=False, plain="g.V().limit(1)"),
}
"""The languages of SPECIFICATION 7.4."""


def with_overrides(given: object) -> Mapping[str, Dialect]:
    """Return the languages of the table, replaced or extended by the user's languages.

    In a known language, only the given purposes change.

    Raises:
        ValueError: `given` is not an object of languages, purposes and texts.
    """
    if not isinstance(given, Mapping):
        raise ValueError("it must hold an object from dialect to probe queries")
    table = dict(DIALECTS)
    for name, queries in given.items():
        if not isinstance(queries, Mapping):
            raise ValueError(f"the probe queries of {name!r} must be an object from purpose to text")
        known = table.get(str(name).lower())
        spellings = dict(known.spellings) if known else {}
        for purpose, texts in queries.items():
            if purpose not in PURPOSES:
                raise ValueError(f"{name!r} has the unknown purpose {purpose!r}; use {', '.join(PURPOSES)}")
            listed = [texts] if isinstance(texts, str) else texts
            if not isinstance(listed, list) or not listed or not all(isinstance(text, str) for text in listed):
                raise ValueError(f"{purpose!r} of {name!r} must be a text or a list of texts")
            spellings[purpose] = tuple(listed)
        table[str(name).lower()] = Dialect(str(name).lower(), spellings, supplied=frozenset(queries))
    return table
