"""The README is short, every page has its place, and the site is built with its link targets."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT, tokens

from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.requirements import catalogue

TOC = ROOT / "docs" / "index.md"


def test_every_variable_that_users_may_set_is_on_the_page_of_options() -> None:
    """A name like CORPUS_... that the package looks up in the environment stands in docs/options.md."""
    page = (ROOT / "docs" / "options.md").read_text("utf-8")
    sources = [path.read_text("utf-8") for path in (ROOT / "pytest_corpus").rglob("*.py")]
    named = {name for source in sources for name in re.findall(r"\bCORPUS_[A-Z_]+_(?:ROOT|ENV)\b", source)}
    assert named
    assert sorted(name for name in named if f"`{name}`" not in page) == []


def test_the_readme_keeps_to_two_screens() -> None:
    """It says what this is and where the rest is; options and tables are in docs/."""
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(re.sub(r"```python\n.*?```", "", text, flags=re.DOTALL).splitlines()) <= 80
    assert "| `--corpus-" not in text


def test_the_readme_can_be_shown_anywhere() -> None:
    """Its links are absolute, for the package index shows it without the files beside it; what it names is there."""
    inline = [child for token in tokens(ROOT / "README.md") for child in token.children or ()]
    links = [str(child.attrs["href"]) for child in inline if child.type == "link_open"]
    assert [link for link in links if not link.startswith("https://")] == []
    code = [child.content for child in inline if child.type == "code_inline"]
    named = [content for content in code if re.fullmatch(r"[\w/-]+\.md|\w+/", content)]
    assert len(named) >= 5
    missing = [name for name in named if not any((ROOT / folder / name).exists() for folder in ("", "docs"))]
    assert missing == []


def test_every_page_has_a_place_in_the_contents() -> None:
    """docs/index.md lists each page of docs/."""
    listed = {
        one or two for one, two in re.findall(r"^(?:([\w/-]+)|\w[^|\n]*<(.+)>)$", TOC.read_text("utf-8"), re.MULTILINE)
    }
    docs = ROOT / "docs"
    assert {path.stem for path in docs.glob("*.md")} - {"index"} == {name for name in listed if "/" not in name}


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Each requirement, ruling and section is a link target under its own name."""
    pytest.importorskip("sphinx", reason="the extra docs is not installed")
    options = ("-q", "-W", "-n", "--keep-going", "-j", "auto", "-d", str(tmp_path / "trees"))
    command = [sys.executable, "-m", "sphinx", *options, "docs", str(tmp_path / "html")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    texts = {path.stem: path.read_text("utf-8") for path in (tmp_path / "html").rglob("*.html")}
    for entry in catalogue().values():
        assert f'id="{entry.id}"' in texts["requirements"]
        assert f'id="{entry.id}"' in texts[entry.chapter.lower()]
    for number in re.findall(r"^### (R\d+) ", (ROOT / "docs" / "rulings.md").read_text("utf-8"), flags=re.MULTILINE):
        assert f'id="{number}"' in texts["rulings"]
    for document, sections in SECTIONS.items():
        assert all(f'id="{document}-{number}"' in texts["sections"] for number in sections)
    assert 'href="rulings.html#R7"' in texts["verdict"]
