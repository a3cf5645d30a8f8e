"""The pages are current, hold what the tables hold, and have their place; the README is short, the site is built."""

import json
import re
import sys
from pathlib import Path

import pytest
from blocks import ROOT, tokens
from cli_runs import run_process
from markdown_it import MarkdownIt

from pytest_corpus.spec.capabilities import FACTS
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.spec.transports import SCHEMES

sys.path.insert(0, str(ROOT / "tools"))

import pages as tool
from site_pages import coverage, detection

from pytest_corpus.reports.pages import components

LINES = 4_650
"""The most lines that Markdown written by hand may have in total."""


def test_the_committed_pages_are_current() -> None:
    """The requirements, the options and the drawings say what the tables, the plugin and the contract say."""
    run_process(sys.executable, ROOT / "tools" / "pages.py", "--check", cwd=ROOT)


def test_the_readme_has_the_present_score() -> None:
    """The line on faults made by machine says what the last recorded run found."""
    assert f"  {detection.line()}\n" in (ROOT / "README.md").read_text("utf-8")


def test_the_table_has_a_line_for_each_requirement() -> None:
    """Every id stands in one line with its level, its sentence and its sources."""
    lines = (ROOT / "docs" / "requirements.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split(" | ")] for line in lines if line.startswith("| ")][2:]
    assert [row[0].lstrip("| ") for row in rows] == list(catalogue())
    assert {len(row) for row in rows} == {4}


def test_pages_written_by_hand_stay_short() -> None:
    """Pages, READMEs and prompts together keep to the limit, but for what is made from tables."""
    ignored = [ROOT / "docs" / name for name in (*tool.SITE_FOLDERS, *tool.committed_pages())]
    folders = ("docs", "examples", "skeletons")
    found = [*ROOT.glob("*.md"), *(path for folder in folders for path in (ROOT / folder).rglob("*.md"))]
    kept = [path for path in found if not any(path.is_relative_to(each) for each in ignored) and is_ours(path)]
    assert sum(len(path.read_text("utf-8").splitlines()) for path in kept) <= LINES


def is_ours(path: Path) -> bool:
    """Return False for pages of packages that are installed or built below the project."""
    return not {"node_modules", ".venv", ".tox", "_build", ".pytest_cache"} & set(path.parts)


@pytest.mark.parametrize("folder", tool.SITE_FOLDERS)
def test_git_ignores_the_pages_of_the_site(folder: str) -> None:
    """A page that `make site` writes is never committed."""
    assert f"docs/{folder}/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_guide_describes_its_component(component: str) -> None:
    """It has each operation, capability key and error, and its examples are JSON."""
    page = components.render_pages()[f"components/{component}.md"]
    for operation in operations_of(component):
        assert f"\n## {operation.op}\n" in page
    for fact in FACTS:
        assert component not in fact.components or f"`{fact.keys[0]}`" in page
    for error in TAXONOMY.values():
        assert component not in error.components or f"| `{error.name}` |" in page
    fences = [token for token in MarkdownIt().parse(page) if token.type == "fence"]
    assert len(fences) >= 2 * len(operations_of(component))
    for fence in fences:
        documents = [fence.content] if fence.content.startswith("{\n") else fence.content.splitlines()
        assert all(json.loads(each) for each in documents)


def test_the_sections_name_the_requirements_that_cite_them() -> None:
    """Each section has a heading, and each requirement stands below every section that it cites."""
    _, *parts = coverage.pages()["documents/sections.md"].split("\n## ")
    below = {}
    for document, part in zip(SECTIONS, parts, strict=True):
        for section in part.split("\n###")[1:]:
            below[f"{document} {section.lstrip('#').split()[0]}"] = section
    assert len(below) == sum(map(len, SECTIONS.values()))
    for entry in catalogue().values():
        assert all(entry.id in below[source] for source in entry.source if source in below)


def test_the_coverage_has_every_sentence() -> None:
    """Each sentence is a row below its document."""
    page = coverage.pages()["documents/coverage.md"]
    for document in coverage.FILES:
        part = page.partition(f"\n## {document}\n")[2].partition("\n## ")[0]
        assert all(f"| {each.level} | {each.text} | " in part for each in coverage.sentences(document))


@pytest.mark.parametrize("page", ["README.md", "docs/transports.md", "docs/options.md"])
def test_every_kind_of_address_is_spelled_out(page: str) -> None:
    """The pages that explain addresses name each scheme."""
    text = (ROOT / page).read_text("utf-8")
    assert [each.prefix for each in SCHEMES if not each.prefix.endswith("s://") and each.prefix not in text] == []


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
    run_process(sys.executable, "-m", "sphinx", *options, "docs", tmp_path / "html", cwd=ROOT)
    texts = {path.stem: path.read_text("utf-8") for path in (tmp_path / "html").rglob("*.html")}
    for entry in catalogue().values():
        assert f'id="{entry.id}"' in texts["requirements"]
        assert f'id="{entry.id}"' in texts[entry.chapter.lower()]
    for number in re.findall(r"^### (R\d+) ", (ROOT / "docs" / "rulings.md").read_text("utf-8"), flags=re.MULTILINE):
        assert f'id="{number}"' in texts["rulings"]
    for document, sections in SECTIONS.items():
        assert all(f'id="{document}-{number}"' in texts["sections"] for number in sections)
    assert 'href="rulings.html#R7"' in texts["verdict"]
