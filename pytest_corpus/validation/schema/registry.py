"""The registry of schemas: it finds schemas by name and edition, compiles them once, and explains invalid values."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial, wraps
from inspect import currentframe
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from pytest_corpus import resources
from pytest_corpus.spec.schemas import BASE_URI, DIALECT, SchemaFile
from pytest_corpus.text.problems import Problem, path_text
from pytest_corpus.validation.schema import explain
from pytest_corpus.validation.schema import files as schema_files
from pytest_corpus.validation.schema.exceptions import (
    DeprecatedFieldWarning,
    SchemaAssertionError,
    SchemaFileError,
    SchemaValidationError,
    golden_for,
)
from pytest_corpus.validation.schema.files import Format, SchemaTable, check_edition, table_of

if TYPE_CHECKING:
    import jsonschema_rs


P = ParamSpec("P")
T = TypeVar("T")

ROOT_VARIABLE = "CORPUS_SCHEMAS_ROOT"
"""The environment variable that names another ``schemas/`` folder (SCHEMA 6.1)."""


class Validator:
    """Validates instances (values as `json.loads` returns them) against one schema.

    Attributes:
        is_valid: returns True for a valid instance. Raises ValueError if the instance is not JSON.
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
        """Yield the problems of an instance, each with `path`, `message` and `schema` (SCHEMA 9.2)."""
        with suppress(ValueError):  # the value is not JSON
            if self.is_valid(instance):
                return
        yield from self._explain(instance)

    def validate(self, instance: object) -> None:
        """Raise SchemaValidationError unless an instance is valid (SCHEMA 12.D)."""
        if problems := list(self.iter_errors(instance)):
            name, golden = self._schema.name, golden_for(self._schema.name, self._edition, instance)
            raise SchemaValidationError(name, self._edition, problems, golden=golden)

    def deprecated(self, instance: object) -> list[str]:
        """Return the paths in a valid instance that the schema marks as ``deprecated`` (SCHEMA 10.2)."""
        said = self._compiled.evaluate(instance).annotations()
        pointers = [
            str(each["instanceLocation"])
            for each in said
            if isinstance(notes := each["annotations"], dict) and notes.get("deprecated") is True
        ]
        return list(dict.fromkeys(map(_pointer_to_path, pointers)))


def _pointer_to_path(pointer: str) -> str:
    return path_text(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])


