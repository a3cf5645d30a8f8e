"""Opens the recording of a run's provider, as the options specify."""

import os

import pytest

from pytest_corpus.adapter.hooks.vendors.recording import OPTION, Recording, RecordingError
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.redaction import printable
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import obstacle


def open_recording(config: pytest.Config, options: Options) -> Recording | None:
    """The recording of a run, loaded if it exists. Raises pytest.UsageError if it cannot be used."""
    if options.recording is None:
        return None
    shown = f"--corpus-recording={printable(options.recording.name)}"
    try:
        found = Recording(options.recording, options.record, os.environ, seed=options.seed, is_instant=options.instant)
    except bounded.FileRefused as error:
        hint = f"; {OPTION}=once records it" if error.missing else ""
        raise pytest.UsageError(f"{shown}: {error.why}{hint}") from None
    except RecordingError as error:
        raise pytest.UsageError(f"--corpus-recording: {error}") from None
    if config.getoption("dist", "no") != "no":
        if not found.plays:
            raise pytest.UsageError(f"{shown}: record without -n; a recording can be given again with any number")
        if options.transcript is not None:
            raise pytest.UsageError(f"{shown}: a transcript of a run on recorded answers is written without -n")
    if not found.plays and (blocked := obstacle(options.recording)):
        raise pytest.UsageError(f"{shown}: {printable(blocked)}")
    return found
