"""Libraries that only bundles need: one sentence where one is not installed."""

from importlib import import_module
from typing import Any

from pytest_corpus.bundles.errors import BundleError, Problem

LIBRARIES = {
    "yaml": ("PyYAML", "bundles"),
    "jinja2": ("Jinja2", "bundles"),
    "regex": ("regex", "bundles"),
    "scipy": ("scipy", "bundles"),
    "openai": ("openai", "openai"),
    "anthropic": ("anthropic", "anthropic"),
}
"""The distribution that brings each module, and the extra of this product that brings the distribution."""


def library(module: str, file: str) -> Any:
    """A module of an optional library. Raises BundleError if it is not installed; `file` needs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        distribution, extra = LIBRARIES[module]
        said = f"{distribution} is needed and not installed; pip install 'pytest-corpus[{extra}]'"
        raise BundleError(Problem(file, said)) from None
