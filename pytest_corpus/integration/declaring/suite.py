"""The declaration of an adapter in a test module."""

from collections.abc import Callable
from typing import Any


class Suite:
    """The conformance suite of one adapter. pytest collects the suite in the module that contains it."""

    __test__ = False

    def __init__(self, factory: Callable[..., Any] | str, label: str | None = None) -> None:
        self.factory, self.label = factory, label
