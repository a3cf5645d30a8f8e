"""Comparing a run with a committed one: newly failing, fixed, added, gone, and changed metrics."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.metrics import shown
from pytest_corpus.bundles.results import NOT_ASKED
from pytest_corpus.text.atomic_write import write_atomically

FORMAT = "1.0"


class BaselineError(Exception):
    """A file that is not a baseline; the end of a sentence."""


def entry(statuses: Mapping[str, str], metrics: Mapping[str, float | None]) -> dict[str, Any]:
    """The entry of a bundle with one provider: no content, and no times, which change each time."""
    kept = {name: number for name, number in metrics.items() if not name.endswith("_ms")}
    asked = {case: status for case, status in statuses.items() if status != NOT_ASKED}
    return {"cases": asked, "metrics": kept}


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


def compare(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """The changes by kind; kinds without a change are left out."""
    if before is None:
        return {"added": sorted(now["cases"])}
    old, new = before["cases"], now["cases"]
    both = sorted(old.keys() & new.keys())
    changes = {
        "newly_failing": [case for case in both if old[case] == "passed" != new[case]],
        "fixed": [case for case in both if old[case] != "passed" == new[case]],
        "added": sorted(new.keys() - old.keys()),
        "gone": sorted(old.keys() - new.keys()),
        "metrics": [
            f"{name}: {shown(before['metrics'].get(name))} -> {shown(number)}"
            for name, number in sorted(now["metrics"].items())
            if before["metrics"].get(name) != number
        ],
    }
    return {kind: found for kind, found in changes.items() if found}
