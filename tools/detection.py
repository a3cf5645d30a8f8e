"""Writes `tools/detection.json`, the figures of docs/detection.md, from the results of runs.

    make faults
    make mutants PYTEST_ARGS=--junit-xml=mutants.xml
    .venv/bin/python -m pytest -n 2 --junit-xml=legal.xml tests/plugin/test_legal_adapters.py
    .venv/bin/python tools/detection.py --mutants mutants.xml --legal legal.xml
    make docs

`make faults` records its figures by itself. What is not given stays as it is. The line in the README is
`site_pages.detection.line()`.
"""

import argparse
import collections
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from machine_faults import JUDGED, draw_names

from pytest_corpus import __version__
from pytest_corpus.spec.components import COMPONENTS

RESULT = Path(__file__).with_suffix(".json")

Findings = Mapping[tuple[str, str], str]
"""For each component and fault, the requirement that detected the fault, or an empty text."""

EXPERIMENTS = {
    "mutants": ("test_mutant_in_the_whole_suite[",),
    "legal": ("test_legal_shape[", "test_a_random_shape_violates_nothing[", "test_what_the_documents_leave_open"),
}
"""For each experiment, the first parts of the names of its tests."""


def main() -> int:
    """Add the results of the given runs to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=Path, help="the results of tools/machine_faults.py")
    parser.add_argument("--count", type=int, default=300, help="how many faults were drawn of each component")
    parser.add_argument("--seed", type=int, default=0, help="the seed with which they were drawn")
    parser.add_argument("--mutants", type=Path, help="the JUnit file of tests/mutants")
    parser.add_argument("--legal", type=Path, help="the JUnit file of tests/plugin/test_legal_adapters.py")
    given = parser.parse_args()
    result = json.loads(RESULT.read_text("utf-8")) if RESULT.exists() else {}
    if given.faults:
        lines = [json.loads(line) for line in given.faults.read_text("utf-8").splitlines()]
        first, found = (
            {(line["component"], line["fault"]): line["found"] for line in run} for run in (lines[::-1], lines)
        )
        parts = {name: fault_figures(name, given.count, given.seed, first, found) for name in COMPONENTS}
        result["faults"] = {**run_date(), "seed": given.seed, "components": parts}
    for name in ("mutants", "legal"):
        if path := getattr(given, name):
            result[name] = {**run_date(), **count_tests(path, EXPERIMENTS[name])}
    RESULT.write_text(json.dumps(result, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def run_date() -> dict[str, str]:
    """Return the date of the run, and the version of pytest-corpus."""
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "kit": __version__}


def fault_figures(component: str, count: int, seed: int, first: Findings, found: Findings) -> dict[str, Any]:
    """Return the figures for the faults that were drawn for a component. Raises SystemExit if results are missing."""
    possible, names = draw_names(component, count, seed)
    judged = json.loads(JUDGED.read_text("utf-8"))[component]
    tried = [name for name in names if name not in judged]
    if missing := [name for name in tried if (component, name) not in found]:
        sys.exit(f"{component}: {len(missing)} of {len(names)} faults have no result; run make faults")
    results = collections.Counter(kind_of_finding(found[component, name]) for name in tried)
    return {
        "possible": possible,
        "drawn": len(names),
        **{each: results[each] for each in ("must", "should")},
        "missed": sorted(name for name in tried if not found[component, name]),
        "mended": sum(bool(found[component, name]) and not first[component, name] for name in tried),
        "judged": len(names) - len(tried),
    }


def kind_of_finding(finding: str) -> str:
    return "should" if finding.startswith("SHOULD ") else "must" if finding else ""


def count_tests(path: Path, prefixes: tuple[str, ...]) -> dict[str, Any]:
    """Return the number of tests of an experiment in a JUnit file, and the tests that did not pass."""
    cases = list(ElementTree.parse(path).iter("testcase"))  # noqa: S314 - pytest wrote it here
    ran = [case for case in cases if f"{case.get('name')}".startswith(prefixes) and case.find("skipped") is None]
    red = [case for case in ran if case.find("failure") is not None or case.find("error") is not None]
    return {"tried": len(ran), "failed": sorted(f"{case.get('name')}" for case in red)}


if __name__ == "__main__":
    sys.exit(main())
