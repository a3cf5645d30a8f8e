"""Counters of an adapter's work since it was created; they contain numbers and no content."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pytest_corpus.reference.embedding.arguments import Job
from pytest_corpus.reference.language import Language
from pytest_corpus.reference.request import Call
from pytest_corpus.reference.telemetry import Telemetry


@dataclass(slots=True)
class Statistics:
    """The counters of `embedding.get_stats`."""

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


class Accounting(Language, Telemetry):
    """Counts requests, texts and tokens."""

    statistics: Statistics
    counted_requests = frozenset({"embed", "embed_batch", "stream_embed"})

    def count_texts(self, jobs: Sequence[Job]) -> None:
        """Count the texts that were embedded."""
        for job in jobs:
            tokens = self.token_count(job.text)
            self.statistics.add_text(tokens)
            self.count("tokens_total", tokens, {"model": job.options.model})

    def observe(self, call: Call, outcome: str) -> None:
        if call.op in self.counted_requests:
            self.statistics.add_request(call.ms, ok=outcome == "OK")
        super().observe(call, outcome)
