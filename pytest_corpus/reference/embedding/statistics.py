"""Counters of what an adapter has done since it was made; they hold numbers and no content."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass(slots=True)
class Statistics:
    """What `embedding.get_stats` tells."""

    total_requests: int = 0
    total_texts: int = 0
    total_tokens: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    error_count: int = 0
    total_processing_time_ms: float = 0.0

    def add_request(self, ms: float, *, ok: bool) -> None:
        self.total_requests += 1
        self.error_count += not ok
        self.total_processing_time_ms += ms

    def add_text(self, tokens: int) -> None:
        self.total_texts += 1
        self.total_tokens += tokens

    def add_lookup(self, *, hit: bool) -> None:
        self.cache_hits += hit
        self.cache_misses += not hit

    def report(self) -> dict[str, float]:
        average = self.total_processing_time_ms / max(self.total_requests, 1)
        return {**asdict(self), "avg_processing_time_ms": average}
