"""The public interface: each name is there, used in the file that mypy checks, and imported on first use."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_corpus

API = Path(__file__).parents[1] / "typing" / "api.py"


def test_every_name_is_there_and_type_checked() -> None:
    """`tests/typing/api.py` uses every public name."""
    tree = ast.parse(API.read_text("utf-8"))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert set(pytest_corpus.__all__) <= used
    assert all(getattr(pytest_corpus, name) for name in pytest_corpus.__all__)


def test_an_unknown_name() -> None:
    """A name that is not public is an `AttributeError`."""
    with pytest.raises(AttributeError, match="module 'pytest_corpus' has no attribute 'nothing'"):
        _ = pytest_corpus.nothing


def test_importing_the_package_imports_nothing_else() -> None:
    """The names cost nothing until they are used."""
    code = "import pytest_corpus, sys; print([name for name in sys.modules if name.startswith('pytest_corpus.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