class SchemaRegistry:
    """All schemas below one folder: the protocol's schemas, and any other ``*.json`` of a user's folder.

    Files are read and compiled at first use, then cached. Threads may share a registry.

    Args:
        root: the ``schemas/`` folder; by default the folder in ``CORPUS_SCHEMAS_ROOT``, or else the shipped folder.
        formats: checks for the user's formats, by name. Values must satisfy them, as well as `FORMATS` and the formats
            of JSON Schema.
    """

    def __init__(self, root: Path | None = None, *, formats: Mapping[str, Format] | None = None) -> None:
        given = root or os.environ.get(ROOT_VARIABLE)
        self._given = Path(given) if given else None
        self._formats = {name: schema_files.make_safe_check(check) for name, check in (formats or {}).items()}
        self._lock = RLock()
        self._documents: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._compiled: dict[str, jsonschema_rs.Validator] = {}
        self._validators: dict[str, Validator] = {}
        self._by_name: dict[tuple[str, str | None], Validator] = {}
        self._deprecates = False

    @cached_property
    def root(self) -> Path:
        """The folder from which the schemas are read."""
        return self._given or resources.folder("schemas")

    @cached_property
    def table(self) -> SchemaTable:
        """The schemas of the folder and their names; the folder is searched once."""
        return table_of(self.root)

    def list_schemas(self, edition: str | None = None) -> dict[str, str]:
        """Return the ``$id`` of every schema in an edition, by short name, folder by folder."""
        wanted = check_edition(edition)
        return {
            schema.name: BASE_URI + schema.file(wanted) for schema in self.table.schemas if wanted in schema.editions
        }

    def get_schema(self, name: str, edition: str | None = None) -> dict[str, Any]:
        """Return a copy of a schema's document. Raises UnknownSchemaError, UnknownEditionError, SchemaFileError."""
        schema, wanted = self.table.resolve(name, edition)
        return copy.deepcopy(self._read(schema.file(wanted))[0])

    def get_validator(self, name: str, edition: str | None = None) -> Validator:
        """Return the compiled validator of a schema.

        Raises:
            UnknownSchemaError, UnknownEditionError, SchemaFileError
        """
        validator = self._by_name.get((name, edition))
        if validator is None:
            schema, wanted = self.table.resolve(name, edition)
            validator = self._by_name[name, edition] = self._validator(schema, wanted)
        return validator

    def is_valid(self, name: str, instance: object, edition: str | None = None) -> bool:
        """True if an instance (a value as `json.loads` returns it) is valid under a schema.

        Values that JSON cannot represent are found only if the schema has rules for them; `json_problems` finds all.
        """
        validator = self.get_validator(name, edition)
        try:
            return validator.is_valid(instance)
        except ValueError:  # the value is not JSON
            return False

    def problems(self, name: str, instance: object, edition: str | None = None) -> list[Problem]:
        """Return the problems of an instance under a schema, outermost first; empty if and only if `is_valid`."""
        if self.is_valid(name, instance, edition):
            return []
        schema, wanted = self.table.resolve(name, edition)
        return self._explain(schema, wanted, instance)

    def editions_met(self, name: str, instance: object) -> tuple[str, ...]:
        """Return the editions, oldest first, that have the schema and accept the instance."""
        _, editions = self.table.editions_of(name)
        return tuple(edition for edition in editions if self.is_valid(name, instance, edition))

    def validate_json(self, name: str, instance: object, edition: str | None = None, *, context: str = "") -> None:
        """Raise SchemaValidationError, with a text that begins with `context`, unless an instance is valid."""
        self._require(name, instance, edition, context, SchemaValidationError)

    def assert_valid(self, name: str, instance: object, edition: str | None = None, *, context: str = "") -> None:
        """Like `validate_json`, for tests. Raises SchemaAssertionError, which is also an AssertionError."""
        self._require(name, instance, edition, context, SchemaAssertionError)

    def validate_with_version_tolerance(
        self, schema_id: str, obj: object, accepted_versions: Iterable[str], case_id: str = "unknown"
    ) -> str:
        """Return the first accepted edition under which an instance is valid (SCHEMA 10.1).

        Editions that do not exist or lack the schema accept nothing.

        Raises:
            SchemaAssertionError: no edition accepts the instance; `problems` are from the last edition with the schema.
            UnknownSchemaError: the schema does not exist.
            SchemaFileError: the schema cannot be read or compiled.
        """
        accepted = tuple(accepted_versions)
        schema, known = self.table.editions_of(schema_id)
        held = [edition for edition in accepted if edition in known]
        for edition in held:
            if self.is_valid(schema_id, obj, edition):
                self._warn(schema_id, obj, edition, case_id)
                return edition
        last = held[-1] if held else " or ".join(accepted) or "none"
        problems = self.problems(schema_id, obj, last) if held else [_make_version_problem(schema, accepted)]
        golden = golden_for(schema.name, last, obj) if held else None
        raise SchemaAssertionError(schema.name, last, problems, case_id, golden)

    def deprecations(self, name: str, instance: object, edition: str | None = None) -> list[str]:
        """Return the paths in a valid instance that are ``deprecated`` (SCHEMA 10.2). Raises like `get_schema`."""
        validator = self.get_validator(name, edition)
        return validator.deprecated(instance) if self._deprecates else []

    def compile(self, document: dict[str, Any]) -> jsonschema_rs.Validator:
        """Compile a user's schema, which may refer to the registry's schemas by ``$id``.

        Raises:
            ValueError: the schema is not valid.
        """
        import jsonschema_rs

        return jsonschema_rs.Draft202012Validator(schema_files.for_compiler(document, self._formats), **self._options())

    def preload_all_schemas(self) -> int:
        """Read and compile every schema; return the number of files. Raises SchemaFileError."""
        import jsonschema_rs

        files = [file for schema in self.table.schemas for file in schema.files]
        with self._lock:
            # All schemas are compiled together, so that shared parts are compiled once.
            wanted = {file: {"$ref": BASE_URI + file} for file in files if file not in self._compiled}
            with suppress(ValueError, jsonschema_rs.ReferencingError):  # compiling one by one names the broken file
                together = jsonschema_rs.validator_map_for({"$schema": DIALECT, "$defs": wanted}, **self._options())
                for file in wanted:
                    if validator := together.get(f"#/$defs/{file.replace('/', '~1')}"):
                        self._compiled[file] = validator
            for file in files:
                self._compile(file)
        return len(files)

    def _require(
        self, name: str, instance: object, edition: str | None, context: str, error: type[SchemaValidationError]
    ) -> None:
        if problems := self.problems(name, instance, edition):
            schema, wanted = self.table.resolve(name, edition)
            raise error(schema.name, wanted, problems, context, golden_for(schema.name, wanted, instance))
        self._warn(name, instance, edition, context)

    def _warn(self, name: str, instance: object, edition: str | None, context: str) -> None:
        """Warn about deprecated members of a valid instance; the warning names the caller of the registry."""
        for path in self.deprecations(name, instance, edition) if self._deprecates else ():
            schema, wanted = self.table.resolve(name, edition)
            where = f"{context}: " if context else ""
            said = f"{where}{path or 'the whole'} is deprecated in {schema.name} (edition {wanted})"
            warnings.warn(said, DeprecatedFieldWarning, stacklevel=_count_own_frames())

    def _validator(self, schema: SchemaFile, edition: str) -> Validator:
        file = schema.file(edition)
        with self._lock:
            if file not in self._validators:
                explain = partial(self._explain, schema, edition)
                self._validators[file] = Validator(self._compile(file), schema, edition, explain)
            return self._validators[file]

    def _explain(self, schema: SchemaFile, edition: str, instance: object) -> list[Problem]:
        found = explain.find_problems(
            self._compile(schema.file(edition)), instance, schema.name, lambda file: self._read(file)[0]
        )
        return found or [Problem("", "schema", f"does not meet {schema.name}", schema.name)]

    def _read(self, file: str) -> tuple[dict[str, Any], dict[str, Any]]:
        with self._lock:
            if file not in self._documents:
                document, compiled, deprecates = schema_files.read_schema_file(self.root, file, self._formats)
                self._documents[file] = (document, compiled)
                self._deprecates |= deprecates
            return self._documents[file]

    def _retrieve(self, uri: str) -> dict[str, Any]:
        """Return the document with this ``$id``, in the form for the compiler. Its file is always below the root."""
        return self._read(uri.removeprefix(BASE_URI))[1]

    def _options(self) -> dict[str, Any]:
        # Even formats that no schema uses make each call slower.
        formats = {
            "formats": self._formats,
            "keywords": {schema_files.FORMAT_KEYWORD: schema_files.make_format_keyword(self._formats)},
        }
        return {"retriever": self._retrieve, "validate_formats": True, **(formats if self._formats else {})}

    def _compile(self, file: str) -> jsonschema_rs.Validator:
        import jsonschema_rs

        with self._lock:
            if file not in self._compiled:
                document = self._retrieve(BASE_URI + file)
                try:
                    self._compiled[file] = jsonschema_rs.Draft202012Validator(document, **self._options())
                except (ValueError, jsonschema_rs.ReferencingError) as fault:
                    raise SchemaFileError(self.root / file, f"does not compile: {fault}") from fault
            return self._compiled[file]


