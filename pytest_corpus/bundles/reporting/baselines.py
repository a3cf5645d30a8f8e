"""Comparing a run with a committed one: newly failing, fixed, added, gone, and changed metrics."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.metrics import shown
from pytest_corpus.bundles.reporting import comparison
from pytest_corpus.bundles.reporting.comparison import outcome
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.text.atomic_write import write_atomically

FORMAT = "1.0"


class BaselineError(Exception):
    """A file that is not a baseline; the end of a sentence."""


def entry(results: Iterable[CaseResult], metrics: Mapping[str, float | None]) -> dict[str, Any]:
    """The entry of a bundle with one provider: the outcome without content, and metrics except times."""
    return {**outcome(results), "metrics": {name: each for name, each in metrics.items() if not name.endswith("_ms")}}


def name_of(bundle: Path, provider: str, baseline: Path) -> str:
    """The name of a bundle with a provider in a baseline: its path from there, wherever the run began."""
    try:
        path = Path(os.path.relpath(bundle, baseline.absolute().parent)).as_posix()
    except ValueError:  # another drive of Windows
        path = bundle.as_posix()
    return f"{path} | {provider}"


def read(path: Path) -> dict[str, Any]:
    """The entries of a baseline, by ``bundle | provider``. Raises BaselineError if it is none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found: dict[str, Any] = document["bundles"]
        if document["format"] != FORMAT or not all(
            isinstance(each["cases"], dict) and isinstance(each["metrics"], dict) for each in found.values()
        ):
            raise KeyError
    except FileNotFoundError:
        raise BaselineError("the file does not exist; --corpus-update-baseline writes it") from None
    except OSError as error:
        raise BaselineError(f"it cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BaselineError("it is not a baseline of this format; --corpus-update-baseline replaces it") from None
    return found


def write(path: Path, entries: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Write a baseline; entries of other bundles stay. Raises OSError if it cannot be written."""
    document = {"format": FORMAT, "bundles": {**before, **entries}}
    write_atomically(json.dumps(document, sort_keys=True, indent=2) + "\n", path)


def compare(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a section says of its baseline: the changes by kind, if there are any, and the paired comparison."""
    if before is None:
        return {"baseline": {"added": sorted(now["cases"])}}
    changed = [
        f"{name}: {shown(before['metrics'].get(name))} -> {shown(number)}"
        for name, number in sorted(now["metrics"].items())
        if before["metrics"].get(name) != number
    ]
    found = comparison.compare(before, now)
    changes = {kind: found.pop(kind) for kind in comparison.CHANGES if kind in found}
    changes |= {"metrics": changed} if changed else {}
    return {"baseline": changes, "compared": [{"with": "the baseline", **found}]}
