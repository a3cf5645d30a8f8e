"""Facts in `capabilities`, and the keys that adapters use for them (SPECIFICATION 6.2, 8.4, B; R22).

A key may be at the top of the document or inside `features` or `limits`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

from pytest_corpus.spec.components import COMPONENTS

Kind = Literal["flag", "limit", "names", "text"]

SECTIONS = ("features", "limits")
"""Objects in which facts may be nested."""

READ_AFTER_WRITE, STRONG = ("readafterwrite",), "strong"
"""Words in the key that states when a write becomes visible, and the value for the strongest promise (B; R46)."""

POST_FILTERING = re.compile(r"\bpost ?filter|\bfilter\w*\b.*\b(post|after|afterwards)\b|\bpost\b.*\bfilter")
"""Matches a key or value, in lower-case words, which says that filters are applied after the search (R47)."""

APPROXIMATE_SEARCH = re.compile(r"approximat|hnsw|ivf|diskann|\brecall|\b(anns?|lsh|scann|vamana)\b")
"""Matches a key or value, in lower-case words, which says that the search is approximate (R113)."""

LOWER_PRECISION = re.compile(r"\b(half|quanti[sz]\w*|b?fp?(8|16)|b?float ?(8|16)|u?int ?8|(8|16) ?bits?|pq|sq8?)\b")
"""Matches a key or value, in lower-case words, which says that vectors have less than 32 bits per component (R128)."""

ROUNDED_NUMBERS = re.compile(r"\b(float|fp) ?32\b|\b32 ?bits?\b|\bsingle precision\b|\b\d+ (\w+ )?digits\b")
"""Matches a key or value, in lower-case words, which says that numbers have less precision than a double (R128)."""

DEFAULT_METRIC = ("metric", "default")
"""The key that states the default metric of namespaces contains these words (SPECIFICATION B)."""

SAMPLING_RANGES = {name: f"{name}_range" for name in ("temperature", "top_p", "frequency_penalty", "presence_penalty")}
"""For each sampling parameter, the key of its range in `sampling` (SPECIFICATION 8.4 has the first two; R117)."""

RANGED = ("LLM-CAP-2", "LLM-SAMPLING-6", "LLM-SAMPLING-10")
"""The requirements that depend on `SAMPLING_RANGES`."""

REQUIRED = ("server", "version", "protocol")
"""Keys that every capabilities result carries (SPECIFICATION 6.2; R22)."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A capability: its name in the suite, the kind of its value, and all documented spellings of its key."""

    name: str
    kind: Kind
    keys: tuple[str, ...]
    components: tuple[str, ...] = COMPONENTS


_TABLE = """
flag: supports_deadline supports_multi_tenant idempotent_writes supports_caching
flag llm embedding: supports_streaming
flag llm: supports_roles supports_system_message supports_json_output supports_tools
flag llm: supports_parallel_tool_calls supports_tool_choice supports_count_tokens
limit llm: max_context_length max_tool_calls_per_turn
flag vector graph: supports_namespaces supports_pagination
flag vector: supports_index_management supports_filters/supports_metadata_filtering
flag vector: supports_batch_operations supports_batch_queries
limit vector: dimension max_top_k max_filter_terms
limit vector embedding: max_dimensions max_text_length
limit vector embedding graph: max_batch_size/max_batch
flag embedding: supports_normalization normalizes_at_source supports_truncation
flag embedding: supports_token_counting supports_batch_embedding
names graph: dialects/supported_query_dialects
flag graph: supports_streaming/supports_stream_query supports_property_filters supports_bulk_ops/supports_bulk_vertices
flag graph: supports_batch supports_schema_ops/supports_schema supports_txn/supports_transaction
flag graph: supports_traversal supports_path_queries
limit vector embedding graph: max_batch_ops
limit graph: max_traversal_depth max_query_length
limit: rate_limit_qps/max_qps concurrency
"""
"""Each line: the kind, the components (default: all), and the names of facts; other spellings follow after a slash."""


def _read_facts(table: str) -> Iterator[Fact]:
    for row in table.strip().splitlines():
        (kind, *components), names = (part.split() for part in row.split(":"))
        for keys in (tuple(name.split("/")) for name in names):
            yield Fact(keys[0], cast(Kind, kind), keys, tuple(components) or COMPONENTS)


FACTS = (
    *(Fact(name, "text", (name,)) for name in REQUIRED),
    Fact("models", "names", ("supported_models",), ("llm", "embedding")),
    Fact("metrics", "names", ("supported_metrics",), ("vector",)),
    *_read_facts(_TABLE),
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
"""Every documented key of capabilities, for any component (SPECIFICATION 6.2, 7.2, 8.4, 10.2, B). It includes keys
of the published wire (R42), keys that any result may have (R56), and the number of namespaces (R115)."""


def find_fact(component: str, name: str) -> Fact:
    """Return the fact of a component with this name. Raises KeyError if it is not documented."""
    for candidate in FACTS:
        if candidate.name == name and component in candidate.components:
            return candidate
    raise KeyError(f"{component} has no capability fact {name!r}")
