"""What changed since the last run, by what pytest's cache keeps of it."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_corpus.verdict.verdict import Verdict

KEY = "corpus/statuses/{}"
"""Where the cache keeps the statuses of the requirements of an adapter, by component and id."""


def since_the_last_run(config: pytest.Config, adapter: str, verdict: Verdict) -> str:
    """How many requirements are fixed and newly violated since the last run that tested them; keeps the new statuses.

    A run of single tests fixes nothing: those that would fail may have been left out. Empty where nothing is known of
    a run before, nothing changed, or pytest has no cache.
    """
    cache = getattr(config, "cache", None)
    if cache is None:
        return ""
    name = "".join(char if char.isalnum() or char in "._-" else "_" for char in adapter)
    kept = _kept(cache.get(KEY.format(name), {}))
    now = {
        f"{part.component} {status.requirement.id}": status.status
        for part in verdict.components
        for status in part.statuses
        if status.findings or (status.tests and not _single_tests(config))
    }
    cache.set(KEY.format(name), {**kept, **now})
    fixed = sum(kept.get(key) == "violated" and status == "satisfied" for key, status in now.items())
    new = sum(key in kept and kept[key] != "violated" and status == "violated" for key, status in now.items())
    if not fixed and not new:
        return ""
    return f"since the last run: {fixed} fixed, {new} new"


def _single_tests(config: pytest.Config) -> bool:
    """Whether some tests of a requirement may have been chosen and others not."""
    chosen = (config.getoption(name, None) for name in ("keyword", "markexpr", "deselect", "lf", "corpus_profile"))
    return any(chosen) or any("::" in str(argument) for argument in config.args)


def _kept(found: Any) -> dict[str, str]:
    """What the cache holds, as far as it is what was put there."""
    return {key: value for key, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}
