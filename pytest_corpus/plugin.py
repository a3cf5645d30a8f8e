"""Entry point of the pytest plugin: options, hooks and fixtures. What they do lies in `integration/`."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_corpus.adapter.client import AdapterClient
    from pytest_corpus.adapter.hooks.metrics import RecordingSink
    from pytest_corpus.adapter.hooks.provider import ProviderProbe
    from pytest_corpus.validation.schema.registry import SchemaRegistry

from pytest_corpus.reports.formats import FORMATS, JUNIT
from pytest_corpus.spec.components import ROWS

pytest.register_assert_rewrite("pytest_corpus.suites", "pytest_corpus.kit")

MARKERS = (
    *(f"{row.name}: conformance tests of the {row.title} component" for row in ROWS),
    "wire: conformance tests of envelopes and frames, and of clients that build requests",
    "schema: conformance tests of schemas and goldens",
    "bundle: cases and thresholds of behaviour bundles",
    "core: what every adapter of a component must do",
    "slow: takes noticeably longer than the other conformance tests",
    "requirement(id): the requirement of the catalogue that a conformance test decides",
)


class Hooks:
    """Hooks that a conftest.py may implement."""

    @pytest.hookspec
    def pytest_corpus_adapter(self, config: pytest.Config) -> Any:
        """Return the factory of the adapter under test; the suite is collected at that conftest.py."""

    @pytest.hookspec
    def pytest_corpus_bundle_providers(self, config: pytest.Config) -> Any:
        """Return a mapping from names of providers to functions that answer a `CompletionRequest`."""

    @pytest.hookspec
    def pytest_corpus_bundle_scorers(self, config: pytest.Config) -> Any:
        """Return a mapping from names of scorers to functions that score an answer."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("corpus", "Corpus Protocol conformance")

    def both(name: str, ini: str, text: str, action: str = "store", **extra: Any) -> None:
        group.addoption(f"--corpus-{name}", action=action, default=None, help=text, **extra)
        parser.addini(f"corpus_{name.replace('-', '_')}", text, type=ini, default=None)  # type: ignore[arg-type]

    both("adapter", "linelist", "adapter under test: module:factory, or an address of one that runs elsewhere: "
         "http://, https://, ws://, wss://, grpc:// or cmd:PROGRAM; perhaps label=SPEC; repeatable",
         action="append", metavar="SPEC")  # fmt: skip
    both("client", "linelist", "client library that builds requests: module:attribute, perhaps label=module:attribute; "
         "repeatable",
         action="append", metavar="SPEC")  # fmt: skip
    both("components", "string", "components to test, with commas; default: those that answer", metavar="NAMES")
    both("requirement", "string", "only requirements whose id matches one of these globs, with commas",
         metavar="GLOB")  # fmt: skip
    both("level", "string", "must (default) or should: from which level on a violation fails the run",
         metavar="LEVEL")  # fmt: skip
    both("report", "linelist", "write the report to this file, in the format of its suffix: "
         f"{', '.join((*FORMATS, JUNIT))}; repeatable", action="append", metavar="PATH")  # fmt: skip
    both("evidence", "string", "shape or full: whether a finding shows requests, answers and exceptions with their "
         "content (default: full on a terminal outside CI, shape in files)", metavar="LEVEL")  # fmt: skip
    both("seed", "string", "seed of generated inputs (default 0)", metavar="N")
    both("schema-version", "string", "judge by this schema edition alone: 1.0.0 or 1.1.0", metavar="EDITION")
    both("dialects", "string", "probe queries of graph dialects, in place of the built-in ones: a .json file",
         metavar="FILE")  # fmt: skip
    both("call-timeout", "string", "seconds after which a call is given up (default 30; quick: 10)",
         metavar="SECONDS")  # fmt: skip
    both("header", "linelist", "a header for an adapter at an address: NAME:VALUE, which is never shown; repeatable",
         action="append", metavar="HEADER")  # fmt: skip
    both("tls-verify", "string", "yes (default), no, or a file of certificates that an address is verified by",
         metavar="WHAT")  # fmt: skip
    both("connections", "string", "most connections to an address at the same time (default 100)", metavar="N")
    both("startup-timeout", "string", "seconds that an address or a program may take to be there (default 10)",
         metavar="SECONDS")  # fmt: skip
    both("log", "string", "the file that an adapter at an address writes its log to: searched for leaks",
         metavar="FILE")  # fmt: skip
    both("settle", "string", "seconds after which a write shows in every answer (default: found out by a plain write)",
         metavar="SECONDS")  # fmt: skip
    both("max-namespaces", "string", "the most namespaces that the suite holds at a time, all workers together "
         "(default 10)", metavar="N")  # fmt: skip
    both("profile", "string", "quick (a smoke run), dev, ci (the default where CI is set) or stress", metavar="NAME")
    both("repeat", "string", "run each test N times; one failure of N is a violation", metavar="N")
    both("budget", "string", "the most calls and tokens that the suite, and behaviour bundles, may use: "
         "calls=500,tokens=20000", metavar="LIMITS")  # fmt: skip
    both("shard", "string", "run this part of the suite, such as 2/5; `pytest-corpus report combine` joins the reports",
         metavar="NUMBER/OF")  # fmt: skip
    group.addoption("--corpus-allow-production", action="store_true",
                    help="run the suite, with its writes, although CORPUS_TEST_ENV is production")  # fmt: skip
    both("deviations", "string", "declared deviations: a .toml file (default corpus-deviations.toml)", metavar="FILE")
    group.addoption("--corpus-update-deviations", action="store_true",
                    help="draft a deviation, to be completed by hand, of what is violated")  # fmt: skip
    group.addoption("--corpus-strict", action="store_true", help="fail where a MUST could not be assessed")
    parser.addini("corpus_strict", "fail where a MUST could not be assessed", type="bool", default=False)
    group.addoption("--corpus-traceback", action="store_true", help="show tracebacks of findings as well")
    group.addoption("--corpus-bundle-provider", action="append", metavar="NAME[:MODEL]",
                    help="who answers behaviour bundles, in place of what they name: corpus, openai, anthropic, mock "
                         "or one of a plugin; repeatable")  # fmt: skip
    group.addoption("--corpus-bundle-limit", metavar="N", help="only the first N cases of each bundle")
    group.addoption("--corpus-cassettes", metavar="MODE",
                    help="recorded answers of bundles: off (default), none (default under CI where there are some), "
                         "once, new or all")  # fmt: skip
    group.addoption("--corpus-baseline", metavar="PATH", help="compare bundles with this committed baseline")
    group.addoption("--corpus-update-baseline", action="store_true", help="write the baseline instead")
    parser.addini("corpus_bundles", "globs of the files that are behaviour bundles", type="linelist",
                  default=["bundles/*/bundle.yaml"])  # fmt: skip
    group.addoption("--corpus-list", action="store_true", help="list the requirement catalogue, or what "
                    "--corpus-requirement and --corpus-components choose of it, and exit")  # fmt: skip
    group.addoption("--corpus-explain", metavar="ID", help="explain one requirement, or a ruling such as R20, and exit")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(parser: pytest.Parser, args: list[str]) -> Generator[None, object, object]:
    result = yield
    if any(arg.startswith("--corpus-") for arg in args):
        from pytest_corpus.integration.options import spelling

        spelling.check(parser, args)
    return result


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    if config.getoption("corpus_list") or config.getoption("corpus_explain"):
        from pytest_corpus.integration import catalogue

        return catalogue.show(config)
    return None


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    if not hasattr(config, "workerinput") and any(
        str(arg).startswith("--corpus-") for arg in config.invocation_params.args
    ):
        from pytest_corpus.integration.options import unused

        unused.watch(config)
    reports = config.getoption("corpus_report") or config.getini("corpus_report") or []
    if any(path.lower().endswith(".junit.xml") for path in reports) and not hasattr(config, "workerinput"):
        from pytest_corpus.integration.options import junit

        junit.switch_on(config, reports)
    declared = any(config.getoption(name) or config.getini(name) for name in ("corpus_adapter", "corpus_client"))
    if declared:
        try:
            _conformance(config)
        except KeyboardInterrupt:  # where pytest's terminal is not there yet to say so
            sys.stderr.write("interrupted before any test was collected\n")
            raise
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        from pytest_corpus.integration.bundles.controller_hooks import BundleControllerHooks
        from pytest_corpus.integration.xdist.controller_hooks import ControllerHooks

        if not declared:
            config.pluginmanager.register(ControllerHooks(config, _conformance))
        config.pluginmanager.register(BundleControllerHooks(config))


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.hook.pytest_corpus_adapter.get_hookimpls():
        _conformance(session.config).begin()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.name == "conftest.py" and parent.config.hook.pytest_corpus_adapter.get_hookimpls():
        found: pytest.Collector | None = _conformance(parent.config).collecting.conftest(file_path, parent)
        return found
    if file_path.suffix in (".yaml", ".yml"):
        from pytest_corpus.integration.bundles import discovery

        if discovery.is_collected(file_path, parent):
            from pytest_corpus.integration.bundles.bundle_hooks import bundles

            return bundles(parent.config).node(file_path, parent)
    return None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if (
        isinstance(collector, pytest.Module)
        and "pytest_corpus.integration.declaring.suite" in sys.modules
        and report.passed
    ):
        from pytest_corpus.integration.declaring.suite import Suite

        if found := {name: item for name, item in vars(collector.obj).items() if isinstance(item, Suite)}:
            try:
                run = _conformance(collector.config)
                run.begin()
                report.result.extend(run.collecting.suites(found, collector))
            except pytest.Collector.CollectError as error:
                run.collecting.fail(report, error)
    return report


