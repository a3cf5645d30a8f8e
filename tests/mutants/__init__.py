"""Mutants: reference adapters with one mistake each, and the requirement that must turn red for it.

A mutant is one small class, decorated with the requirement that it breaks; its docstring is one sentence that
names the mistake. `test_mutants` runs the whole suite against each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TypeVar

from pytest_corpus.spec.requirements import catalogue

REFERENCE = "pytest_corpus.reference:llm"
PACKAGE = "mutants"
"""The name by which a runner imports this package, whatever pytest calls it."""

MODULES = (
    "common_wire",
    "common_errors",
    "common_numbers",
    "common_context",
    "common_deadlines",
    "common_telemetry",
    "common_privacy",
    "common_provider",
    "common_streams",
    "llm_completion",
    "llm_requests",
    "llm_tools",
    "llm_tokens",
    "graph_data",
    "graph_edges",
    "graph_deletes",
    "graph_queries",
    "graph_streams",
    "graph_batches",
    "graph_transactions",
    "graph_traversals",
    "graph_lists",
    "graph_conduct",
    "graph_privacy",
)

Made = TypeVar("Made", bound=type)


@dataclass(frozen=True, slots=True)
class Mutant:
    """An adapter with one mistake.

    Attributes:
        name: the name of its class.
        factory: what `--corpus-adapter` is given.
        requirement: the requirement that it breaks.
        description: the mistake, in one sentence.
        control: the factory of the same adapter without the mistake.
    """

    name: str
    factory: str
    requirement: str
    description: str
    control: str = REFERENCE


_known: dict[str, Mutant] = {}


def catches(requirement: str, *, control: type | None = None) -> Callable[[Made], Made]:
    """Register a class as a mutant that breaks `requirement`; `control` is its legal base class, if not the reference.

    Raises:
        ValueError: there is no such requirement, no docstring, or another mutant of that name.
    """

    def register(made: Made) -> Made:
        if requirement not in catalogue():
            raise ValueError(f"{made.__name__}: there is no requirement {requirement}")
        if made.__name__ in _known or "__doc__" not in vars(made):
            raise ValueError(f"{made.__name__}: a mutant has a name and a docstring of its own")
        mutant = Mutant(made.__name__, _factory(made), requirement, made.__doc__ or "")
        _known[made.__name__] = mutant if control is None else _controlled(mutant, control)
        return made

    return register


def mutants() -> tuple[Mutant, ...]:
    """Every mutant, in the order of the catalogue."""
    for module in MODULES:
        import_module(f"{__name__}.{module}")
    order = list(catalogue())
    return tuple(sorted(_known.values(), key=lambda mutant: order.index(mutant.requirement)))


def _controlled(mutant: Mutant, control: type) -> Mutant:
    return Mutant(mutant.name, mutant.factory, mutant.requirement, mutant.description, _factory(control))


def _factory(made: type) -> str:
    return f"{PACKAGE}.{made.__module__.rpartition('.')[2]}:{made.__name__}"
