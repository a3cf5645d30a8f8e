"""`--corpus-list` and `--corpus-explain`."""

from __future__ import annotations

import sys

import pytest

from pytest_corpus.reports.catalogue_text import explained, listed, unknown


def show(config: pytest.Config) -> int:
    """Print the catalogue, or one entry of it; the exit code.

    Raises:
        pytest.UsageError: there is no such requirement.
    """
    wanted = config.getoption("corpus_explain")
    text = listed() if wanted is None else explained(wanted)
    if text is None:
        raise pytest.UsageError(f"--corpus-explain: {unknown(wanted)}")
    sys.stdout.write(text + "\n")
    return 0
