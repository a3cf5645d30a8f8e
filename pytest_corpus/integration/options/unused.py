"""Options without effect, in a run without an adapter, a client library or a bundle."""

from collections.abc import Generator

import pytest

from pytest_corpus.redaction.values import printable

PREFIX = "--corpus-"

OF_BUNDLES = ("bundle-provider", "bundle-limit", "cassettes", "baseline", "update-baseline")
"""The options that only behaviour bundles heed."""

SHOWING = ("help", "version", "markers", "showfixtures", "show_fixtures_per_test")
"""What pytest shows in place of a run, by the names of its options."""

BUNDLES, CONFORMANCE = "corpus-bundles", "corpus-conformance"
"""The plugins that are there if a bundle was collected, and if an adapter or a client was declared."""


def watch(config: pytest.Config) -> None:
    """Refuse, once all is collected, what the command line gives in vain.

    What stands in the settings of a project (`addopts`, ini options) is for the runs that heed it.
    """
    words = (str(arg).partition("=")[0] for arg in config.invocation_params.args)
    given = tuple(dict.fromkeys(word for word in words if word.startswith(PREFIX)))
    if given and not any(config.getoption(name, None) for name in SHOWING):
        config.pluginmanager.register(UnusedOptions(config, given))


class UnusedOptions:
    """Ends a run that does nothing of what some options ask for."""

    def __init__(self, config: pytest.Config, given: tuple[str, ...]) -> None:
        self._config, self._given = config, given
        self._distributes = config.getoption("dist", "no") != "no"

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if not session.testsfailed:  # what could not be collected may hold a suite, and is told by pytest
            self._check()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, exitstatus: int) -> Generator[None, object, object]:
        result = yield
        ended = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        if self._distributes and exitstatus in ended:  # the controller collects nothing itself
            self._check()
        return result

    def _check(self) -> None:
        plugins = self._config.pluginmanager
        bundles, conformance = plugins.has_plugin(BUNDLES), plugins.get_plugin(CONFORMANCE)
        if not bundles and (conformance is None or not conformance.state.adapters.known):
            what = "no adapter, client library or behaviour bundle is declared; name one, as in "
            self._refuse(self._given, f"{what}--corpus-adapter=mypkg.module:factory")
        alone = tuple(word for word in self._given if word.removeprefix(PREFIX) in OF_BUNDLES)
        if alone and not bundles:
            self._refuse(alone, "no behaviour bundle is collected; name its folder or file")

    def _refuse(self, words: tuple[str, ...], why: str) -> None:
        several = "does" if len(words) == 1 else "do"
        named = " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
        raise pytest.UsageError(f"{printable(named)} {several} nothing in this run: {why}")
