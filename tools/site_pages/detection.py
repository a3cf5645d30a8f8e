"""The score of the kit itself: faults found and missed, and false alarms."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.reports.pages.markdown import GENERATED, code, paragraph, table
from pytest_corpus.spec.components import COMPONENTS, TITLES

RESULT = Path(__file__).resolve().parents[1] / "detection.json"

HEAD = """# Detection

How good is the kit? Three experiments answer, each made anew for a release (`make faults`, `make mutants`,
`tools/detection.py`).
"""

FAULTS = (
    "A machine changes one place of an embedded adapter: a comparison, a condition, a constant, a statement left out. "
    "{sum} such faults were drawn with the seed {seed} ({date}, version {kit}). The suite ran on each up to the first "
    "MUST that was violated; an adapter that answers nothing, or only as in an outage, gets no verdict: found. "
    "Changes that break no MUST were judged one by one, each with its reason, in "
    "[machine_faults.json](../tools/machine_faults.json). Of {musts} faults that break a MUST, the suite finds {must} "
    "({rate} %; the target is 99.5 %), {mended} of them by tests that were added since this run missed them."
)
EXPERIMENTS = {
    "mutants": "Each mutant violates one sentence. {found} of {tried} were found by the requirement ({date}, version "
    "{kit}).",
    "legal": "Each legal adapter does what a sentence permits and few adapters do. {found} of {tried} runs raised no "
    "alarm ({date}, version {kit}).",
}


def pages() -> dict[str, str]:
    """The page, if there is a result."""
    result = json.loads(RESULT.read_text("utf-8"))
    return {"detection.md": "\n".join([HEAD, *_sections(result)]) + GENERATED}


def line() -> str:
    """The line for the README."""
    parts = json.loads(RESULT.read_text("utf-8"))["faults"]["components"].values()
    found = sum(part["must"] + part["should"] for part in parts)
    tried = found + sum(len(part["missed"]) for part in parts)
    return f"Of {tried} faults that a machine made in correct adapters it finds {found} (`docs/detection.md`)."


def _sections(result: Mapping[str, Any]) -> Iterator[str]:
    faults = result["faults"]
    parts = faults["components"].values()
    total, must, mended = (sum(part[each] for part in parts) for each in ("drawn", "must", "mended"))
    musts = must + sum(len(part["missed"]) for part in parts)
    rate = f"{100 * must / musts:.1f}"
    yield "## Faults made by machine\n"
    figures = {"sum": total, "must": must, "musts": musts, "rate": rate, "mended": mended}
    yield paragraph(FAULTS.format_map({**faults, **figures}))
    rows = [_row(name, faults["components"][name]) for name in COMPONENTS]
    yield table(("component", "possible", "drawn", "judged harmless", "found as MUST", "as SHOULD", "missed"), rows)
    missed = [(TITLES[name], code(each)) for name, part in faults["components"].items() for each in part["missed"]]
    if missed:
        yield table(("component", "missed fault"), missed)
    yield "## Mutants and legal adapters\n"
    yield paragraph(" ".join(_experiment(text, result[name]) for name, text in EXPERIMENTS.items() if name in result))
    yield ""


def _experiment(text: str, part: Mapping[str, Any]) -> str:
    rest = f" The rest: {', '.join(map(code, part['failed']))}." if part["failed"] else ""
    return text.format_map({**part, "found": part["tried"] - len(part["failed"])}) + rest


def _row(name: str, part: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = (part["possible"], part["drawn"], part["judged"], part["must"], part["should"], len(part["missed"]))
    return (TITLES[name], *map(str, numbers))
