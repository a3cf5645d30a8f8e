"""A compiled schema, as `SchemaRegistry.get_validator` gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pytest_corpus.text.problems import Problem, dotted
from pytest_corpus.validation.schema.exceptions import SchemaValidationError

if TYPE_CHECKING:
    import jsonschema_rs


class Validator:
    """Holds instances, in the shapes of `json.loads`, to one schema.

    Attributes:
        is_valid: whether an instance meets the schema. What JSON does not have raises a ValueError.
    """

    __slots__ = ("_compiled", "_explained", "_refused", "is_valid")

    def __init__(
        self,
        compiled: jsonschema_rs.Validator,
        explained: Callable[[object], list[Problem]],
        refused: Callable[[object, list[Problem]], SchemaValidationError],
    ) -> None:
        self.is_valid = compiled.is_valid
        self._compiled, self._explained, self._refused = compiled, explained, refused

    def iter_errors(self, instance: object) -> Iterator[Problem]:
        """The problems of an instance, each with `path`, `message` and `schema` (SCHEMA 9.2)."""
        yield from self._explained(instance)

    def validate(self, instance: object) -> None:
        """Pass an instance that meets the schema (SCHEMA 12.D). Raises SchemaValidationError if it does not."""
        if problems := self._explained(instance):
            raise self._refused(instance, problems)

    def deprecated(self, instance: object) -> list[str]:
        """The paths of all in a valid instance that the schema calls ``deprecated`` (SCHEMA 10.2)."""
        said = self._compiled.evaluate(instance).annotations()
        pointers = [
            str(each["instanceLocation"])
            for each in said
            if isinstance(notes := each["annotations"], dict) and notes.get("deprecated") is True
        ]
        return list(dict.fromkeys(map(_path, pointers)))


def _path(pointer: str) -> str:
    return dotted(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
