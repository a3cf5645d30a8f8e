"""A bundle with one provider in this run: its selected cases and the pool that asks them."""

from dataclasses import dataclass, field
from functools import cached_property

from pytest_corpus.bundles.loading.bundle import Bundle, Case
from pytest_corpus.bundles.reporting.case_message import message
from pytest_corpus.bundles.reporting.section import Head, metric_names
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.bundles.running.asking import Asking
from pytest_corpus.bundles.running.pool import Pool
from pytest_corpus.bundles.running.store import Store


@dataclass
class BundleRun:
    """One bundle, asked of one provider."""

    bundle: Bundle
    label: str
    adapter: str
    asking: Asking
    store: Store
    cases: tuple[Case, ...]
    full: bool
    stops_early: bool
    cassettes: str = "off"
    selected: list[str] = field(default_factory=list)

    @property
    def key(self) -> str:
        """What tells it from all others."""
        return f"{self.bundle.file} | {self.label}"

    @property
    def whole(self) -> bool:
        """True if all cases of the bundle were selected."""
        return set(self.selected) == {case.id for case in self.bundle.cases}

    @property
    def tolerates(self) -> bool:
        """True if a case that does not pass is left to the thresholds (R80)."""
        return bool(self.bundle.thresholds) and self.whole and not self.stops_early

    @cached_property
    def pool(self) -> Pool:
        """What asks the cases; once it is known which are selected."""
        known = {case.id: case for case in self.cases}
        return Pool(self.asking, [known[name] for name in self.selected], self.store, self.bundle.side_by_side)

    def explain(self, result: CaseResult) -> str:
        """Why a case did not pass."""
        return message(self.bundle.file, self.label, result, full=self.full, option="--corpus-evidence=full")

    @property
    def head(self) -> Head:
        """What reports say of it beforehand."""
        bundle = self.bundle
        return Head(
            file=bundle.file,
            name=bundle.name,
            version=bundle.version,
            provider=self.label,
            adapter=self.adapter,
            cases=tuple(case.id for case in bundle.cases),
            selected=len(self.selected),
            thresholds=bundle.thresholds,
            metrics=metric_names(bundle),
            cassettes=self.cassettes,
        )