def _count_own_frames() -> int:
    """Return the number of stack frames of this module above its caller, as the `stacklevel` of a warning."""
    frame, count = currentframe(), 0
    while frame is not None and frame.f_code.co_filename == __file__:
        frame, count = frame.f_back, count + 1
    return count


def _make_version_problem(schema: SchemaFile, accepted: tuple[str, ...]) -> Problem:
    message = f"is of no accepted version: {schema.name} exists in {', '.join(schema.editions)}"
    return Problem("", "version", f"{message}, not in {' or '.join(accepted) or 'none'}", schema.name)


_SHARED: dict[str | None, SchemaRegistry] = {}
_SHARED_LOCK = RLock()


def registry() -> SchemaRegistry:
    """Return the registry that this process shares. There is one for each value of ``CORPUS_SCHEMAS_ROOT``."""
    root = os.environ.get(ROOT_VARIABLE)
    with _SHARED_LOCK:
        if root not in _SHARED:
            _SHARED[root] = SchemaRegistry()
        return _SHARED[root]


def _shared_function(method: Callable[Concatenate[SchemaRegistry, P], T]) -> Callable[P, T]:
    """Return a function that calls a method of the shared registry."""

    @wraps(method)
    def function(*args: P.args, **named: P.kwargs) -> T:
        return method(registry(), *args, **named)

    return function


get_validator = _shared_function(SchemaRegistry.get_validator)
get_schema = _shared_function(SchemaRegistry.get_schema)
list_schemas = _shared_function(SchemaRegistry.list_schemas)
validate_json = _shared_function(SchemaRegistry.validate_json)
assert_valid = _shared_function(SchemaRegistry.assert_valid)
validate_with_version_tolerance = _shared_function(SchemaRegistry.validate_with_version_tolerance)
preload_all_schemas = _shared_function(SchemaRegistry.preload_all_schemas)
