"""Placeholder reports during a run, so that no older report survives a run that never finished."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pytest_corpus.integration.options.report_paths import report_paths
from pytest_corpus.reports import formats, json_report
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

UNENDED = "the run did not finish"


class Placeholders:
    """Reports that say only that the run has not ended."""

    def __init__(self, reports: Sequence[Path]) -> None:
        self._reports = reports
        self._put: dict[Path, str] = {}

    def put(self, labels: Sequence[str]) -> None:
        """Write one to the path of each report; the end of the run reports paths that cannot be written."""
        for number, label in enumerate(labels or [""]):
            for asked in self._reports:
                path = report_paths(asked, labels)[number]
                if path in self._put:
                    continue
                text = formats.render(_document(label), formats.suffix_of(asked.name) or ".json")
                try:
                    write_atomically(text, path)
                    self._put[path] = text
                except OSError:
                    continue

    def remove(self, written: Collection[Path] = ()) -> None:
        """Remove those that no report has replaced."""
        for path, text in self._put.items():
            if path in written:
                continue
            try:
                if path.read_text(encoding="utf-8") == text:
                    path.unlink()
            except (OSError, ValueError):
                continue


def _document(label: str) -> dict[str, object]:
    ledger = Ledger(label)
    ledger.mark_unreliable(UNENDED)
    started = datetime.now(UTC).isoformat(timespec="seconds")
    run = json_report.Run(started, 0.0, 0, "must", None)
    return json_report.build(ledger, decide(ledger), run)
