"""Commands that repeat a run or a test with the same options."""

import re
import shlex
from collections.abc import Iterable, Iterator

import pytest

from pytest_corpus.integration.declaring.adapter_kinds import Adapter
from pytest_corpus.integration.options.checks import OF_BUNDLES
from pytest_corpus.integration.options.table import OPTIONS, setting

NOT_REPEATED = frozenset(
    ("adapter", "client", "requirement", "report", "transcript", "seed", "shard", "update-deviations", *OF_BUNDLES)
)
"""Options that the command omits or sets itself."""


def command(config: pytest.Config, adapter: Adapter, *, by_option: bool, tests: str = "") -> str:
    """The command that runs a suite again, without a selection of requirements: `tests`, or the whole suite."""
    if by_option:
        spec = adapter.declaration.declared
        named = f"{adapter.label}={spec}" if adapter.label != spec else spec
        where = f"{adapter.option}={named}"
    else:
        where = tests or _anchor(adapter)
    return " ".join(["pytest", *(map(shlex.quote, [*_settings(config), *([where] if where else []), *_given(config)]))])


def only(requirements: Iterable[str], seed: int) -> str:
    """The end of a command that runs these requirements alone."""
    ids = ",".join(dict.fromkeys(requirements))
    chosen = f" --corpus-requirement={ids}" if ids else ""
    return f"{chosen} --corpus-seed={seed}" if seed else chosen


def _anchor(adapter: Adapter) -> str:
    """The file, or the name in it, that declares an adapter; empty if only a worker knows it."""
    declared = re.match(r"(?P<conftest>.*conftest\.py): |(?P<suite>.*\.py::.*)", adapter.declaration.declared)
    return (declared["conftest"] or declared["suite"]) if declared else ""


def _settings(config: pytest.Config) -> Iterator[str]:
    """The options that select pytest's settings file, and our overrides."""
    if file := config.option.inifilename:
        yield from ("-c", str(file))
    if root := config.option.rootdir:
        yield f"--rootdir={root}"
    for override in config.option.override_ini or ():
        if override.startswith("corpus_") and not override.startswith("corpus_headers"):
            yield from ("-o", override)


def _given(config: pytest.Config) -> Iterator[str]:
    for option in OPTIONS:
        value = config.getoption(setting(option.name))
        if option.name in NOT_REPEATED or value in (None, False):
            continue
        yield f"--corpus-{option.name}" if value is True else f"--corpus-{option.name}={value}"
