"""Convert messages from one major schema version to the next (SCHEMA 10.2)."""

from pytest_corpus.validation.requests.migration import MigrationError as MigrationError
from pytest_corpus.validation.requests.migration import SchemaMigrator as SchemaMigrator