def _conformance(config: pytest.Config) -> Any:
    from pytest_corpus.integration.conformance import conformance

    return conformance(config)


@pytest.fixture
def corpus_adapter(request: pytest.FixtureRequest) -> AdapterClient:
    """The adapter under test, open, to be called over the wire."""
    found: AdapterClient = _conformance(request.config).client(request.node)
    return found


@pytest.fixture
def corpus_metrics(corpus_adapter: AdapterClient) -> RecordingSink:
    """The metrics sink that the adapter's factory was given."""
    return corpus_adapter.metrics


@pytest.fixture
def corpus_provider(corpus_adapter: AdapterClient) -> ProviderProbe:
    """The provider probe that the adapter's factory was given."""
    return corpus_adapter.provider


@pytest.fixture
def corpus_provider_server() -> Iterator[ProviderProbe]:
    """A provider with an address of its own, at `url`, for the official clients of OpenAI, Anthropic and Cohere.

    It needs no adapter. What a test plans happens on the wire there; no other test meets it.
    """
    from pytest_corpus.adapter.hooks.provider import ProviderProbe

    provider = ProviderProbe()
    yield provider
    provider.close()


@pytest.fixture(scope="session")
def schema_registry() -> SchemaRegistry:
    """The schemas of both editions."""
    from pytest_corpus.validation.schema.registry import registry

    return registry()


@pytest.fixture(scope="session")
def stream_validator() -> Any:
    """`validate_frames(frames, component=...)`: the report on a finished stream."""
    from pytest_corpus.validation.streams.validate import validate_frames

    return validate_frames
