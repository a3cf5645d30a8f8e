"""The texts that count as a stack trace in an error (ERRORS 8)."""

import pytest

from pytest_corpus.kit.audit.envelopes import STACK_TRACE


@pytest.mark.parametrize(
    "text", ["main.py:12 in complete", "at /srv/a/main.go:7", '  File "a.py", line 3', "(Main.java:10)"]
)
def test_a_line_of_a_source_file_is_a_part_of_a_stack_trace(text: str) -> None:
    """As several languages print it."""
    assert STACK_TRACE.search(text)


@pytest.mark.parametrize(
    "text", ["api.example.py:443", "https://api.py:443/v1", "see guide.md:3", "at 12:30", "model.go"]
)
def test_a_host_with_a_port_is_no_stack_trace(text: str) -> None:
    """Domains may end like the names of source files."""
    assert not STACK_TRACE.search(text)
