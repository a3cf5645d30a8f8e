"""The components of the protocol, a row each, and the one thing that is tested like a component and is none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Component:
    """One component.

    Attributes:
        name: what operations begin with, and folders are called.
        title: how BEHAVIORAL_CONFORMANCE 12 writes it; the SDK's classes have it in their names.
        prefix: what the ids of its own requirements begin with.
    """

    name: str
    title: str
    prefix: str


ROWS = (
    Component("llm", "LLM", "LLM"),
    Component("vector", "Vector", "VEC"),
    Component("embedding", "Embedding", "EMB"),
    Component("graph", "Graph", "GRA"),
)
"""Every component, in the order of reports."""

CLIENT = Component("wire", "Wire", "WIR")
"""A client library with request builders, which is tested in the place of a component."""

COMPONENTS = tuple(row.name for row in ROWS)

WIRE = (CLIENT.name,)
"""What the requirements of a client library speak of."""

TITLES = {row.name: row.title for row in (*ROWS, CLIENT)}
"""What a person reads for each of them."""

COMMON_PREFIX = "COM"
"""What the ids of requirements that components share begin with."""
