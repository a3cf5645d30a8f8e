"""The conformance tests: one package per component, one module per chapter of BEHAVIORAL_CONFORMANCE 5.

A long chapter continues in modules whose names begin with its own, such as `test_crud_basic_edges`.
"""

from pytest_corpus.spec.components import CLIENT, ROWS, TRANSPORT_CHAPTERS, Component


def _modules(row: Component) -> tuple[str, ...]:
    return tuple(f"test_{chapter}" for chapter in row.chapters)


CHAPTERS = {row.name: _modules(row) for row in ROWS}
"""The chapters of each component that has a suite, in the order in which they run: foundations first."""

CLIENT_CHAPTERS = {CLIENT.name: _modules(CLIENT)}
"""The chapters of a client library, which stands in the place of a component."""

_TRANSPORT = {f"test_{chapter}": f"{__name__}.transport.test_{chapter}" for chapter in TRANSPORT_CHAPTERS}
"""The chapters that every component has, and their modules."""


def modules_of(component: str) -> dict[str, str]:
    """Return the modules of the chapters of a component or of a client library, by chapter."""
    own = {name: f"{__name__}.{component}.{name}" for name in {**CHAPTERS, **CLIENT_CHAPTERS}[component]}
    return {**own, **_TRANSPORT} if component in CHAPTERS else own
