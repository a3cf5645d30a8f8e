"""Facts that `capabilities` may state, and where adapters spell them (SPECIFICATION 6.2, 8.4, B; R22).

A fact is looked for under each of its keys, at the top of the document and inside `features` and `limits`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_corpus.spec.components import COMPONENTS

Kind = Literal["flag", "limit", "names", "text"]

SECTIONS = ("features", "limits")
"""Objects in which facts may be nested."""

READ_AFTER_WRITE, STRONG = ("readafterwrite",), "strong"
"""Words of a key that speaks of the consistency of reads after writes, and the value that promises most (B; R46)."""

POST_FILTERING = re.compile(r"\bpost ?filter|\bfilter\w*\b.*\b(post|after|afterwards)\b|\bpost\b.*\bfilter")
"""A key or value that speaks of filters after the search (R47), in lower-case words."""

APPROXIMATE_SEARCH = re.compile(r"approximat|hnsw|ivf|diskann|\brecall|\b(anns?|lsh|scann|vamana)\b")
"""A key or value that speaks of an approximate search (R113), in lower-case words."""

DEFAULT_METRIC = ("metric", "default")
"""Words of a key that names the metric of a namespace for which none is given (B)."""

SAMPLING_RANGES = {name: f"{name}_range" for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty")}
"""By sampling parameter the key of `sampling` with the lowest and the highest value that an LLM takes (8.4, which names
the first two; R117)."""

RANGED = ("LLM-CAP-2", "LLM-SAMPLING-6", "LLM-SAMPLING-10")
"""The requirements that rest on these ranges."""

REQUIRED = ("server", "version", "protocol")
"""Keys that every capabilities result carries (SPECIFICATION 6.2; R22)."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One capability: `name` is what the suite calls it, `keys` every documented spelling."""

    name: str
    kind: Kind
    keys: tuple[str, ...]
    components: tuple[str, ...] = COMPONENTS


def _flag(name: str, *components: str, also: tuple[str, ...] = ()) -> Fact:
    return Fact(name, "flag", (name, *also), components or COMPONENTS)


def _flags(component: str, names: str) -> Iterator[Fact]:
    return (_flag(name, component) for name in names.split())


FACTS = (
    *(Fact(name, "text", (name,)) for name in REQUIRED),
    _flag("supports_deadline"),
    _flag("supports_multi_tenant"),
    _flag("idempotent_writes"),
    _flag("supports_caching", "llm", "vector", "embedding", "graph"),
    _flag("supports_streaming", "llm", "embedding"),
    _flag("supports_streaming", "graph", also=("supports_stream_query",)),
    *_flags("llm", "supports_roles supports_system_message supports_json_output supports_tools"),
    *_flags("llm", "supports_parallel_tool_calls supports_tool_choice supports_count_tokens"),
    Fact("max_context_length", "limit", ("max_context_length",), ("llm",)),
    Fact("max_tool_calls_per_turn", "limit", ("max_tool_calls_per_turn",), ("llm",)),
    Fact("models", "names", ("supported_models",), ("llm", "embedding")),
    _flag("supports_namespaces", "vector", "graph"),
    _flag("supports_index_management", "vector"),
    _flag("supports_filters", "vector", also=("supports_metadata_filtering",)),
    *_flags("vector", "supports_batch_operations supports_batch_queries"),
    _flag("supports_pagination", "vector", "graph"),
    Fact("metrics", "names", ("supported_metrics",), ("vector",)),
    Fact("dimension", "limit", ("dimension",), ("vector",)),
    Fact("max_dimensions", "limit", ("max_dimensions",), ("vector", "embedding")),
    Fact("max_batch_size", "limit", ("max_batch_size", "max_batch"), ("vector", "embedding")),
    Fact("max_top_k", "limit", ("max_top_k",), ("vector",)),
    Fact("max_filter_terms", "limit", ("max_filter_terms",), ("vector",)),
    Fact("max_text_length", "limit", ("max_text_length",), ("vector", "embedding")),
    *_flags("embedding", "supports_normalization normalizes_at_source supports_truncation"),
    *_flags("embedding", "supports_token_counting supports_batch_embedding"),
    Fact("dialects", "names", ("dialects", "supported_query_dialects"), ("graph",)),
    _flag("supports_property_filters", "graph"),
    _flag("supports_bulk_ops", "graph", also=("supports_bulk_vertices",)),
    _flag("supports_batch", "graph"),
    _flag("supports_schema_ops", "graph", also=("supports_schema",)),
    _flag("supports_txn", "graph", also=("supports_transaction",)),
    _flag("supports_traversal", "graph"),
    _flag("supports_path_queries", "graph"),
    Fact("max_batch_ops", "limit", ("max_batch_ops",), ("vector", "graph")),
    Fact("max_traversal_depth", "limit", ("max_traversal_depth",), ("graph",)),
    Fact("max_query_length", "limit", ("max_query_length",), ("graph",)),
    Fact("rate_limit_qps", "limit", ("rate_limit_qps", "max_qps")),
    Fact("concurrency", "limit", ("concurrency",)),
)


KEYS = frozenset(
    {
        *SECTIONS,
        *(key for fact in FACTS for key in fact.keys),
        *("cache", "extensions", "models", "sampling"),
        *("retryable_codes", "rate_limit_unit", "max_namespaces"),
        *("model_family", "text_storage_strategy", "truncation_mode"),
        *("schema_version", "provider_specific", "experimental_features"),
    }
)
"""Every key of capabilities that a document names for any component (SPECIFICATION 6.2, 7.2, 8.4, 10.2, B),
with those of the published wire (R42), those that any result may have (R56), and the number of namespaces (R115)."""


def fact(component: str, name: str) -> Fact:
    """The fact `name` of a component. Raises KeyError if no such fact is documented for the component."""
    for candidate in FACTS:
        if candidate.name == name and component in candidate.components:
            return candidate
    raise KeyError(f"{component} has no capability fact {name!r}")
