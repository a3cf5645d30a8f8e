"""The contents of files that options name."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.spec.dialects import DIALECTS, Dialect, with_overrides
from pytest_corpus.text import bounded
from pytest_corpus.verdict.deviations import FILE, Deviation, DeviationError
from pytest_corpus.verdict.deviations import read as read_deviations


def dialects(config: pytest.Config, given: str | None) -> tuple[Mapping[str, Dialect], Mapping[str, Any]]:
    """The languages with their probe queries, and the queries in a given file."""
    if given is None:
        return DIALECTS, {}
    try:
        queries = bounded.document(config.invocation_params.dir / given)
        return with_overrides(queries), queries
    except bounded.FileRefused as error:
        raise pytest.UsageError(f"--corpus-dialects={given}: {error.why}") from None
    except ValueError as error:
        raise pytest.UsageError(f"--corpus-dialects={given}: {error}") from None


def deviations(config: pytest.Config, given: str | None, *, drafting: bool) -> tuple[Path, tuple[Deviation, ...]]:
    """The path of the file of deviations, and the deviations in it."""
    folders = (config.invocation_params.dir, config.rootpath)
    path = folders[0] / given if given else next((f / FILE for f in folders if (f / FILE).exists()), folders[0] / FILE)
    if not path.exists() and (drafting or not given):
        return path, ()
    try:
        return path, read_deviations(path, drafting=drafting)
    except DeviationError as error:
        named = f"--corpus-deviations={given}" if given else str(path)
        raise pytest.UsageError(f"{named}: {error}") from None
