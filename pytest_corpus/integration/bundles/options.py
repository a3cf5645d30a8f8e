"""Reads the options of behaviour bundles."""

import os

import pytest

from pytest_corpus.bundles.running.cassettes import MODES
from pytest_corpus.bundles.session import BundleOptions
from pytest_corpus.integration.options import run_options

MOST_SHARDS = 999  # the most shards of a bundle


def read_options(config: pytest.Config) -> BundleOptions:
    """Return the options of a run. Raises pytest.UsageError if one has an invalid value."""
    option = config.getoption("corpus_evidence")
    given = option if option is not None else config.getini("corpus_evidence") or None
    full = given == "full" if given is not None else not os.environ.get("CI")
    baseline = config.getoption("corpus_bundle_baseline")
    update = bool(config.getoption("corpus_bundle_update_baseline"))
    if update and not baseline:
        raise pytest.UsageError("--corpus-bundle-update-baseline: name the file with --corpus-bundle-baseline=PATH")
    limit, mode = config.getoption("corpus_bundle_limit"), config.getoption("corpus_bundle_cassettes")
    if limit is not None and not (limit.isascii() and limit.isdecimal() and 0 < int(limit) < 10**9):
        raise pytest.UsageError(f"--corpus-bundle-limit={limit}: use a whole number above 0")
    shard = run_options.read_shard(config, MOST_SHARDS)
    if shard is not None and limit is not None:
        raise pytest.UsageError("--corpus-bundle-limit: leave it out; the shards of a part cannot be combined")
    if mode is not None and mode not in MODES:
        raise pytest.UsageError(f"--corpus-bundle-cassettes={mode}: use {', '.join(MODES[:-1])} or {MODES[-1]}")
    return BundleOptions(
        providers=tuple(config.getoption("corpus_bundle_provider") or ()),
        limit=None if limit is None else int(limit),
        cassettes=mode,
        baseline=config.invocation_params.dir / baseline if baseline else None,
        update_baseline=update,
        budget=run_options.read_budget(config.getoption("corpus_budget") or config.getini("corpus_budget")),
        full=full,
        full_files=given == "full",
        shard=shard,
        stops_early=bool(config.getoption("maxfail", 0) or config.getoption("stepwise", False)),
    )
