"""The folders of the shipped schemas, goldens, skeletons and documents: in the package, or next to it in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder `schemas`, `golden` or `skeletons`.

    Raises:
        FileNotFoundError: the installation has no such folder.
    """
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"this installation of pytest-corpus has no {name}/ folder; install it again")


def document(name: str) -> Path:
    """Return the path of a documentation page.

    Raises:
        FileNotFoundError: the installation has no such page.
    """
    for candidate in (_PACKAGE / "documents" / name, _PACKAGE.parent / "docs" / name):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"this installation of pytest-corpus has no page {name}; install it again")


def documents() -> list[Path]:
    """Return the paths of all documentation pages, sorted by name.

    Raises:
        FileNotFoundError: the installation has no documentation.
    """
    return sorted(document("index.md").parent.glob("*.md"))


def package(path: str) -> Path:
    """Return the path of a file inside the package."""
    return _PACKAGE / path
