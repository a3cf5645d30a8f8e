"""The folders of the shipped schemas, goldens, skeletons and documents: in the package, or next to it in a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """The folder `schemas`, `golden` or `skeletons`.

    Raises:
        FileNotFoundError: the installation carries no such folder.
    """
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"this installation of pytest-corpus has no {name}/ folder; install it again")


def document(name: str) -> Path:
    """A page of the documentation that the package carries.

    Raises:
        FileNotFoundError: the installation carries no such page.
    """
    for candidate in (_PACKAGE / "documents" / name, _PACKAGE.parent / "docs" / name):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"this installation of pytest-corpus has no page {name}; install it again")


def documents() -> list[Path]:
    """Every page of the documentation that the package carries, by name.

    Raises:
        FileNotFoundError: the installation carries none.
    """
    return sorted(document("index.md").parent.glob("*.md"))


def package(path: str) -> Path:
    """A file of the package itself."""
    return _PACKAGE / path
