"""The committed pages are current, and the pages that only the site has hold what the tables hold."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from blocks import ROOT
from markdown_it import MarkdownIt

from pytest_corpus.spec.capabilities import FACTS
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.documents import SECTIONS
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.requirements import catalogue

sys.path.insert(0, str(ROOT / "tools"))

import pages as tool
from site_pages import components, coverage, detection

LINES = 5_000
"""The most lines that committed Markdown may have in total: what can be generated is not committed."""


def test_the_committed_pages_are_current() -> None:
    """The requirements, the options and the drawings say what the tables, the plugin and the contract say."""
    command = [sys.executable, str(ROOT / "tools" / "pages.py"), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_readme_has_the_present_score() -> None:
    """The line on faults made by machine says what the last recorded run found."""
    assert f"  {detection.line()}\n" in (ROOT / "README.md").read_text("utf-8")


def test_the_table_has_a_line_for_each_requirement() -> None:
    """Every id stands in one line with its level, its sentence and its sources."""
    lines = (ROOT / "docs" / "requirements.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.split(" | ")] for line in lines if line.startswith("| ")][2:]
    assert [row[0].lstrip("| ") for row in rows] == list(catalogue())
    assert {len(row) for row in rows} == {4}


def test_the_committed_pages_stay_short() -> None:
    """Pages, READMEs and prompts together keep to the limit."""
    ignored = [ROOT / "docs" / folder for folder in tool.SITE_FOLDERS]
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
    page = components.pages()[f"components/{component}.md"]
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
