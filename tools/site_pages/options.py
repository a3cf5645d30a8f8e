"""The inputs of a pytest run of the suite: options, settings, hooks, fixtures, markers, from the plugin's code."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus import plugin
from pytest_corpus.integration.collecting.collection_hooks import MARKERS
from pytest_corpus.integration.options.run_options import ENVIRONMENT, PROFILES
from pytest_corpus.integration.options.table import add_options, setting
from pytest_corpus.reports.pages.markdown import GENERATED, code, paragraph, table
from pytest_corpus.spec.transports import CONNECTION
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE

VARIABLES = {
    ENVIRONMENT: "what the adapter talks to: `local`, `ci`, `staging`, `production` ...; see [Running](running.md)",
    ROOT_VARIABLE: "another folder of schemas; see [Validation](validation.md)",
    "CORPUS_GOLDEN_ROOT": "another folder of golden messages; see [Goldens](goldens.md)",
    "CORPUS_SERVE_TOKEN": "the token that each request to `pytest-corpus serve` must have; see "
    "[Transports](transports.md#serving-a-python-adapter)",
    "CI": "if it is set, the profile is `ci`",
    "NO_COLOR": "if it is set, `pytest-corpus` prints no colours",
}
"""The environment variables that users may set."""


@dataclass
class Recorder:
    """Stands in the place of pytest's parser and keeps what the plugin adds to it."""

    options: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    def getgroup(self, *_: str) -> Recorder:
        """The one group."""
        return self

    def addoption(self, name: str, **said: Any) -> None:
        """Keep an option."""
        self.options.append((name, said))

    def addini(self, name: str, *_: Any, **__: Any) -> None:
        """Keep a setting."""
        self.settings[name] = name


def pages() -> dict[str, str]:
    """The page by its path below docs/."""
    return {"options.md": "\n".join(_page())}


def _page() -> Iterator[str]:
    recorder = Recorder()
    add_options(recorder)  # type: ignore[arg-type]
    yield "# Options, settings, hooks, fixtures and markers\n"
    yield "Everything that a pytest run of the suite takes.\n"
    yield "## Options and settings\n"
    yield paragraph(
        "Settings go in pytest's ini file (`pytest.ini`, `tox.ini`, `pyproject.toml`); they are overridden by "
        "the option. Write `--corpus-report=PATH` with the `=`: after a space pytest takes an existing file for a test "
        "path and moves its root folder there."
    )
    yield table(("option", "setting", "meaning"), (_option(name, said, recorder) for name, said in recorder.options))
    yield "## The connection to an adapter\n"
    yield paragraph(
        "These settings describe how an adapter is reached. Write them in the table `[tool.pytest-corpus]` of "
        "`pyproject.toml` next to the ini file of pytest, or in the ini file itself, which wins. For a single run, use "
        "`-o`: `-o corpus_log=adapter.log`."
    )
    rows = ((code(key), code(setting(key)), text) for key, (_, text) in CONNECTION.items())
    yield table(("key in `[tool.pytest-corpus]`", "setting", "meaning"), rows)
    yield paragraph(
        "[Running the suite](running.md) describes profiles, production, deviations and repetition, "
        "[Reports](reports.md) the formats. A run that declares no adapter and no client library, and collects no "
        "bundle, refuses these options on its command line (exit code 4), and ignores them in `addopts` and the ini "
        "file. pytest's own `-k`, `-m`, `-x`, `--lf`, `-n` (with pytest-xdist) and "
        "`--junitxml` work as usual; a run that leaves tests out is `partial`."
    )
    yield "## Profiles\n"
    yield table(("profile", "a call is abandoned after", "what runs"), map(_profile, PROFILES.values()))
    yield "## Hook\n"
    yield paragraph("A `conftest.py` may define it:")
    hooks = ((name, hook) for name, hook in vars(plugin.Hooks).items() if name.startswith("pytest_"))
    yield table(
        ("hook", "meaning"), ((code(name + _arguments(hook)), inspect.getdoc(hook) or "") for name, hook in hooks)
    )
    yield "## Fixtures for your own tests\n"
    yield table(("fixture", "scope", "what it gives"), _fixtures())
    yield "## Markers\n"
    markers = (marker.partition(":") for marker in MARKERS)
    yield table(("marker, for `-m`", "meaning"), ((code(name), text.strip()) for name, _, text in markers))
    yield "## Environment variables\n"
    yield table(("variable", "meaning"), ((code(name), text) for name, text in VARIABLES.items()))
    yield GENERATED


def _option(name: str, said: dict[str, Any], recorder: Recorder) -> tuple[str, ...]:
    value = f"={said['metavar']}" if "metavar" in said else ""
    setting = name.strip("-").replace("-", "_")
    return code(f"{name}{value}"), code(recorder.settings.get(setting)), said["help"]


def _profile(profile: Any) -> tuple[str, ...]:
    what = "one core test of each requirement" if profile.smoke else "every test but those under load"
    return code(profile.name), f"{profile.call_timeout:g} s", "every test" if profile.stress else what


def _arguments(hook: Any) -> str:
    names = [name for name in inspect.signature(inspect.unwrap(hook)).parameters if name != "self"]
    return f"({', '.join(names)})"


def _fixtures() -> Iterator[tuple[str, ...]]:
    """Each function of the plugin that is marked as a fixture, whichever way pytest wraps it."""
    for node in ast.parse(inspect.getsource(plugin)).body:
        for mark in getattr(node, "decorator_list", ()):
            if ast.unparse(mark).startswith("pytest.fixture"):
                scope = next((ast.literal_eval(each.value) for each in getattr(mark, "keywords", ())), "function")
                yield code(node.name), scope, ast.get_docstring(node) or ""  # type: ignore[attr-defined, arg-type]
