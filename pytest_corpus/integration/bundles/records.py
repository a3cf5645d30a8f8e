"""Results of cases on their way into reports: from the process that ran a case to the one that concludes the run."""

import json
from collections.abc import Container, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.reporting.case_message import fit
from pytest_corpus.bundles.reporting.section import Head, build
from pytest_corpus.bundles.results import PASSED, CaseResult
from pytest_corpus.bundles.session import BundleRun
from pytest_corpus.integration.declaring.properties import BUNDLE_RESULT
from pytest_corpus.text.records import rebuilt


def travelling(run: BundleRun, result: CaseResult, folder: Path | None) -> tuple[str, str]:
    """The user property of a case's report, with the content of a case that did not pass, if it may be shown."""
    content = run.asking.keeps_content and result.status != PASSED
    value = {
        "key": run.key,
        "head": asdict(run.head),
        "result": result.document(content=content),
        "folder": None if folder is None else str(folder),
        "root": str(run.bundle.folder),
    }
    return BUNDLE_RESULT, json.dumps(value)


class Arrived:
    """The results that arrived, by bundle and provider."""

    def __init__(self) -> None:
        self.heads: dict[str, Head] = {}
        self.results: dict[str, dict[str, CaseResult]] = {}
        self.roots: dict[str, Path] = {}
        self.folders: set[Path] = set()

    def take(self, text: str) -> None:
        """Take in what `travelling` made."""
        value: Mapping[str, Any] = json.loads(text)
        key = value["key"]
        self.heads.setdefault(key, rebuilt(Head, value["head"]))
        self.roots.setdefault(key, Path(value["root"]))
        result = rebuilt(CaseResult, value["result"])
        self.results.setdefault(key, {})[result.case] = result
        if value["folder"]:
            self.folders.add(Path(value["folder"]))

    def is_judged(self, key: str, *, stops_early: bool) -> bool:
        """True if a bundle is held to its thresholds: all of it was selected, and no first failure ended it (R80)."""
        head, results = self.heads[key], self.results[key]
        sound = len(results) == len(head.cases) and all(each.status == PASSED for each in results.values())
        return head.whole and (sound or not stops_early)

    def sections(self, judged: Container[str]) -> dict[str, dict[str, Any]]:
        """The section of each bundle in reports, by key; thresholds apply to those that are `judged`."""
        return {
            key: build(head, list(self.results[key].values()), stopped=key not in judged)
            for key, head in self.heads.items()
        }

    def contents(self) -> list[dict[str, Any]]:
        """The prompts and answers of cases that did not pass, for the developer's page."""
        return [
            {
                "bundle": self.heads[key].name,
                "provider": self.heads[key].provider,
                "case": result.case,
                "reasons": [fit(reason.full or reason.shape) for reason in result.every_reason],
                "prompt": fit(sample.content.prompt),
                "system": None if sample.content.system is None else fit(sample.content.system),
                "output": None if sample.content.output is None else fit(sample.content.output),
            }
            for key, results in self.results.items()
            for result in results.values()
            for sample in result.samples
            if sample.content is not None
        ]
