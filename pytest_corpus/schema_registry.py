"""The schemas of both editions: resolved by name and edition, compiled once, explained on request.

Names may be short (``llm.envelope.request``; ``common.envelope.error`` or ``envelope.error``), file names or
full ``$id``s (SCHEMA 2.3, 6.1). A name without a version means the schema in the edition asked for; one that
ends in ``.v1.1`` means that file and no other. ``edition=None`` is the newest edition.

Importing this module reads no file and loads no schema library, and nothing here uses the network.
"""

from __future__ import annotations

import copy
import json
import os
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from pytest_corpus import resources
from pytest_corpus._problems import Problem, json_problems
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, EDITIONS, LATEST, SCHEMAS, SchemaFile

if TYPE_CHECKING:
    import jsonschema_rs

    from pytest_corpus._explain import Explainer

__all__ = [
    "EDITIONS",
    "LATEST",
    "ROOT_VARIABLE",
    "Problem",
    "SchemaAssertionError",
    "SchemaFileError",
    "SchemaRegistry",
    "SchemaValidationError",
    "UnknownEditionError",
    "UnknownSchemaError",
    "assert_valid",
    "get_schema",
    "get_validator",
    "json_problems",
    "list_schemas",
    "preload_all_schemas",
    "registry",
    "validate_json",
]

ROOT_VARIABLE = "CORPUS_SCHEMAS_ROOT"
"""Environment variable that names another ``schemas/`` folder (SCHEMA 6.1)."""


class UnknownEditionError(LookupError):
    """An edition that does not exist was asked for."""

    def __init__(self, edition: str) -> None:
        super().__init__(edition)
        self.edition = edition

    def __str__(self) -> str:
        return f"there is no schema edition {self.edition!r}; there are {', '.join(EDITIONS)}"


class UnknownSchemaError(LookupError):
    """A name that no schema has, or none in the edition asked for. `suggestions` are the nearest names."""

    def __init__(self, name: str, edition: str | None = None, known: SchemaFile | None = None) -> None:
        super().__init__(name, edition)
        self.name = name
        self.edition = edition
        self.known = known
        self.suggestions = () if known else _nearest(name)

    def __str__(self) -> str:
        if self.known:
            return (
                f"edition {self.edition} has no schema {self.name!r}; "
                f"{self.known.name} exists in {', '.join(self.known.editions)}"
            )
        hint = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"there is no schema {self.name!r}{hint}"


