"""Fixtures of the tests of bundles."""

import importlib

import pytest

NEEDED = [
    "yaml",
    "jinja2",
    "regex",
    "scipy.stats",
    "scipy.optimize",
    "jsonschema",
    "jsonschema_rs",
    "pytest_corpus.integration.bundles.bundle_hooks",
    "pytest_corpus.integration.bundles.discovery",
    "pytest_corpus.integration.conformance",
    "pytest_corpus.integration.options.run_options",
    "pytest_corpus.bundles.evaluation.jinja_sandbox",
]


@pytest.fixture(scope="session", autouse=True)
def _preloaded() -> None:
    """Import what every inner run needs before the first `pytester`, which forgets what came after it."""
    for name in NEEDED:
        importlib.import_module(name)


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment outside CI and xdist, without keys."""
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "CI", "BUILD_NUMBER", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CORPUS_TEST_ENV", "local")
