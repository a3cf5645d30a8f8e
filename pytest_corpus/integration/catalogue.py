"""`--corpus-list` and `--corpus-explain`."""

from __future__ import annotations

import sys

import pytest

from pytest_corpus.integration.options.run_options import asked_for
from pytest_corpus.reports.catalogue.listing import chosen, explained, listed, unknown


def show(config: pytest.Config) -> int:
    """Print the catalogue as far as requirements and components are named, or one entry of it; the exit code.

    Raises:
        pytest.UsageError: there is no such requirement or ruling.
    """
    wanted = config.getoption("corpus_explain")
    text = _listed(config) if wanted is None else explained(wanted)
    if text is None:
        raise pytest.UsageError(f"--corpus-explain: {unknown(wanted)}")
    sys.stdout.write(text + "\n")
    return 0


def _listed(config: pytest.Config) -> str:
    globs, components = asked_for(config)
    return listed(chosen(globs, components))
