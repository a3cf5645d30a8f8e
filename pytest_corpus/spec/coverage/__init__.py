"""Every normative sentence of the documents, and who asks it: what `docs/coverage.md` is made of.

Nothing at run time needs this, and the plugin does not import it.
"""

from importlib import import_module
from types import MappingProxyType

from pytest_corpus.spec.coverage.sentence import Sentence

__all__ = ["MODULES", "Sentence", "sentences"]

MODULES = MappingProxyType(
    {
        "BEHAVIORAL_CONFORMANCE": ("behavioral_conformance",),
        "SCHEMA": ("schema",),
        "ERRORS": ("errors",),
        "SPECIFICATION": ("specification_wire", "specification_components", "specification_patterns"),
    }
)
"""The modules that hold the sentences of a document, in the order of its sections."""


def sentences(document: str) -> tuple[Sentence, ...]:
    """The sentences of a document, section by section."""
    found: list[Sentence] = []
    for name in MODULES[document]:
        found += import_module(f"{__name__}.{name}").SENTENCES
    return tuple(found)
