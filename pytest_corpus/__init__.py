"""pytest-corpus: the conformance suite of the Corpus Protocol v1.0 as a pytest plugin.

`interface.py` has the public names. Every pytest run imports this module, so it has as little as possible.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_corpus.interface import *

__version__ = "1.0.0"


def __getattr__(name: str) -> Any:
    from pytest_corpus.interface import public

    return public(name)
