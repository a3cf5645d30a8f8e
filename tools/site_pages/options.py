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
from pytest_corpus.reports.pages.markdown import GENERATED, code
from pytest_corpus.spec.transports import CONNECTION
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE
from site_pages import fill

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
    recorder = Recorder()
    add_options(recorder)  # type: ignore[arg-type]
    hooks = ((name, hook) for name, hook in vars(plugin.Hooks).items() if name.startswith("pytest_"))
    page = fill(
        "options.md",
        options=[_option(name, said, recorder) for name, said in recorder.options],
        connection=[(code(key), code(setting(key)), text) for key, (_, text) in CONNECTION.items()],
        profiles=map(_profile, PROFILES.values()),
        hooks=[(code(name + _arguments(hook)), inspect.getdoc(hook) or "") for name, hook in hooks],
        fixtures=_fixtures(),
        markers=[(code(name), text.strip()) for name, _, text in (marker.partition(":") for marker in MARKERS)],
        variables=[(code(name), text) for name, text in VARIABLES.items()],
        generated=GENERATED,
    )
    return {"options.md": page}


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
