"""Move messages from one major schema version to the next (SCHEMA 10.2)."""

from pytest_corpus.validation.requests.migration import MigrationError, SchemaMigrator

__all__ = ["MigrationError", "SchemaMigrator"]
