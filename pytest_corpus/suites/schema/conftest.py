"""The marker of the schema suite."""

import pytest

MARKER = "schema: conformance tests of schemas and goldens"


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
