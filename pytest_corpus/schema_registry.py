"""The schemas of both editions, found by name and edition and compiled once; and explanations of invalid values.

Names may be short (``llm.envelope.request``; ``common.envelope.error`` or ``envelope.error``), file names or
full ``$id``s (SCHEMA 2.3, 6.1). A name without a version means the schema in the requested edition; a name
that ends in ``.v1.1`` means exactly that file, and the suffix ``#version/1.0.0`` means that edition
(SCHEMA 10.1). ``edition=None`` is the newest edition.

    assert_valid("llm.envelope.request", request) validate_with_version_tolerance("llm.envelope.request", request,
    ["1.0.0", "1.1.0"])

Importing this module reads no file and loads no schema library, and nothing here uses the network.
"""

from pytest_corpus.spec.schemas import LATEST as LATEST
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS as SCHEMA_VERSIONS
from pytest_corpus.text.problems import Problem as Problem
from pytest_corpus.text.problems import json_problems as json_problems
from pytest_corpus.validation.schema.exceptions import DeprecatedFieldWarning as DeprecatedFieldWarning
from pytest_corpus.validation.schema.exceptions import SchemaAssertionError as SchemaAssertionError
from pytest_corpus.validation.schema.exceptions import SchemaFileError as SchemaFileError
from pytest_corpus.validation.schema.exceptions import SchemaValidationError as SchemaValidationError
from pytest_corpus.validation.schema.exceptions import UnknownEditionError as UnknownEditionError
from pytest_corpus.validation.schema.exceptions import UnknownSchemaError as UnknownSchemaError
from pytest_corpus.validation.schema.files import FORMATS as FORMATS
from pytest_corpus.validation.schema.files import Format as Format
from pytest_corpus.validation.schema.files import find_schema as find_schema
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE as ROOT_VARIABLE
from pytest_corpus.validation.schema.registry import SchemaRegistry as SchemaRegistry
from pytest_corpus.validation.schema.registry import Validator as Validator
from pytest_corpus.validation.schema.registry import assert_valid as assert_valid
from pytest_corpus.validation.schema.registry import get_schema as get_schema
from pytest_corpus.validation.schema.registry import get_validator as get_validator
from pytest_corpus.validation.schema.registry import list_schemas as list_schemas
from pytest_corpus.validation.schema.registry import preload_all_schemas as preload_all_schemas
from pytest_corpus.validation.schema.registry import registry as registry
from pytest_corpus.validation.schema.registry import validate_json as validate_json
from pytest_corpus.validation.schema.registry import validate_with_version_tolerance as validate_with_version_tolerance

if __name__ == "__main__":
    from pytest_corpus.cli import run_schema_registry

    raise SystemExit(run_schema_registry())
