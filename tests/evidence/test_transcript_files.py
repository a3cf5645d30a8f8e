"""The file of a transcript is read as it was written, whatever its lines hold."""

import gzip
from pathlib import Path

import pytest
from hostile_files import HEADER

from pytest_corpus.evidence.recorder import Recorder
from pytest_corpus.evidence.transcript import read
from pytest_corpus.text.bounded import FileRefused
from pytest_corpus.validation.sealed_lines import Writer

SECRET = "a-secret-of-16-ch"


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_text_may_hold_any_separator_of_lines(tmp_path: Path, name: str) -> None:
    """Separators that JSON does not escape stay within their line, and secrets of the environment are masked."""
    writer = Writer(tmp_path / name)
    text = "a\u2028b\u2029c\x85d\x0be\n"
    adapter = {"label": "a", "declared": "mine:a", "capabilities": {"llm": {"server": text, "version": SECRET}}}
    members = {**{name: value for name, value in HEADER.items() if name != "n"}, "adapters": [adapter]}
    writer.write_lines(Recorder("", [SECRET]).encode_line(members))
    writer.close()
    found = read(tmp_path / name)
    [stated] = found.header["adapters"]
    assert (stated["capabilities"]["llm"], found.complete) == ({"server": text, "version": "***"}, True)


def test_a_damaged_archive_is_said_to_be_one(tmp_path: Path) -> None:
    """Bytes that gzip cannot read are one sentence."""
    path = tmp_path / "run.jsonl.gz"
    whole = gzip.compress(b'{"n":1}\n' * 1000)
    path.write_bytes(whole[:15] + b"\xff" * 30 + whole[45:])
    with pytest.raises(FileRefused, match="not a gzip file, or damaged"):
        read(path)
