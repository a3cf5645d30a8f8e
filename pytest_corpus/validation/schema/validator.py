"""A compiled schema, as `SchemaRegistry.get_validator` gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from pytest_corpus.spec.schemas import SchemaFile
from pytest_corpus.text.problems import Problem, dotted
from pytest_corpus.validation.schema.exceptions import SchemaValidationError, golden_for

if TYPE_CHECKING:
    import jsonschema_rs


class Validator:
    """Holds instances, in the shapes of `json.loads`, to one schema.

    Attributes:
        is_valid: whether an instance meets the schema. What JSON does not have raises a ValueError.
    """

    __slots__ = ("_compiled", "_edition", "_explain", "_schema", "is_valid")

    def __init__(
        self,
        compiled: jsonschema_rs.Validator,
        schema: SchemaFile,
        edition: str,
        explain: Callable[[object], list[Problem]],
    ) -> None:
        self.is_valid = compiled.is_valid
        self._compiled, self._schema, self._edition, self._explain = compiled, schema, edition, explain

    def iter_errors(self, instance: object) -> Iterator[Problem]:
        """The problems of an instance, each with `path`, `message` and `schema` (SCHEMA 9.2)."""
        with suppress(ValueError):  # a type, a key or a text that JSON does not have
            if self.is_valid(instance):
                return
        yield from self._explain(instance)

    def validate(self, instance: object) -> None:
        """Pass an instance that meets the schema (SCHEMA 12.D). Raises SchemaValidationError if it does not."""
        if problems := list(self.iter_errors(instance)):
            name, golden = self._schema.name, golden_for(self._schema.name, self._edition, instance)
            raise SchemaValidationError(name, self._edition, problems, golden=golden)

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
