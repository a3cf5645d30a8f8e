"""The declaration of an adapter in a test module."""

from collections.abc import Callable
from typing import Any


class Suite:
    """The conformance suite of one adapter, waiting to be collected where it is assigned."""

    __test__ = False

    def __init__(self, factory: Callable[..., Any] | str, label: str | None = None) -> None:
        self.factory, self.label = factory, label
