"""Collectors and test items for a bundle.yaml: one item for each case, then one for each threshold."""

import warnings
from collections.abc import Iterable
from typing import Any

import pytest

from pytest_corpus.bundles import metrics
from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.loading.bundle import Case
from pytest_corpus.bundles.metrics import Threshold
from pytest_corpus.bundles.results import NOT_ASKED, PASSED
from pytest_corpus.bundles.session import BundleRun, BundleSession

MARKER = "bundle"
MOST_NAMED, MOST_EXPLAINED = 20, 3  # the most cases that a missed threshold names and explains

FOREIGN_MARKERS = frozenset(
    (
        *("skip", "skipif", "xfail", "usefixtures", "filterwarnings", "parametrize"),
        *("tryfirst", "trylast", "xdist_group", "timeout", "forked"),
    )
)
"""Tags that do not become markers of a case, because pytest or its plugins give such markers a meaning."""


class BundleFailure(Exception):
    """A failed case or a missed threshold, with the message to show."""


class BundleFile(pytest.File):
    """The collector of one bundle.yaml."""

    session_of_bundles: BundleSession
    report_path = ""
    """The path of the file in reports."""

    def collect(self) -> Iterable[pytest.Item]:
        try:
            runs = self.session_of_bundles.prepare_runs(self.path)
        except BundleError as error:
            raise self.CollectError(str(error)) from None
        self.add_marker(MARKER)  # its items inherit it
        for run in runs:
            suffix = f"[{run.label}]" if len(runs) > 1 else ""
            for case in run.cases:
                item: CaseItem = CaseItem.from_parent(self, name=case.id + suffix)
                item.run, item.case = run, case
                for tag in case.tags:
                    self._add_marker(item, tag)
                yield item
            for threshold in run.bundle.thresholds:
                node: ThresholdItem = ThresholdItem.from_parent(self, name=f"threshold[{threshold}]{suffix}")
                node.run, node.threshold = run, threshold
                yield node

    def _add_marker(self, item: pytest.Item, tag: str) -> None:
        name = "".join(char if char.isalnum() or char in "_.-" else "_" for char in tag)
        if name in FOREIGN_MARKERS or name.startswith("_"):
            return
        self.config.addinivalue_line("markers", f"{name}: tag of behaviour bundles")
        item.add_marker(getattr(pytest.mark, name))


class _BundleItem(pytest.Item):
    run: BundleRun

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, BundleFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, self.name

    @property
    def location(self) -> tuple[str, int | None, str]:
        file = self.parent
        assert isinstance(file, BundleFile)
        file.report_path = file.report_path or super().location[0]
        return file.report_path, None, self.name


class CaseItem(_BundleItem):
    """The test item for one case with one provider."""

    case: Case

    def runtest(self) -> None:
        result = self.run.result(self.case.id)
        if result.status == NOT_ASKED:
            pytest.skip("not asked: the thresholds are decided without it")
        if result.status != PASSED:
            raise BundleFailure(self.run.explain(result))


class ThresholdItem(_BundleItem):
    """The test item for one threshold, which is checked with the results of all cases."""

    threshold: Threshold

    def runtest(self) -> None:
        run = self.run
        whole = len(run.bundle.cases)
        if shard := run.options.shard:
            _ = run.pool  # even a shard without cases gets a section in its report
            pytest.skip(f"not judged: shard {shard} has {len(run.selected)} of {whole} cases; combine all reports")
        if not run.is_whole:
            pytest.skip(f"not judged: only {len(run.selected)} of {whole} cases were selected")
        every = [run.result(case.id) for case in run.bundle.cases]
        results = [result for result in every if result.status != NOT_ASKED]
        if run.options.stops_early and any(result.status != PASSED for result in results):
            pytest.skip("not judged: the run stops at its first failure (-x, --maxfail), and a case failed")
        judged = metrics.judge_threshold(self.threshold, results, len(results))
        self.user_properties.append(("threshold", str(judged)))
        if judged.undecided and judged.holds:
            warnings.warn(f"{run.bundle.file}: {run.label}: {judged}", pytest.PytestWarning, stacklevel=1)
        if not judged.holds:
            bad = metrics.cases_lowering(self.threshold.metric, results)
            names = ", ".join(result.case for result in bad[:MOST_NAMED]) + (" ..." if len(bad) > MOST_NAMED else "")
            line = f"  {'not passed' if self.threshold.metric.startswith('pass_') else 'because of'}: "
            listed = f"{line}the cases of the threshold above" if line + names in run.named else line + names
            said = [f"{run.bundle.file}: {run.label}: {judged}"] + ([listed] if bad else [])
            # pytest reports tolerated cases as passed (R80), so this message explains the first few of them.
            said += [run.explain(result) for result in bad[:MOST_EXPLAINED] if result.case not in run.named]
            run.named.update((line + names, *(result.case for result in bad[:MOST_EXPLAINED])))
            raise BundleFailure("\n".join(said))
