"""The schemas of both editions: resolved by name and edition, compiled once, explained on request.

Names may be short (``llm.envelope.request``; ``common.envelope.error`` or ``envelope.error``), file names or
full ``$id``s (SCHEMA 2.3, 6.1). A name without a version means the schema in the edition asked for; one that
ends in ``.v1.1`` means that file and no other, and one with ``#version/1.0.0`` behind it means that edition
(SCHEMA 10.1). ``edition=None`` is the newest edition.

    assert_valid("llm.envelope.request", request)
    validate_with_version_tolerance("llm.envelope.request", request, ["1.0.0", "1.1.0"])

Importing this module reads no file and loads no schema library, and nothing here uses the network.
"""

from pytest_corpus.spec.schemas import EDITIONS, LATEST
from pytest_corpus.text.problems import Problem, json_problems
from pytest_corpus.validation.schema.exceptions import (
    DeprecatedFieldWarning,
    SchemaAssertionError,
    SchemaFileError,
    SchemaValidationError,
    UnknownEditionError,
    UnknownSchemaError,
)
from pytest_corpus.validation.schema.files import FORMATS, Format
from pytest_corpus.validation.schema.names import find_schema
from pytest_corpus.validation.schema.registry import (
    ROOT_VARIABLE,
    SchemaRegistry,
    assert_valid,
    get_schema,
    get_validator,
    list_schemas,
    preload_all_schemas,
    registry,
    validate_json,
    validate_with_version_tolerance,
)
from pytest_corpus.validation.schema.validator import Validator

__all__ = [
    "EDITIONS",
    "FORMATS",
    "LATEST",
    "ROOT_VARIABLE",
    "DeprecatedFieldWarning",
    "Format",
    "Problem",
    "SchemaAssertionError",
    "SchemaFileError",
    "SchemaRegistry",
    "SchemaValidationError",
    "UnknownEditionError",
    "UnknownSchemaError",
    "Validator",
    "assert_valid",
    "find_schema",
    "get_schema",
    "get_validator",
    "json_problems",
    "list_schemas",
    "preload_all_schemas",
    "registry",
    "validate_json",
    "validate_with_version_tolerance",
]

if __name__ == "__main__":
    from pytest_corpus.cli import schema_registry

    raise SystemExit(schema_registry())
