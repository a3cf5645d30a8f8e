"""The ways to search: exactly, or by one of the two approximate indexes of pgvector."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Index:
    """The statement that creates the index of a table, the settings of each session, and its part of `extensions`."""

    statement: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    extensions: Mapping[str, Any] = field(default_factory=dict)


# A filter is applied to the results of the index, so a query may find fewer vectors than pass the filter.
POST_FILTERING = "post-filtering: an index is searched first, and its results are filtered"

EXACT = Index()
HNSW = Index(
    "CREATE INDEX ON {table} USING hnsw (vector {operators})",
    {"hnsw.ef_search": "40", "enable_seqscan": "off"},  # the index is used for small tables, too
    {
        "pgvector:search": "approximate: HNSW with ef_search 40, the most vectors that a query finds",
        "pgvector:filters": POST_FILTERING,
    },
)
IVFFLAT = Index(
    "CREATE INDEX ON {table} USING ivfflat (vector {operators}) WITH (lists = 4)",
    {"ivfflat.probes": "1", "enable_seqscan": "off"},
    {"pgvector:search": "approximate: IVFFlat with one probe of four lists", "pgvector:filters": POST_FILTERING},
)
