"""The layers of docs/architecture.md, drawn from the import contract in pyproject.toml."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from site_pages import fill

ROOT = Path(__file__).resolve().parents[2]

ROLES = {
    "interface": "documented names",
    "plugin": "entry points",
    "integration": "what they do",
    "suites": "the tests",
    "evidence": "runs on record",
    "kit": "to write and show",
    "verdict": "the judgement",
    "adapter": "the adapter under test",
    "authoring": "files of schemas",
    "validation": "checking JSON",
    "redaction": "what may be shown",
    "text": "JSON as text",
    "reference": "example adapters",
    "resources": "where files lie",
    "spec": "the protocol as tables",
}
"""The purpose of a layer, by its first module."""

IMPORT = re.compile(r"^ *(?:import|from) _?pytest\b", re.M)

WIDTH, LEFT, RIGHT = 960, 190, 944
BOX, GAP, TOP = 34, 16, 12


@dataclass(frozen=True, slots=True)
class Colors:
    """The colours of a drawing."""

    ground: str
    text: str
    faint: str
    box: str
    border: str
    pytest: str
    pytest_border: str


THEMES = {
    "light": Colors("#ffffff", "#1f2328", "#59636e", "#f6f8fa", "#818b98", "#ddf4ff", "#0969da"),
    "dark": Colors("#131416", "#e6edf3", "#9198a1", "#212830", "#656c76", "#0c2d6b", "#4493f8"),
}


def pages() -> dict[str, str]:
    """The drawings, light and dark, by their path below docs/."""
    return {f"pictures/layers-{tone}.svg": drawing(colors) for tone, colors in THEMES.items()}


def contracts() -> list[dict[str, Any]]:
    """The import contracts."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return found


def layers() -> list[list[str]]:
    """The modules of each layer, the highest first."""
    (contract,) = [each for each in contracts() if each.get("containers") == ["pytest_corpus"]]
    return [layer.split(" | ") for layer in contract["layers"]]


def drawing(colors: Colors) -> str:
    """The layers from top to bottom, as an SVG."""
    package = ROOT / "pytest_corpus"
    importing = (path for path in package.rglob("*.py") if IMPORT.search(path.read_text("utf-8")))
    known = {path.relative_to(package).parts[0].removesuffix(".py") for path in importing}
    sizes = {"WIDTH": WIDTH, "LEFT": LEFT, "RIGHT": RIGHT, "BOX": BOX, "GAP": GAP, "TOP": TOP}
    return fill("layers.svg", **sizes, ROLES=ROLES, layers=layers(), known=known, colors=colors)
