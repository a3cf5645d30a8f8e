"""The tables of command-line options and ini settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pytest_corpus.spec.transports import CONNECTION

if TYPE_CHECKING:
    import pytest


class Option(NamedTuple):
    """A command-line option; `ini` is the type of the ini setting of the same name, empty if there is none."""

    name: str
    metavar: str
    help: str
    ini: str = "string"
    action: str = "store"


OPTIONS = (
    Option("adapter", "SPEC", "adapter under test: module:factory, or an address: http://, https://, ws://, wss://, "
           "grpc:// or cmd:PROGRAM; optionally label=SPEC; may be repeated", "linelist", "append"),
    Option("header", "NAME:VALUE", CONNECTION["header"][1], "linelist", "append"),
    Option("call-timeout", "SECONDS", CONNECTION["call-timeout"][1]),
    Option("client", "SPEC", "client library that builds requests: module:attribute, optionally "
           "label=module:attribute; may be repeated", "linelist", "append"),
    Option("components", "COMPONENT", "test only this component (default: those that answer); several with commas, or "
           "repeated", "linelist", "append"),
    Option("requirement", "GLOB", "test only requirements whose id matches this glob; several with commas, or repeated",
           "linelist", "append"),
    Option("level", "LEVEL", "must (default) or should: the level from which a violation fails the run"),
    Option("strict", "", "fail if a MUST could not be assessed", "bool", "store_true"),
    Option("report", "PATH", "write a report in the format of the suffix, such as .json, .html, .md or .junit.xml; may "
           "be repeated", "linelist", "append"),
    Option("transcript", "PATH", "record every exchange with its content in this file: .jsonl or .jsonl.gz"),
    Option("recording", "PATH", "answers of the provider behind provider.proxy, recorded in or given again from this "
           "file: .jsonl or .jsonl.gz"),
    Option("record", "MODE", "none only gives recorded answers again (default if CI is set); once (default) records if "
           "there is no file; new records what is missing; all records everything"),
    Option("recording-speed", "SPEED", "real (default) or instant: recorded answers take no time"),
    Option("provider-upstream", "URL", CONNECTION["provider-upstream"][1]),
    Option("evidence", "LEVEL", "full shows answers and exceptions with their content, shape only their keys and "
           "types; both show the suite's own requests (default: full on a terminal outside CI, shape in files)"),
    Option("seed", "N", "seed of generated inputs (default 0)"),
    Option("edition", "EDITION", "judge by this edition of the requirements (default: the newest that was released); "
           "`pytest-corpus edition list` lists them"),
    Option("schema-version", "VERSION", "validate against this version of the schemas only: 1.0.0 or 1.1.0"),
    Option("dialects", "FILE", "JSON file with probe queries of graph dialects that replace the built-in ones"),
    Option("write-delay", "SECONDS", "seconds until a write is visible in every answer (default: measured with a test "
           "write)"),
    Option("max-namespaces", "N", "most namespaces that exist at the same time, in all workers (default 10)"),
    Option("profile", "PROFILE", "quick (a smoke run), dev, ci (the default if CI is set) or stress"),
    Option("concurrency", "N|auto", "most tests in flight at a time; auto (the default): as many as gain time, one for "
           "adapters that answer at once; one with a transcript, a budget, --corpus-repeat or -n"),
    Option("estimate", "", "make about ten calls, say what the run would cost in calls, tokens and seconds, and "
           "run no test", "", "store_true"),
    Option("repeat", "N", "run each test N times; one failure is a violation"),
    Option("budget", "LIMITS", "most calls and tokens of the suite and of behaviour bundles: calls=500,tokens=20000"),
    Option("shard", "NUMBER/OF", "run one part of the suite and of each bundle, such as 2/5; `pytest-corpus report "
           "combine` and `bundle combine` join the reports"),
    Option("allow-production", "", "run the suite, including writes, although CORPUS_TEST_ENV is production", "",
           "store_true"),
    Option("deviations", "FILE", "TOML file with declared deviations (default corpus-deviations.toml)"),
    Option("update-deviations", "", "draft a deviation of each violated requirement, to be completed by hand", "",
           "store_true"),
    Option("traceback", "", "show the tracebacks of findings", "", "store_true"),
    Option("bundle-provider", "NAME[:MODEL]", "provider that answers bundles, overrides provider.name: corpus, openai, "
           "anthropic, mock or one of a plugin; may be repeated", "", "append"),
    Option("bundle-limit", "N", "run only the first N cases of each bundle", ""),
    Option("bundle-resume", "DIR", "keep all answers of bundles in DIR; ask only what has no answer there", ""),
    Option("bundle-cassettes", "MODE", "recorded answers of bundles: off (default), none (default in CI if a bundle "
           "has some), once, new or all", ""),
    Option("bundle-baseline", "PATH", "compare bundles with this committed baseline", ""),
    Option("bundle-update-baseline", "", "write the baseline instead of comparing with it", "", "store_true"),
)  # fmt: skip


def setting(name: str) -> str:
    """Return the name of the ini setting for an option."""
    return f"corpus_{name.replace('-', '_')}"


def add_options(parser: pytest.Parser) -> None:
    """Add the options and settings to pytest."""
    group = parser.getgroup("corpus", "Corpus Protocol conformance")
    for option in OPTIONS:
        value = {"metavar": option.metavar} if option.metavar else {}
        default = {} if option.action == "store_true" else {"default": None}
        group.addoption(f"--corpus-{option.name}", action=option.action, help=option.help, **value, **default)
        if option.ini:
            parser.addini(setting(option.name), option.help, type=option.ini, default=None)  # type: ignore[arg-type]
    for name in CONNECTION.keys() - {option.name for option in OPTIONS}:
        kind, text = CONNECTION[name]
        parser.addini(setting(name), text, type=kind, default=None)  # type: ignore[arg-type]
    parser.addini("corpus_bundles", "globs of behaviour bundles", type="linelist", default=["bundles/*/bundle.yaml"])
