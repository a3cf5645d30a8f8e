"""One verb, one option and one word for each thing on the command line, as CONTRIBUTING.md says it."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runs import call_command

from pytest_corpus import cli
from pytest_corpus.commands.completion import SHELLS
from pytest_corpus.integration.options.table import OPTIONS

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"

METAVARS = frozenset((
    "ADDRESS", "COMPONENT", "DIR", "FACTORY", "FILE", "GLOB", "HOST", "ID", "LIMITS", "MODE", "MODULE", "N", "NAME",
    "NAME:VALUE", "NAME[:MODEL]", "NEW", "OLD", "OP", "PATH", "PEM", "PYTEST ARGUMENT", "R", "SECONDS", "SHELL", "SPEC",
    "TIME", "TOKEN", "TOPIC", "URL", "VERSION", "WORDS",
))  # fmt: skip
"""The placeholders of values: FILE is read, PATH is written, DIR is a folder."""

OF_THE_RUN = (
    "adapter", "budget", "bundle-baseline", "bundle-cassettes", "bundle-limit", "bundle-provider",
    "bundle-update-baseline", "call-timeout", "components", "evidence", "header", "report", "requirement",
    "schema-version",
)  # fmt: skip
"""Options of a run that commands have too, without `--corpus-`, and without `bundle-` in `bundle run`."""

Argument = tuple[str, argparse.Action]


def arguments(parser: argparse.ArgumentParser, name: str) -> Iterator[Argument]:
    """Every argument of a command and of its actions, with the words before it."""
    for each in parser._actions:
        if isinstance(each, argparse._SubParsersAction):
            for word, below in each.choices.items():
                yield from arguments(below, f"{name} {word}")
        elif not isinstance(each, argparse._HelpAction | argparse._VersionAction):
            yield name, each


@pytest.fixture(scope="module")
def everything() -> list[Argument]:
    """Every argument of every command."""
    return list(arguments(cli._make_parsers(cli.COMPLETING)[0], "pytest-corpus"))


def rules() -> set[str]:
    """The words of the table in CONTRIBUTING.md."""
    text = CONTRIBUTING.read_text("utf-8").partition("## The words of the command line")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+`) \|", text, re.MULTILINE)
    return {word.strip("`") for cell in cells for word in cell.split(", ")}


def test_every_action_is_a_verb_of_the_table(everything: list[Argument]) -> None:
    """Each action of each command stands in the table, and none stands there that no command has."""
    used = {words[2] for name, _ in everything if len(words := name.split()) > 2}
    assert used == {word for word in rules() if not word.startswith("-")}


def test_every_option_has_one_meaning(everything: list[Argument]) -> None:
    """Each long option that several commands have stands in the table."""
    names: dict[str, set[str]] = {}
    for name, each in everything:
        for option in each.option_strings:
            names.setdefault(option, set()).add(name)
    shared = {option for option, commands in names.items() if len(commands) > 1 and option.startswith("--")}
    assert shared <= rules()
    assert {option for option in rules() if option.startswith("--")} <= names.keys()


def test_options_of_a_run_have_one_name(everything: list[Argument]) -> None:
    """An option that pytest has too is called as there, takes the same placeholder, and is repeated alike."""
    ours = {option.name: option for option in OPTIONS}
    assert set(OF_THE_RUN) <= ours.keys()
    known = {name.removeprefix("bundle-"): ours[name] for name in OF_THE_RUN}
    known["component"] = known.pop("components")  # a command may take one alone
    for name, each in everything:
        option = known.get(each.option_strings[-1].removeprefix("--")) if each.option_strings else None
        if option is not None and each.choices is None:
            assert option.metavar == (each.metavar or ""), name


def test_placeholders_are_words_of_one_list(everything: list[Argument]) -> None:
    """FILE is read, PATH is written, DIR is a folder; a value without choices has a placeholder."""
    for name, each in everything:
        if each.choices is None and each.nargs != 0 and each.metavar is None:
            assert each.dest in ("host", "port"), (name, each)
        assert each.metavar is None or each.metavar in METAVARS, (name, each)
        if "--output" in each.option_strings:
            assert each.option_strings == ["-o", "--output"], name
        if "--component" in each.option_strings:
            assert each.metavar == "COMPONENT", name


def test_options_of_bundles_say_so() -> None:
    """The options of a run that only behaviour bundles have begin with `bundle-`, and no other speaks of them alone."""
    for option in OPTIONS:
        speaks = re.match(r".*\b(each bundle|answers of bundles|compare bundles|the baseline)\b", option.help)
        assert option.name.startswith("bundle-") >= bool(speaks and "suite" not in option.help), option.name


@pytest.mark.parametrize("shell", SHELLS)
def test_completion(shell: str) -> None:
    """The script for each shell knows commands, actions and options."""
    pytest.importorskip("shtab")
    script = call_command("completion", shell)
    assert script.code == 0
    for word in ("edition", "diff", "schema-version"):
        assert word in script.out
    assert call_command("completion", "cmd").code == 2
