"""Hooks that declare the adapters of a run, from options, conftest files and test modules."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening.factory import split_label, user_code_error
from pytest_corpus.integration.collecting.nodes import unknown_id_message
from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.declaring.state import RunState, UnusableDeclaration
from pytest_corpus.redaction import printable
from pytest_corpus.suites.inventory import tests


class DeclarationHooks:
    """The plugin that determines the adapters to test, before the collection."""

    def __init__(self, state: RunState) -> None:
        self.state = state
        self.by_conftest: dict[Path, Adapter] = {}
        self._begun = False

    def start(self) -> None:
        """Declare every adapter that is known before the collection; a second call does nothing."""
        if self._begun:
            return
        self._begun = True
        adapters, options = self.state.adapters, self.state.options
        with self.state.usage_errors():
            for label, spec in map(split_label, options.adapters):
                self.state.by_option.append(adapters.declare(spec, spec, label or spec))
            for label, spec in map(split_label, options.clients):
                self.state.by_option.append(adapters.declare_client(spec, label or spec))
        for impl in self.state.config.hook.pytest_corpus_adapter.get_hookimpls():
            if file := getattr(impl.plugin, "__file__", None):
                self.adapter_of_conftest(Path(file))
        for adapter in self.state.adapters.known.values():
            self._announce(adapter)
            self.state.open(adapter)
        if wrong := unknown_id_message(self.state.named, self._known_tests()):
            self.state.usage_error = True
            raise pytest.UsageError(printable(wrong))
        if self.state.distributes:
            self.state.adapters.close()

    def _announce(self, adapter: Adapter) -> None:
        """Print the address where a running adapter must reach its provider; the user may now start the adapter."""
        with self.state.usage_errors():
            if not (address := adapter.proxy()):
                return
            if self.state.worker is not None or self.state.distributes:
                why = "each worker would be another provider of an adapter that runs already; run without -n"
                raise DeclarationError(adapter.declaration.declared, f"provider-upstream: {why}")
        reporter = self.state.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            upstream = printable(self.state.options.connection.upstream)
            reporter.write_line(f"corpus: point {adapter.label} at {address}, a proxy before {upstream}")

    def _known_tests(self) -> Iterator[tuple[str, str]]:
        """Yield the label of an adapter and the name of a test, for each test that an id may select."""
        profile = self.state.options.profile.name
        for adapter in self.state.by_option if self.state.named else ():
            for component in adapter.components:
                yield from ((adapter.label, test) for test in tests(component, profile))

    def pytest_sessionstart(self) -> None:
        if self.state.distributes:
            self.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        # Not at the start of the session, because the coverage of a process is measured only after it.
        try:
            self.start()
        except UnusableDeclaration as error:
            session.shouldfail = self.state.unusable_message(error)  # xdist tells the controller, which ends the run
            raise session.Failed(session.shouldfail) from None

    def adapter_of_conftest(self, path: Path) -> Adapter | None:
        """Return the adapter that a conftest.py declares, or None.

        Raises:
            pytest.UsageError, pytest.Collector.CollectError: the declared adapter cannot be tested.
        """
        if path not in self.by_conftest:
            config = self.state.config
            impls = config.hook.pytest_corpus_adapter.get_hookimpls()
            here = [impl.plugin for impl in impls if getattr(impl.plugin, "__file__", None) == str(path)]
            if not here:
                return None
            others = [impl.plugin for impl in impls if impl.plugin not in here]
            caller = config.pluginmanager.subset_hook_caller("pytest_corpus_adapter", others)
            try:
                found = [factory for factory in caller(config=config) if factory is not None]
            except Exception as error:
                said = user_code_error(self._relative_path(path), "pytest_corpus_adapter", error)
                raise self.state.to_usage_error(said) from error
            if not found:
                return None
            label, factory = split_label(found[0]) if isinstance(found[0], str) else ("", found[0])
            name = label or getattr(factory, "__qualname__", str(factory))
            self.by_conftest[path] = self.declare(
                factory, f"{self._relative_path(path)}: {name}", label or label_of(factory, path)
            )
        return self.by_conftest[path]

    def declare(self, factory: Callable[..., Any] | str, declared: str, label: str) -> Adapter:
        """Declare an adapter under a unique label.

        Raises:
            pytest.UsageError, pytest.Collector.CollectError: the adapter cannot be found, or the label is in use.
        """
        with self.state.usage_errors():
            return self.state.adapters.declare(factory, declared, label)

    def _relative_path(self, path: Path) -> str:
        try:
            return path.relative_to(self.state.config.rootpath).as_posix()
        except ValueError:
            return str(path)


def label_of(factory: Any, conftest: Path) -> str:
    """Return the label of an adapter that a conftest.py declares, by the same rules as for `--corpus-adapter`."""
    name, module = getattr(factory, "__qualname__", None), getattr(factory, "__module__", None)
    if name is None or module is None:
        return str(factory)
    file = getattr(sys.modules.get(module), "__file__", None)
    return name if file is None or Path(file) == conftest else f"{module}:{name}"
