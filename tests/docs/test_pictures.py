"""The pictures of README and site: small, light and dark, without network, and the drawing shows every layer."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
from blocks import PAGES, ROOT
from cli_runs import run_process

from pytest_corpus.spec.requirements import applicable_requirements
from pytest_corpus.suites import inventory

PICTURES = ROOT / "docs" / "pictures"
NEAR = 0.05  # a picture may be this much behind
NAMES = ("green", "layers", "red", "report")


def module(path: Path) -> ModuleType:
    """A module that stands in no package."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def words(svg: Path) -> list[str]:
    found = ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(each.itertext()).replace("\xa0", " ") for each in found]


def shown() -> dict[Path, list[tuple[Path, Path]]]:
    """The dark and the light file of each picture, by its page, as the site finds them."""
    picture = module(ROOT / "docs" / "_ext" / "pictures.py").PICTURE
    texts = {page: page.read_text("utf-8") for page in PAGES}
    return {
        page: [((page.parent / each["dark"]).resolve(), (page.parent / each["light"]).resolve()) for each in found]
        for page, text in texts.items()
        if (found := list(picture.finditer(text))) or "<picture" in text
    }


def test_each_picture_is_shown_light_and_dark() -> None:
    """Every picture of a page is there for both, and every file is on a page."""
    for page, pictures in shown().items():
        assert len(pictures) == page.read_text("utf-8").count("<picture"), page
        for dark, light in pictures:
            assert (dark.name, light.name) == (dark.name, dark.name.replace("-dark.", "-light."))
            assert dark.parent == light.parent == PICTURES
    on_pages = {path for pictures in shown().values() for pair in pictures for path in pair}
    assert on_pages == set(PICTURES.iterdir())
    assert {path.stem.partition("-")[0] for path in on_pages} == set(NAMES)


@pytest.mark.parametrize("path", sorted(PICTURES.iterdir()), ids=lambda path: path.name)
def test_a_picture_is_small_and_needs_no_network(path: Path) -> None:
    """At most 60 kB; a drawing names no address but that of SVG, loads no font and runs no script."""
    assert path.stat().st_size <= 60_000
    if path.suffix == ".svg":
        text = path.read_text("utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert re.findall(r"https?:|//|@font-face|@import|<script|href|url\((?!#)", text) == []
        assert ElementTree.parse(path).getroot().get("viewBox")


@pytest.mark.parametrize("tone", ["light", "dark"])
def test_the_terminals_show_what_they_are_shown_for(tone: str) -> None:
    """The command stands first and the verdict last; the red one has what to fix, a hint and a rerun line."""
    red, green = ("\n".join(words(PICTURES / f"{name}-{tone}.svg")) for name in ("red", "green"))
    assert red.startswith("$ \npytest --corpus-adapter=mypkg:factory")
    for said in ("fix first:", "  hint: ", "  rerun: ", "  verdict: nonconformant"):
        assert said in red
    assert green.startswith("$ \npytest-corpus verify --component llm")
    assert "  verdict: conformant" in green


@pytest.mark.parametrize("tone", ["light", "dark"])
@pytest.mark.parametrize("name", ["red", "green"])
def test_the_figures_are_those_of_the_suite(name: str, tone: str) -> None:
    """The numbers of requirements and of tests are about those of a run: `make pictures` makes them anew."""
    lines = words(PICTURES / f"{name}-{tone}.svg")
    for level in ("MUST", "SHOULD"):
        (line,) = [line for line in lines if line.startswith(f"    {level} ")]
        applicable_ones, *others = map(int, re.findall(r"/?(\d+) (?:satisfied|not applicable)", line))
        known = sum(entry.level == level for entry in applicable_requirements("llm"))
        assert applicable_ones + sum(others) == pytest.approx(known, rel=NEAR), "stale: run make pictures"
    ended = "".join(lines[-2 * len(lines) // 3 :]).rpartition("===")[0].rpartition("== ")[2]
    counted = sum(int(number) for number in re.findall(r"(\d+) (?:failed|passed|not assessed|skipped|SHOULD)", ended))
    assert counted == pytest.approx(len(inventory.tests("llm", "dev")), rel=NEAR), "stale: run make pictures"


@pytest.mark.parametrize("tone", ["light", "dark"])
def test_the_drawing_names_every_layer_of_the_import_contract(tone: str) -> None:
    """Each module of the contract has a box, and each layer a few words."""
    tool = module(ROOT / "tools" / "site_pages" / "drawing.py")
    modules = [name for layer in tool.layers() for name in layer]
    assert len(modules) > 15
    found = words(PICTURES / f"layers-{tone}.svg")
    assert [name for name in modules if name not in found] == []
    assert [layer for layer in tool.layers() if layer[0] not in tool.ROLES] == []


AROUND = 3.0  # a run on another machine may take this many times as long, or as short


@pytest.mark.slow
def test_the_times_are_those_of_a_run(tmp_path: Path) -> None:
    """The time of the first command in start.md, and the time in its picture, are about those of a run."""
    command = "import sys; from pytest_corpus.cli import main; sys.exit(main())"
    given = ("verify", "--component", "llm")
    said = run_process(sys.executable, "-c", command, *given, cwd=tmp_path).stdout
    took_s = float(re.findall(r" in ([\d.]+)s", said)[-1])
    (pictured,) = re.findall(r" in ([\d.]+)s =", "".join(words(PICTURES / "green-light.svg")))
    assert took_s / AROUND <= float(pictured) <= took_s * AROUND
    (named,) = re.findall(r"in about (\w+) seconds", (ROOT / "docs" / "start.md").read_text("utf-8"))
    assert took_s / AROUND <= {"five": 5, "ten": 10, "fifteen": 15, "twenty": 20}[named] <= took_s * AROUND