class SchemaFileError(Exception):
    """A schema file is missing, is no JSON, carries another ``$id`` or does not compile."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(path, fault)
        self.path = path
        self.fault = fault

    def __str__(self) -> str:
        return f"{self.path}: {self.fault}"


class SchemaValidationError(Exception):
    """An instance does not meet a schema. The text names keys, types and rules, never values."""

    def __init__(self, schema: str, edition: str, problems: list[Problem], context: str = "") -> None:
        super().__init__(schema, edition, problems, context)
        self.schema = schema
        self.edition = edition
        self.problems = problems
        self.context = context

    def __str__(self) -> str:
        where = f"{self.context}: " if self.context else ""
        lines = [f"{where}not a valid {self.schema} (edition {self.edition})"]
        return "\n".join(lines + [f"  {problem} [{problem.rule}]" for problem in self.problems])


class SchemaAssertionError(SchemaValidationError, AssertionError):
    """The same as an assertion, so that a test fails with it instead of erring."""


class SchemaRegistry:
    """All schemas below one folder.

    Files are read, and validators compiled, when they are first needed and then kept; any number of threads
    may share a registry.

    Args:
        root: the ``schemas/`` folder; by default the one that ``CORPUS_SCHEMAS_ROOT`` names, or else the
            shipped one.
    """

    def __init__(self, root: Path | None = None) -> None:
        given = root or os.environ.get(ROOT_VARIABLE)
        self._given = Path(given) if given else None
        self._lock = RLock()
        self._documents: dict[str, dict[str, Any]] = {}
        self._compiled: dict[str, jsonschema_rs.Validator] = {}
        self._explainer: Explainer | None = None
        self._by_name: dict[tuple[str, str | None], jsonschema_rs.Validator] = {}

    @property
    def root(self) -> Path:
        """The folder that the schemas are read from."""
        return self._given or resources.folder("schemas")

    def list_schemas(self, edition: str | None = None) -> dict[str, str]:
        """Short name -> ``$id`` of every schema that an edition knows, folder by folder."""
        wanted = _edition(edition)
        return {schema.name: BASE_URI + schema.file(wanted) for schema in SCHEMAS if wanted in schema.editions}

    def get_schema(self, name: str, edition: str | None = None) -> dict[str, Any]:
        """The schema document, a copy of the caller's own.

        Raises:
            UnknownSchemaError, UnknownEditionError, SchemaFileError
        """
        schema, wanted = _resolve(name, edition)
        return copy.deepcopy(self._document(schema.file(wanted)))

    def get_validator(self, name: str, edition: str | None = None) -> jsonschema_rs.Validator:
        """The compiled validator; the same object for every call that means the same file.

        Raises:
            UnknownSchemaError, UnknownEditionError, SchemaFileError
        """
        validator = self._by_name.get((name, edition))
        if validator is None:
            schema, wanted = _resolve(name, edition)
            validator = self._by_name[name, edition] = self._compile(schema.file(wanted))
        return validator

    def is_valid(self, name: str, instance: object, edition: str | None = None) -> bool:
        """Whether an instance, in the shapes of `json.loads`, meets a schema.

        What JSON does not have is not valid where the schema looks at it; `json_problems` looks everywhere.
        """
        validator = self.get_validator(name, edition)
        try:
            return validator.is_valid(instance)
        except ValueError:  # a type, a key or a text that JSON does not have
            return False

    def problems(self, name: str, instance: object, edition: str | None = None) -> list[Problem]:
        """Why an instance does not meet a schema, outermost first; empty exactly when `is_valid`."""
        if self.is_valid(name, instance, edition):
            return []
        schema, wanted = _resolve(name, edition)
        found = self._explaining().problems(instance, BASE_URI + schema.file(wanted), schema.name)
        return found or [Problem("", "schema", f"does not meet {schema.name}", schema.name)]

    def editions_met(self, name: str, instance: object) -> tuple[str, ...]:
        """The editions, oldest first, that have the schema and accept the instance."""
        schema, _ = _resolve(name, None)
        pinned = _aliases()[name][1]
        return tuple(
            edition
            for edition in schema.editions
            if (pinned is None or schema.file(edition) == schema.file(pinned))
            and self.is_valid(name, instance, edition)
        )

    def validate_json(self, name: str, instance: object, edition: str | None = None, *, context: str = "") -> None:
        """Pass an instance that meets the schema.

        Raises:
            SchemaValidationError: it does not; `problems` holds why, `context` begins the text.
        """
        self._require(name, instance, edition, context, SchemaValidationError)

    def assert_valid(self, name: str, instance: object, edition: str | None = None, *, context: str = "") -> None:
        """The same for tests.

        Raises:
            SchemaAssertionError: an AssertionError, otherwise as `validate_json`.
        """
        self._require(name, instance, edition, context, SchemaAssertionError)

    def compile(self, document: dict[str, Any]) -> jsonschema_rs.Validator:
        """A schema of one's own, which may refer to those here by ``$id``; compiled anew each time.

        Raises:
            SchemaFileError: a file that it refers to is broken.
            ValueError: it does not compile itself.
        """
        import jsonschema_rs

        return jsonschema_rs.Draft202012Validator(document, retriever=self._retrieve)

    def preload_all_schemas(self) -> int:
        """Read and compile every schema of every edition; the number of files."""
        files = [file for schema in SCHEMAS for file in schema.files]
        for file in files:
            self._compile(file)
        return len(files)

    def _require(
        self,
        name: str,
        instance: object,
        edition: str | None,
        context: str,
        error: type[SchemaValidationError],
    ) -> None:
        if problems := self.problems(name, instance, edition):
            schema, wanted = _resolve(name, edition)
            raise error(schema.name, wanted, problems, context)

    def _explaining(self) -> Explainer:
        from pytest_corpus._explain import Explainer

        with self._lock:
            if self._explainer is None:
                self._explainer = Explainer(self._retrieve)
            return self._explainer

    def _document(self, file: str) -> dict[str, Any]:
        with self._lock:
            if file not in self._documents:
                self._documents[file] = _read(self.root / file, BASE_URI + file)
            return self._documents[file]

    def _retrieve(self, uri: str) -> dict[str, Any]:
        """The document of an ``$id``: always a file below the root, never anything fetched."""
        return self._document(uri.removeprefix(BASE_URI))

    def _compile(self, file: str) -> jsonschema_rs.Validator:
        import jsonschema_rs

        with self._lock:
            if file not in self._compiled:
                try:
                    self._compiled[file] = jsonschema_rs.Draft202012Validator(
                        self._document(file), retriever=self._retrieve
                    )
                except (ValueError, jsonschema_rs.ReferencingError) as fault:
                    raise SchemaFileError(self.root / file, f"does not compile: {fault}") from fault
            return self._compiled[file]


def _read(path: Path, uri: str) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as fault:
        raise SchemaFileError(path, f"cannot be read: {fault.strerror}") from fault
    except ValueError as fault:
        raise SchemaFileError(path, f"is no JSON: {fault}") from fault
    if not isinstance(document, dict) or document.get("$id") != uri:
        raise SchemaFileError(path, f"must be a JSON object with $id {uri}")
    return document


def find_schema(name: str) -> tuple[SchemaFile, str | None]:
    """What a name means: the schema, and the edition that a version in the name pins.

    Raises:
        UnknownSchemaError
    """
    if name not in _aliases():
        raise UnknownSchemaError(name)
    return _aliases()[name]


def _edition(edition: str | None) -> str:
    if edition is None:
        return LATEST
    if edition not in EDITIONS:
        raise UnknownEditionError(edition)
    return edition


def _resolve(name: str, edition: str | None) -> tuple[SchemaFile, str]:
    """The schema that a name means, and an edition whose file of it is meant."""
    wanted = _edition(edition)
    if name not in _aliases():
        raise UnknownSchemaError(name)
    schema, pinned = _aliases()[name]
    if edition is None and pinned:
        return schema, pinned
    if wanted not in schema.editions or (pinned and schema.file(wanted) != schema.file(pinned)):
        raise UnknownSchemaError(name, wanted, schema)
    return schema, wanted


@cache
def _aliases() -> dict[str, tuple[SchemaFile, str | None]]:
    """Everything that a schema may be called -> it, and the edition that a version in the name pins."""
    aliases: dict[str, tuple[SchemaFile, str | None]] = {}
    for schema in SCHEMAS:
        for own, file in zip(schema.own, schema.files, strict=True):
            meant = (schema, None if own == schema.own[0] else own)
            file_name = file.rpartition("/")[2]
            aliases |= dict.fromkeys((BASE_URI + file, file, file_name, file_name.removesuffix(".json")), meant)
        aliases[schema.name] = (schema, None)
    return aliases


def _nearest(name: str) -> tuple[str, ...]:
    stem = name.removeprefix(BASE_URI).rpartition("/")[2].removesuffix(".json")
    return tuple(get_close_matches(stem, BY_NAME, n=2, cutoff=0.6))


_SHARED: dict[str | None, SchemaRegistry] = {}
_SHARED_LOCK = RLock()


def registry() -> SchemaRegistry:
    """The registry that everything in this process shares, one for each value of ``CORPUS_SCHEMAS_ROOT``."""
    root = os.environ.get(ROOT_VARIABLE)
    with _SHARED_LOCK:
        if root not in _SHARED:
            _SHARED[root] = SchemaRegistry()
        return _SHARED[root]


def get_validator(name: str, edition: str | None = None) -> jsonschema_rs.Validator:
    """As `SchemaRegistry.get_validator`, of the shared registry."""
    return registry().get_validator(name, edition)


def get_schema(name: str, edition: str | None = None) -> dict[str, Any]:
    """As `SchemaRegistry.get_schema`, of the shared registry."""
    return registry().get_schema(name, edition)


def list_schemas(edition: str | None = None) -> dict[str, str]:
    """As `SchemaRegistry.list_schemas`, of the shared registry."""
    return registry().list_schemas(edition)


def validate_json(name: str, instance: object, edition: str | None = None, *, context: str = "") -> None:
    """As `SchemaRegistry.validate_json`, of the shared registry."""
    registry().validate_json(name, instance, edition, context=context)


def assert_valid(name: str, instance: object, edition: str | None = None, *, context: str = "") -> None:
    """As `SchemaRegistry.assert_valid`, of the shared registry."""
    registry().assert_valid(name, instance, edition, context=context)


def preload_all_schemas() -> int:
    """As `SchemaRegistry.preload_all_schemas`, of the shared registry."""
    return registry().preload_all_schemas()
