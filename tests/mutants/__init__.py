"""Mutants: reference adapters with one mistake each, and the requirement that must turn red for it.

`llm/streaming_semantics.py` has those that the chapter of this name finds, `common/` those of what components share.
A mutant is a row of `<chapter>.edits`, in the form that `edits.py` describes, or, if it needs more than edits, a class
in `<chapter>.py`, decorated with `catches` and with a docstring of one sentence that names the mistake.
`test_mutants` runs the whole suite against each of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

from edits import Edits, Row

from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.suites import CHAPTERS

REFERENCES = {component: f"pytest_corpus.reference:{component}" for component in CHAPTERS}
"""The unmutated adapter of each component that has a suite."""

MOST_OTHERS = 3
"""How many other requirements a mutant may violate: some mistakes break more than one sentence."""

PACKAGE = "mutants"
"""The name by which a runner imports this package, whatever pytest calls it."""

ROOMS = ("common", *REFERENCES)
"""The folders, one for each component and one for what they share."""

MODULES = sorted(
    f"{file.parent.name}.{file.stem}" for room in ROOMS for file in (Path(__file__).parent / room).glob("[!_]*.py")
)


class Adapter(Protocol):
    """A mutant knows its component, as the reference adapters do."""

    component: ClassVar[str]


Made = TypeVar("Made", bound=type[Adapter])


@dataclass(frozen=True, slots=True)
class Mutant:
    """An adapter with one mistake.

    Attributes:
        name: its component and the name of its class, e.g. ``llm-OpInAnyCase``.
        factory: what `--corpus-adapter` is given.
        component: the component that it serves.
        requirement: the requirement that it breaks.
        description: the mistake, in one sentence.
        control: the factory of the same adapter without the mistake.
        others: how many other requirements it may violate.
    """

    name: str
    factory: str
    component: str
    requirement: str
    description: str
    control: str
    others: int


_known: dict[str, Mutant] = {}


def catches(
    requirement: str, *, control: type[Adapter] | None = None, others: int = MOST_OTHERS
) -> Callable[[Made], Made]:
    """Register a class as a mutant that breaks `requirement`; `control` is its legal base class, if not the reference.

    `others` is how many other requirements it may violate, where the mistake breaks many sentences.

    Raises:
        ValueError: there is no such requirement, no docstring, or another mutant of that name.
    """

    def register(made: Made) -> Made:
        if requirement not in catalogue():
            raise ValueError(f"{made.__name__}: there is no requirement {requirement}")
        component, name = made.component, f"{made.component}-{made.__name__}"
        if name in _known or "__doc__" not in vars(made):
            raise ValueError(f"{made.__name__}: a mutant has a name and a docstring of its own")
        unmutated = REFERENCES[component] if control is None else _factory(control)
        _known[name] = Mutant(name, _factory(made), component, requirement, made.__doc__ or "", unmutated, others)
        return made

    return register


def mutants() -> tuple[Mutant, ...]:
    """Every mutant, in the order of the catalogue."""
    for module in MODULES:
        import_module(f"{__name__}.{module}")
    for room in ROOMS:
        for file in import_module(f"{__name__}.{room}").ROOM.files:
            for row in file.rows.values():
                _register(row, file)
    order = list(catalogue())
    return tuple(sorted(_known.values(), key=lambda mutant: order.index(mutant.requirement)))


def _register(row: Row, file: Edits) -> None:
    """Register the mutant of a row, with the options of `catches`; ``[control]`` alone says that its base is legal."""
    if unknown := row.options.keys() - {"control", "others"}:
        row.fail(f"there is no option {', '.join(unknown)}")
    made = file.make(row.name)
    if row.requirement:
        name = row.options.get("control")
        control = None if name is None else file.named(row, name) if name else file.base(row)[0]
        catches(row.requirement, control=control, others=int(row.options.get("others", MOST_OTHERS)))(made)


def _factory(made: type[Adapter]) -> str:
    return f"{PACKAGE}.{made.__module__.removeprefix(f'{__name__}.')}:{made.__name__}"
