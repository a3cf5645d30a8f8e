"""Errors for misspelt options, and for options that have no effect without an adapter, a client or a bundle."""

from collections.abc import Generator, Sequence

import pytest

from pytest_corpus.integration.options.table import OPTIONS
from pytest_corpus.redaction import printable
from pytest_corpus.text.values import suggest

PREFIX = "--corpus-"

OF_BUNDLES = tuple(option.name for option in OPTIONS if option.name.startswith("bundle-"))
"""The options that only affect behaviour bundles."""

UPSTREAM = f"{PREFIX}provider-upstream"

INFORMATION_OPTIONS = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test")
"""The options with which pytest prints information instead of running tests."""

BUNDLES, CONFORMANCE = "corpus-bundles", "corpus-conformance"
"""The names of the plugins for bundles, and for adapters and clients."""


def check_spelling(parser: pytest.Parser, arguments: Sequence[str]) -> None:
    """Raise a usage error for an unknown option with the suite's prefix, and suggest a similar one."""
    for argument in parser.parse_known_and_unknown_args(arguments)[1]:
        name = argument.partition("=")[0]
        if name.startswith(PREFIX):
            ours = [option.name for option in OPTIONS]
            hint = suggest(name.removeprefix(PREFIX), ours, "pytest --help lists them all", before=PREFIX)
            raise pytest.UsageError(f"{printable(name)}: there is no such option; {hint}")


def refuse_unused_options(config: pytest.Config) -> None:
    """After the collection, raise a usage error for options on the command line that have no effect.

    Options in the settings of a project (`addopts`, ini file) are allowed, because they may be for other runs.
    """
    words = (str(arg).partition("=")[0] for arg in config.invocation_params.args)
    given = tuple(dict.fromkeys(word for word in words if word.startswith(PREFIX)))
    if given and not any(config.getoption(name, None) for name in INFORMATION_OPTIONS):
        config.pluginmanager.register(UnusedOptions(config, given))


class UnusedOptions:
    """The plugin that ends a run in which options have no effect."""

    def __init__(self, config: pytest.Config, given: tuple[str, ...]) -> None:
        self._config, self._given = config, given
        self._distributes = config.getoption("dist", "no") != "no"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not session.testsfailed:  # a module that failed to import may declare a suite
            self._check_options()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, object, object]:
        result = yield
        ended = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._distributes and exitstatus in ended:  # the controller collects nothing itself
            self._check_options()
        return result

    def _check_options(self) -> None:
        plugins = self._config.pluginmanager
        bundles, conformance = plugins.has_plugin(BUNDLES), plugins.get_plugin(CONFORMANCE)
        if not bundles and (conformance is None or not conformance.state.adapters.known):
            what = "no adapter, client library or behaviour bundle is declared; name one, as in "
            self._refuse_options(self._given, f"{what}--corpus-adapter=mypkg.module:factory")
        remote = conformance is not None and any(
            not adapter.declaration.in_process for adapter in conformance.state.adapters.known.values()
        )
        if UPSTREAM in self._given and not remote:
            self._refuse_options((UPSTREAM,), "it is for adapters at an address; in a factory call provider.proxy")
        alone = tuple(word for word in self._given if word.removeprefix(PREFIX) in OF_BUNDLES)
        if alone and not bundles:
            self._refuse_options(alone, "no behaviour bundle is collected; name its folder or file")

    def _refuse_options(self, words: tuple[str, ...], why: str) -> None:
        several = "does" if len(words) == 1 else "do"
        named = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        raise pytest.UsageError(f"{printable(named)} {several} nothing in this run: {why}")
