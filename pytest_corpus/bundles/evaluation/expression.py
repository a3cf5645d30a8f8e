"""An invariant: read once, evaluated for each answer, and explained where it does not hold."""

import ast
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pytest_corpus.bundles.evaluation.budget import Budget, BudgetError
from pytest_corpus.bundles.evaluation.interpreter import Interpreter
from pytest_corpus.bundles.evaluation.syntax import parsed
from pytest_corpus.bundles.evaluation.values import OperationError

MOST_PARTS = 8
LONGEST_VALUE = 200


def is_size(source: str) -> bool:
    """True if a part of an expression counts something, as ``len(output['items'])``, and shows nothing of it."""
    try:
        node = ast.parse(source.strip(), mode="eval").body
    except SyntaxError:  # a part that is not an expression on its own
        return False
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


@dataclass(frozen=True)
class Verdict:
    """The verdict of an invariant on an answer: `error` if it cannot be evaluated, `note` for a remark.

    `parts` are the values of its parts, source by source, where it does not hold.
    """

    holds: bool
    error: str = ""
    note: str = ""
    parts: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Expression:
    """An expression of the allowed syntax."""

    source: str

    @cached_property
    def tree(self) -> ast.expr:
        """Its syntax tree. Raises ExpressionError if it is not allowed."""
        return parsed(self.source)

    def value(self, names: Mapping[str, Any]) -> Any:
        """Its value. Raises OperationError if Python refuses an operation, BudgetError if the budget is used up."""
        return Interpreter(Budget()).value(self.tree, names)

    def judge(self, names: Mapping[str, Any]) -> Verdict:
        """Evaluate it; truth decides, whatever the type (R81)."""
        try:
            found = self.value(names)
        except (OperationError, BudgetError) as error:
            return Verdict(False, error=str(error), parts=self._parts(names))
        except RecursionError:
            return Verdict(False, error="the values are nested too deep")
        kind = type(found).__name__
        note = (
            "" if isinstance(found, bool) else f"its value is not a boolean but a {kind}, which counts as {bool(found)}"
        )
        return Verdict(True, note=note) if found else Verdict(False, note=note, parts=self._parts(names))

    def _parts(self, names: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
        """The values of the parts that are neither constants nor the whole, the innermost first, each once."""
        seen: list[tuple[ast.expr, Any]] = []
        with contextlib.suppress(OperationError, BudgetError, RecursionError):
            Interpreter(Budget(), seen).value(self.tree, names)
        found: dict[str, Any] = {}
        for node, value in seen:
            if isinstance(node, ast.Constant) or node is self.tree or hasattr(value, "__next__"):
                continue
            said = ast.get_source_segment(self.source.strip(), node)
            if said and said not in ("raw_output", "output", "input", "metadata"):
                found.setdefault(said, value)
        return tuple(found.items())[:MOST_PARTS]
