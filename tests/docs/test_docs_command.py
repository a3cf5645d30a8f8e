"""`pytest-corpus docs`: pages, operations and requirements without network, in any folder."""

import re
from pathlib import Path

import pytest

from pytest_corpus.cli import main
from pytest_corpus.reports.pages.plain import to_plain_text
from pytest_corpus.spec.operations import BY_OP


def shown(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """The output of the command."""
    assert main(["docs", *words]) == code
    return capsys.readouterr().out


def test_every_listed_page_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """By the name in the list, and as text without links."""
    names = [line.split()[0] for line in shown(capsys).splitlines()[2:]]
    assert {"start", "adapter-guide", "llm", "graph"} <= set(names)
    for name in names:
        assert not re.search(r"\]\([a-z./]+\.md", shown(capsys, name))


@pytest.mark.parametrize("op", sorted(BY_OP))
def test_an_operation_is_explained(capsys: pytest.CaptureFixture[str], op: str) -> None:
    """With an example pair, its errors and its requirements; `explain` says the same."""
    found = shown(capsys, op)
    for part in (f"## {op}", "### Errors", "### Example", "### Requirements"):
        assert part in found
    assert main(["explain", op]) == 0
    assert capsys.readouterr().out == found


def test_a_requirement_begins_with_a_request_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the arguments and tools that it does not speak of."""
    found = shown(capsys, "EMB-TRUNC-2")
    assert '"truncate": true' in found
    assert "normalize" not in found.partition("a good answer")[0].partition("a plain request")[2]


def test_words_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    """The lines that have all of them, with their pages; exit code 1 if none has."""
    assert re.search(
        r"^adapter-guide:\d+: .*provider\.proxy", shown(capsys, "--search", "provider.proxy"), re.MULTILINE
    )
    shown(capsys, "--search", "no-such-word-anywhere", code=1)


def test_an_unknown_page_is_one_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """With the nearest name."""
    assert main(["docs", "adapter-guid"]) == 2
    assert "there is no page 'adapter-guid'; did you mean adapter-guide?" in capsys.readouterr().err


def test_tables_and_links_become_text() -> None:
    """Columns are aligned, comments are left out, code stands as it is."""
    page = "<!-- x -->| a | b |\n|---|---|\n| [one](two.md#x) | `c` |\n\n```\n[x](y.md)\n```\n"
    assert to_plain_text(page) == "a               b\none (docs two)  `c`\n\n    [x](y.md)\n"
