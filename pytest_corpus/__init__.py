"""pytest-corpus: the conformance suite of the Corpus Protocol v1.0 as a pytest plugin.

The public names are in `interface.py`. Every pytest run imports this module, so it is kept small.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_corpus.interface import *

__version__ = "1.0.0"


def __getattr__(name: str) -> Any:
    from pytest_corpus.interface import find_public_name

    return find_public_name(name)
