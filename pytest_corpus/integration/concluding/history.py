"""Changes since the last run, from the tests in pytest's cache that ran both times."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import Verdict

KEY = "corpus/tests/{}"  # the key in the cache of the violated requirements of each test in its last run
MOST_NAMED = 5
RAN = ("satisfied", "violated", "not_applicable")  # the outcomes of a test that decided something


def since_the_last_run(config: pytest.Config, ledger: Ledger, verdict: Verdict) -> str:
    """The requirements that are fixed and newly violated since the last run; keeps what this run found.

    A requirement is fixed if every test that found it violated ran again, and none does now. It is new if a test that
    ran before finds it violated, and none did. Empty if nothing changed, nothing is known, or pytest has no cache.
    """
    cache = getattr(config, "cache", None)
    if cache is None:
        return ""
    key = KEY.format("".join(char if char.isalnum() or char in "._-" else "_" for char in ledger.adapter))
    kept, now = _kept(cache.get(key, {})), _found(ledger)
    cache.set(key, {**kept, **now})
    satisfied = {f"{status.component} {status.requirement.id}" for status in verdict.of_status("satisfied")}
    both = kept.keys() & now.keys()
    fixed = _union(kept, both) & satisfied - _union(kept, kept.keys() - both)
    new = _union(now, both) - _union(kept, kept)
    if not fixed and not new:
        return ""
    return f"since the last run: {_named(fixed)} fixed, {_named(new)} new"


def _found(ledger: Ledger) -> dict[str, list[str]]:
    """The violated requirements that each test found, with their component."""
    found: dict[str, set[str]] = {}
    for record in ledger.records.values():
        names = {f"{record.component} {finding.requirement}" for finding in record.findings}
        if names or record.outcome in RAN:
            test = hashlib.sha256(f"{record.component}/{record.test}".encode()).hexdigest()[:12]
            found.setdefault(test, set()).update(names)
    return {test: sorted(names) for test, names in found.items()}


def _union(found: Mapping[str, list[str]], tests: Iterable[str]) -> set[str]:
    return {name for test in tests for name in found[test]}


def _named(names: set[str]) -> str:
    if not names:
        return "0"
    ids = sorted({name.partition(" ")[2] for name in names})
    more = f", and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    return f"{len(names)} ({', '.join(ids[:MOST_NAMED])}{more})"


def _kept(found: Any) -> dict[str, list[str]]:
    if not isinstance(found, dict):
        return {}
    return {
        test: names
        for test, names in found.items()
        if isinstance(names, list) and all(isinstance(name, str) for name in names)
    }
