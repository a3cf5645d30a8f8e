"""The checked options of behaviour bundles."""

import os

import pytest

from pytest_corpus.adapter.usage.budget import Budget, parse
from pytest_corpus.bundles.running.cassettes import MODES
from pytest_corpus.bundles.session import BundleOptions


def read(config: pytest.Config) -> BundleOptions:
    """The options of a run.

    Raises:
        pytest.UsageError: an option has an invalid value.
    """
    option = config.getoption("corpus_evidence")
    given = option if option is not None else config.getini("corpus_evidence") or None
    full = given == "full" if given is not None else not os.environ.get("CI")
    baseline = config.getoption("corpus_baseline")
    update = bool(config.getoption("corpus_update_baseline"))
    if update and not baseline:
        raise pytest.UsageError("--corpus-update-baseline: name the file with --corpus-baseline=PATH")
    return BundleOptions(
        providers=tuple(config.getoption("corpus_bundle_provider") or ()),
        limit=_limit(config.getoption("corpus_bundle_limit")),
        cassettes=_mode(config.getoption("corpus_cassettes")),
        baseline=config.invocation_params.dir / baseline if baseline else None,
        update_baseline=update,
        budget=_budget(config.getoption("corpus_budget") or config.getini("corpus_budget")),
        full=full,
        full_files=given == "full",
        stops_early=bool(config.getoption("maxfail", 0) or config.getoption("stepwise", False)),
    )


def _limit(given: str | None) -> int | None:
    if given is None:
        return None
    if not (given.isascii() and given.isdecimal() and 0 < int(given) < 10**9):
        raise pytest.UsageError(f"--corpus-bundle-limit={given}: use a whole number above 0")
    return int(given)


def _mode(given: str | None) -> str | None:
    if given is not None and given not in MODES:
        raise pytest.UsageError(f"--corpus-cassettes={given}: use {', '.join(MODES[:-1])} or {MODES[-1]}")
    return given


def _budget(given: str | None) -> Budget:
    try:
        return parse(given) if given else Budget()
    except ValueError as error:
        raise pytest.UsageError(f"--corpus-budget={given}: {error}") from None
