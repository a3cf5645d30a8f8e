"""The layers of docs/architecture.md, drawn from the import contract in pyproject.toml."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    key = TOP + len(layers()) * (BOX + GAP)
    head = f'<path d="M0 0 8 4 0 8Z" fill="{colors.faint}"/>'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {key + 30}" role="img" font-size="14">',
        "<title>The layers of pytest_corpus, which import only downwards</title>",
        "<style>text {font-family: ui-sans-serif, system-ui, sans-serif}",
        ".name {font-family: ui-monospace, monospace}</style>",
        '<marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto">',
        f"{head}</marker>",
        f'<rect width="{WIDTH}" height="{key + 30}" rx="8" fill="{colors.ground}"/>',
    ]
    for number, modules in enumerate(layers()):
        top = TOP + number * (BOX + GAP)
        parts.append(words(LEFT - 14, top + BOX / 2, ROLES.get(modules[0], ""), colors.faint, 'text-anchor="end"'))
        parts += row(top, modules, known, colors)
        if number:
            parts.append(arrow((LEFT + RIGHT) / 2, top - GAP, colors))
    parts.append(box(LEFT, key + 1, 22, 16, colors, known=True))
    parts.append(words(LEFT + 30, key + 9, "knows pytest; no other layer does", colors.faint))
    return "\n".join([*parts, "</svg>"]) + "\n"


def row(top: float, modules: list[str], known: set[str], colors: Colors) -> Iterator[str]:
    """The boxes of a layer, side by side."""
    width = (RIGHT - LEFT - GAP * (len(modules) - 1)) / len(modules)
    size = 14 if len(modules) < 5 else 10.5
    for column, module in enumerate(modules):
        left = LEFT + column * (width + GAP)
        yield box(left, top, width, BOX, colors, known=module in known)
        more = f'class="name" text-anchor="middle" font-size="{size}"'
        yield words(left + width / 2, top + BOX / 2, module, colors.text, more)


def box(left: float, top: float, width: float, height: float, colors: Colors, *, known: bool) -> str:
    """A box, in the colours of what knows pytest or of what does not."""
    fill, border = (colors.pytest, colors.pytest_border) if known else (colors.box, colors.border)
    place = f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="{height}" rx="5"'
    return f'<rect {place} fill="{fill}" stroke="{border}"/>'


def arrow(x: float, top: float, colors: Colors) -> str:
    """An arrow from the bottom of a box to the next one."""
    return f'<path d="M{x} {top + 1}v{GAP - 3}" stroke="{colors.faint}" marker-end="url(#head)"/>'


def words(x: float, y: float, said: str, color: str, more: str = "") -> str:
    """Words, with their middle at this height."""
    return f'<text x="{x:.1f}" y="{y + 5:.1f}" fill="{color}" {more}>{said}</text>'
