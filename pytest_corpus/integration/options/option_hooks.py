"""Hooks that add the options and settings, registered only in a run that may use them."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_corpus.integration.options.table import CONNECTION, OPTIONS, setting

NAME = "corpus-options"


def add_options(plugins: pytest.PytestPluginManager) -> None:
    """Add the options and settings, also to a run that has begun; a second call does nothing."""
    if not plugins.has_plugin(NAME):
        plugins.register(OptionHooks(), NAME)


class OptionHooks:
    """The part of the plugin that adds options and checks how they are used."""

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        group = parser.getgroup("corpus", "Corpus Protocol conformance")
        for option in OPTIONS:
            value = {"metavar": option.metavar} if option.metavar else {}
            default = {} if option.action == "store_true" else {"default": None}
            group.addoption(f"--corpus-{option.name}", action=option.action, help=option.help, **value, **default)
            if option.ini:
                parser.addini(setting(option.name), option.help, type=option.ini, default=None)  # type: ignore[arg-type]
        for name, (kind, text) in CONNECTION.items():
            parser.addini(setting(name), text, type=kind, default=None)  # type: ignore[arg-type]
        parser.addini(
            "corpus_bundles", "globs of behaviour bundles", type="linelist", default=["bundles/*/bundle.yaml"]
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, parser: pytest.Parser, args: list[str]) -> Generator[None, object, object]:
        result = yield
        if any(arg.startswith("--corpus-") for arg in args):
            from pytest_corpus.integration.options.checks import check_spelling

            check_spelling(parser, args)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        if hasattr(config, "workerinput"):
            return
        if any(str(arg).startswith("--corpus-") for arg in config.invocation_params.args):
            from pytest_corpus.integration.options import checks

            checks.watch(config)
        reports = config.getoption("corpus_report") or config.getini("corpus_report") or []
        if any(path.lower().endswith(".junit.xml") for path in reports):
            from pytest_corpus.integration.options.report_paths import switch_on_junit

            switch_on_junit(config, reports)
