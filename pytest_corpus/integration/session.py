"""The run inside pytest: what is declared, collected, gated, recorded and concluded."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Generator, Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus import resources, suites
from pytest_corpus._shown import printable
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.errors import BEGINNINGS, DeclarationError
from pytest_corpus.adapter.factory import described, split_label
from pytest_corpus.integration import collect, messages, options, progress, showing
from pytest_corpus.integration.adapters import Adapter, Adapters
from pytest_corpus.integration.conclude import Conclusion
from pytest_corpus.integration.declare import Suite
from pytest_corpus.integration.run import Trial
from pytest_corpus.integration.showing import PROPERTY
from pytest_corpus.reports.ledger import Ledger, TestRecord
from pytest_corpus.spec.requirements import applicable
from pytest_corpus.suites.fixtures import SUBJECT
from pytest_corpus.suites.outcomes import Violation

NAME = "corpus-conformance"
TRIAL = pytest.StashKey[Trial]()


def conformance(config: pytest.Config) -> Conformance:
    """The conformance run of a session, made on first use."""
    found = config.pluginmanager.get_plugin(NAME)
    if found is None:
        found = Conformance(config)
        config.pluginmanager.register(found, NAME)
    assert isinstance(found, Conformance)
    return found


class Conformance:
    """A pytest plugin, registered only where an adapter is declared."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.options = options.read(config)
        self.worker = getattr(config, "workerinput", None)
        self.adapters = Adapters(self.options, json.loads((self.worker or {}).get(PROPERTY, "{}")))
        self.reported: set[tuple[str, str]] = set()
        self.started_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.started = time.monotonic()
        self.conclusion: Conclusion | None = None
        self.usage_error = False
        self._by_option: list[Adapter] = []
        self._by_conftest: dict[Path, Adapter] = {}
        self._begun = False
        self._progress = progress.Progress()

    # -- declaring -------------------------------------------------------------------------------------

    def start(self) -> None:
        """Declare and check what is known before collecting; a second call does nothing."""
        if self._begun:
            return
        self._begun = True
        for declared in self.options.adapters:
            label, spec = split_label(declared)
            self._by_option.append(self._declare(spec, spec, label or spec))
        for declared in self.options.clients:
            label, spec = split_label(declared)
            self._by_option.append(self._declare_client(spec, label or spec))
        for path in self._conftests():
            self._at_conftest(path)
        for adapter in self.adapters.known.values():
            self._open(adapter)
        if self._distributes():
            self.adapters.close()

    def pytest_sessionstart(self) -> None:
        if self._distributes():
            self.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        # Not at the start of the session: coverage of a process is measured from there on.
        self.start()

    def _conftests(self) -> list[Path]:
        impls = self.config.hook.pytest_corpus_adapter.get_hookimpls()
        files = [getattr(impl.plugin, "__file__", None) for impl in impls]
        return [Path(file) for file in files if file]

    def _at_conftest(self, path: Path) -> Adapter | None:
        if path not in self._by_conftest:
            manager = self.config.pluginmanager
            impls = self.config.hook.pytest_corpus_adapter.get_hookimpls()
            here = [impl.plugin for impl in impls if getattr(impl.plugin, "__file__", None) == str(path)]
            if not here:
                return None
            others = [impl.plugin for impl in impls if impl.plugin not in here]
            caller = manager.subset_hook_caller("pytest_corpus_adapter", others)
            try:
                found = [factory for factory in caller(config=self.config) if factory is not None]
            except Exception as error:
                said = DeclarationError(self._relative(path), f"pytest_corpus_adapter raises {described(error)}")
                raise self._usage(said) from error
            if not found:
                return None
            name = getattr(found[0], "__qualname__", str(found[0]))
            self._by_conftest[path] = self._declare(found[0], f"{self._relative(path)}: {name}", name)
        return self._by_conftest[path]

    def _declare(self, factory: Any, declared: str, label: str) -> Adapter:
        try:
            return self.adapters.declare(factory, declared, label)
        except DeclarationError as error:
            raise self._usage(error) from None

    def _declare_client(self, declared: str, label: str) -> Adapter:
        try:
            return self.adapters.declare_client(declared, label)
        except DeclarationError as error:
            raise self._usage(error) from None

    def _open(self, adapter: Adapter) -> Adapter:
        if self.config.option.collectonly:
            adapter.components = adapter.components or self.options.components or tuple(suites.CHAPTERS)
            return adapter
        try:
            return self.adapters.open(adapter)
        except DeclarationError as error:
            raise self._usage(error) from None

    def _usage(self, error: DeclarationError) -> Exception:
        """One clear line; a worker cannot end the run itself and reports it as a collection error."""
        self.usage_error = True
        said = printable(str(error))
        return pytest.Collector.CollectError(said) if self.worker is not None else pytest.UsageError(said)

    def _relative(self, path: Path) -> str:
        try:
            return path.relative_to(self.config.rootpath).as_posix()
        except ValueError:
            return str(path)

    def _distributes(self) -> bool:
        return self.worker is None and self.config.getoption("dist", "no") != "no"

    def client(self, node: Any) -> AdapterClient:
        """The open adapter that a test speaks to: its own in the suite, else the only one declared."""
        own = collect.owner(node) if isinstance(node, pytest.Item) else None
        known = [adapter for adapter in self.adapters.known.values() if adapter.library is None]
        if own is None and len(known) != 1:
            many = f"{len(known)} adapters are declared" if known else "no adapter is declared"
            pytest.fail(f"corpus_adapter: {many}; declare one with --corpus-adapter=module:factory", pytrace=False)
        adapter = self._open(own[0] if own else known[0])
        assert adapter.client is not None
        return adapter.client

    # -- collecting ------------------------------------------------------------------------------------

    def conftest(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The suite below a conftest.py that declares an adapter."""
        adapter = self._at_conftest(path)
        return None if adapter is None else self._anchor(self._open(adapter), parent, path=path)

    def suites(self, found: dict[str, Suite], parent: pytest.Collector) -> list[pytest.Collector]:
        """The suites that a test module assigns to names."""
        self.start()
        nodes: list[pytest.Collector] = []
        for name, declared in found.items():
            where = f"{parent.nodeid}::{name}"
            adapter = self._open(self._declare(declared.factory, where, declared.label or name))
            node: collect.Below = collect.Below.from_parent(parent, name=name)
            node.adapter = adapter
            nodes.append(node)
        return nodes

    def _anchor(self, adapter: Adapter, parent: pytest.Collector, **options: Any) -> collect.Anchor:
        anchor: collect.Anchor = collect.Anchor.from_parent(parent, **options)
        anchor.adapter = adapter
        return anchor

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        self.start()
        several = len(self._by_option) > 1
        for adapter in self._by_option:
            root = f"corpus[{adapter.label}]" if several else "corpus"
            anchor = self._anchor(adapter, session, path=resources.package("suites/__init__.py"), nodeid=root)
            anchor.separator = "/"
            items.extend(session.genitems(anchor))
        items.extend(self._missed_conftests(session, items))
        self._note(items)
        self._select(items)

    def _missed_conftests(self, session: pytest.Session, items: list[pytest.Item]) -> Iterable[pytest.Item]:
        """Suites of a conftest.py above the test paths, in a run that names no path."""
        if self.config.args_source is pytest.Config.ArgsSource.ARGS:
            return
        seen = {own[0].label for item in items if (own := collect.owner(item))}
        for path, adapter in self._by_conftest.items():
            if adapter.label not in seen:
                yield from session.genitems(self._anchor(adapter, session, path=path))

    def _note(self, items: list[pytest.Item]) -> None:
        for item in items:
            own = collect.owner(item)
            if own is not None:
                own[0].ledger.expect([collect.key_of(item, own[1])])
        for adapter in self.adapters.known.values():
            adapter.left_out = self._left_out(adapter)
            tests = {name.partition("/")[2].partition("::")[0] for name in adapter.ledger.expected}
            whole = {
                f"{component}/{name}.py" for component in adapter.components for name in suites.chapters_of(component)
            }
            if self._names_tests() or (tests and tests != whole):
                adapter.ledger.cut_short("single chapters or tests were named on the command line")

    def _names_tests(self) -> bool:
        """Whether an argument of the command line names a chapter or a test of a suite."""
        return any(".py" in part for arg in self.config.args for part in arg.split("::")[1:])

    def _left_out(self, adapter: Adapter) -> bool:
        """Whether the arguments of the command line leave out an adapter that a file declares."""
        named = self.config.args_source is pytest.Config.ArgsSource.ARGS
        return named and adapter not in self._by_option and not adapter.ledger.expected

    def _select(self, items: list[pytest.Item]) -> None:
        chosen = {item for item in collect.own(items) if self.options.wants(collect.requirement_of(item))}
        if self.options.profile.smoke:
            chosen = collect.smoke(item for item in items if item in chosen)
        dropped = [item for item in collect.own(items) if item not in chosen]
        if dropped:
            items[:] = [item for item in items if item not in set(dropped)]
            self.config.hook.pytest_deselected(items=dropped)

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        for item in items:
            if own := collect.owner(item):
                own[0].ledger.cut_short("tests were deselected")

    @pytest.hookimpl(trylast=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        collect.repeat(metafunc, self.options.repeat)

    @pytest.fixture
    def corpus_repetition(self, request: pytest.FixtureRequest) -> int:
        """Which repetition of its test this is."""
        number: int = request.param
        return number

    def pytest_pycollect_makeitem(self, collector: pytest.Collector, name: str, obj: object) -> Any:
        return collect.make_class(collector, name, obj)

    # -- running ---------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if own := collect.owner(item):
            item.stash[SUBJECT] = self.adapters.subject(self._open(own[0]), own[1])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        own = collect.owner(item)
        if own is None:
            return (yield)
        trial = item.stash[TRIAL] = Trial(item, *own, self.reported)
        subject = item.stash[SUBJECT]
        if not trial.admitted(subject):
            pytest.skip("see the record of the test")
        try:
            with trial.watched(subject):
                return (yield)
        except Violation as violation:
            if self.options.traceback:
                raise
            # Its message is made from the record; a traceback would cost more than the test.
            raise pytest.fail.Exception(str(violation), pytrace=False) from None
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        trial = item.stash.get(TRIAL, None)
        if trial is not None and call.when == "call":
            showing.conclude(trial, report, self.options, self._rerun(item))
        return report

    def _rerun(self, item: pytest.Item) -> str:
        own = collect.owner(item)
        assert own is not None
        seed = f" --corpus-seed={self.options.seed}" if self.options.seed else ""
        if own[0] in self._by_option:
            spec = shlex.quote(f"{own[0].option}={own[0].declaration.declared}")
            return f"pytest {spec} --corpus-requirement={{id}}{seed}"
        return f"pytest {shlex.quote(item.nodeid)}{seed}"

    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, Any] | None:
        return showing.letter(report)

    # -- concluding ------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        text = dict(report.user_properties).get(PROPERTY) if report.when == "call" else None
        if isinstance(text, str) and self.worker is None:
            record = TestRecord.load(text)
            self._ledger(record.adapter).add(record)
            # It has arrived; what pytest writes of properties (JUnit) is for people.
            report.user_properties[:] = [pair for pair in report.user_properties if pair[0] != PROPERTY]
            self._progress.tell(self.config)
            if record.findings and isinstance(report.longrepr, str):
                # As a bare text it would stand in the short summary a second time, where CI is set.
                report.longrepr = messages.Shown(report.longrepr)  # type: ignore[assignment]

    def _ledger(self, label: str) -> Ledger:
        known = self.adapters.known.get(label)
        if known is None:
            known = self.adapters.known[label] = Adapter.remote(label)
        return known.ledger

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed and any(beginning in str(report.longrepr) for beginning in BEGINNINGS):
            self.usage_error = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        decided = {label: adapter.components for label, adapter in self.adapters.known.items()}
        node.workerinput[PROPERTY] = json.dumps(decided)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: Any) -> None:
        for label, told in json.loads(getattr(node, "workeroutput", {}).get(PROPERTY, "{}")).items():
            ledger = self._ledger(label)
            self.adapters.known[label].left_out = False
            ledger.components = tuple(told["components"])
            ledger.capabilities.update(told["capabilities"])
            ledger.expect(told["expected"])
            ledger.incomplete.update(told["incomplete"])
        if error:
            for adapter in self.adapters.known.values():
                adapter.ledger.cut_short("a worker was lost")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        for said in self.adapters.close():
            session.config.issue_config_time_warning(pytest.PytestWarning(printable(said)), stacklevel=2)
        if self.worker is not None:
            self._tell_controller(session)
            return
        if self.config.option.collectonly:
            return
        if self.usage_error:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR
            return
        chosen = [adapter for adapter in self.adapters.known.values() if not adapter.left_out]
        if not chosen and self.adapters.known:
            return
        self.conclusion = Conclusion(
            self._meant(chosen),
            self.options,
            self.started_at,
            time.monotonic() - self.started,
            interrupted=exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR),
        )
        self.conclusion.write()
        self.conclusion.draft()
        session.exitstatus = self.conclusion.exit_code(session.exitstatus)

    def _meant(self, chosen: list[Adapter]) -> list[Ledger]:
        """The ledgers of the adapters, of the client libraries, or of both: what the requirement filter leaves."""
        meant = {
            adapter.option
            for adapter in chosen
            if any(self.options.wants(entry.id) for name in adapter.ledger.components for entry in applicable(name))
        }
        return [adapter.ledger for adapter in chosen if adapter.option in meant or not meant]

    def _tell_controller(self, session: pytest.Session) -> None:
        output: dict[str, Any] = session.config.workeroutput  # type: ignore[attr-defined]
        output[PROPERTY] = json.dumps(
            {
                label: {
                    "components": adapter.components,
                    "capabilities": adapter.ledger.capabilities,
                    "expected": sorted(adapter.ledger.expected),
                    "incomplete": sorted(adapter.ledger.incomplete),
                }
                for label, adapter in self.adapters.known.items()
                if not adapter.left_out
            }
        )

    def pytest_report_header(self) -> list[str]:
        return [
            *(f"corpus: {declared}" for declared in self.options.adapters),
            *(f"corpus client: {declared}" for declared in self.options.clients),
            f"corpus seed: {self.options.seed}, profile: {self.options.profile.name}",
            *progress.environment(os.environ),
            *(progress.snapshot(self.adapters.known.values()) if self._distributes() else ()),
        ]

    def pytest_report_collectionfinish(self) -> list[str]:
        return progress.snapshot(self.adapters.known.values())

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.conclusion is not None:
            terminalreporter.section("corpus conformance")
            hidden = progress.environment(os.environ) if self.config.get_verbosity() < 0 else []
            for line in [*self.conclusion.lines(), *hidden]:
                terminalreporter.write_line(line)
            for ledger in self.conclusion.ledgers:
                if line := messages.offered(ledger):
                    terminalreporter.write_line(line)
