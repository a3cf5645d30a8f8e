"""The conformance tests: one package a component, one module a chapter of BEHAVIORAL_CONFORMANCE 5."""

from __future__ import annotations

from pytest_corpus.spec.components import CLIENT, ROWS, Component


def _modules(row: Component) -> tuple[str, ...]:
    return tuple(f"test_{chapter}" for chapter in row.chapters)


CHAPTERS = {row.name: _modules(row) for row in ROWS}
"""The chapters of each component that has a suite, in the order in which they run: foundations first."""

CLIENT_CHAPTERS = {CLIENT.name: _modules(CLIENT)}
"""The chapters of a client library, which stands in the place of a component."""


def chapters_of(component: str) -> tuple[str, ...]:
    """The chapters of a component or of a client library."""
    return {**CHAPTERS, **CLIENT_CHAPTERS}[component]
