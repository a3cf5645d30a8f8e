"""Divides the cases of a bundle into shards of similar duration, and computes a digest that all shards must share."""

import heapq
import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from typing import Any

from pytest_corpus.bundles.errors import BundleError, BundleProblem
from pytest_corpus.bundles.loading.bundle import Bundle, Case
from pytest_corpus.bundles.loading.files import display_path, read_text
from pytest_corpus.bundles.results import CaseResult
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.validation.schema.evidence import first_flaw
from pytest_corpus.verdict.shards import Shard

DURATIONS = "durations.json"
"""The file with the seconds of each case, next to bundle.yaml; `pytest-corpus bundle combine` writes it."""


def select_cases(bundle: Bundle, shard: Shard) -> tuple[Case, ...]:
    """Return the cases of a shard in order. The longest cases are assigned first, each to the least loaded shard."""
    known = read_durations(bundle.folder)
    usual = fmean(known.values()) if known else 1.0
    seconds = [known.get(case.id, usual) for case in bundle.cases]
    loads = [(0.0, 0, number) for number in range(1, shard.of + 1)]
    own = []
    for at in sorted(range(len(seconds)), key=lambda each: -seconds[each]):
        load, count, number = loads[0]
        heapq.heapreplace(loads, (load + seconds[at], count + 1, number))
        if number == shard.number:
            own.append(at)
    return tuple(bundle.cases[at] for at in sorted(own))


def read_durations(folder: Path) -> dict[str, float]:
    """Return the seconds of each case in an earlier run; empty without a file. Raises BundleError if it is invalid."""
    path = folder / DURATIONS
    if not path.exists():
        return {}
    try:
        found = bounded.read_document(path)
        if said := first_flaw("bundle/durations", found):
            raise bounded.FileRefused(path, said)
    except bounded.FileRefused as error:
        said = "is not a JSON object with the seconds of each case; `bundle combine --write-durations` writes it"
        raise BundleError(BundleProblem(display_path(path), f"{said}: {error.why}")) from None
    return {case: float(each) for case, each in found.items()}


def write_durations(folder: Path, results: Iterable[CaseResult]) -> None:
    """Write the seconds of each case, averaged over providers. Raises OSError."""
    found: dict[str, list[float]] = {}
    for each in results:
        if each.cassette != "replayed":
            found.setdefault(each.case, []).append(each.seconds)
    means = {case: round(fmean(seconds), 3) for case, seconds in found.items()}
    write_atomically(json.dumps(means, indent=0, sort_keys=True) + "\n", folder / DURATIONS)


def compute_digest(bundle: Bundle) -> str:
    """Return the SHA-256 of everything that determines cases, prompts and checks, independent of the folder."""
    text = json.dumps([bundle, read_durations(bundle.folder)], default=_to_plain, sort_keys=True)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_PLACES = ("path", "file", "line", "uri")
"""The fields of a bundle's records that only name a position; the digest leaves them out."""


def _to_plain(value: Any) -> Any:
    if isinstance(value, Path):
        return read_text(value)
    if hasattr(value, "source"):
        return value.source
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value) if each.name not in _PLACES}
    return repr(value)
