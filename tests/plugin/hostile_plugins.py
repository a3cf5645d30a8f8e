"""Plugins of users: hostile ones, each with its effect on the one test that sees the violation, and harmless ones.

Some hostile plugins mean well (a time limit, a rerun, a marker), some lie. The text files of the same names have their
code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tables import read_sections

HEAD = """
import json
import pytest

def hit(nodeid):
    return "test_the_arguments_meet_their_schema" in nodeid

def rewritten(report, change):
    pairs = []
    for name, value in report.user_properties:
        pairs += change(value) if name == "corpus" else [(name, value)]
    report.user_properties[:] = pairs

def forged(**changes):
    return lambda text: [("corpus", json.dumps({**json.loads(text), **changes}))]

def passed(report):
    report.outcome, report.longrepr = "passed", None
"""

AROUND = """
@pytest.hookimpl(wrapper=True, tryfirst=True)
def {}:
    if not hit({}): return (yield)
    {}
"""
AROUND_CALL = AROUND.format("pytest_runtest_call(item)", "item.nodeid", "{}")
MAKING = AROUND.format(
    "pytest_runtest_makereport(item, call)",
    "item.nodeid",
    "report = yield\n    if call.when == 'call':\n        {}\n    return report",
)
LOGGING = AROUND.format(
    "pytest_runtest_logreport(report)", "report.nodeid", "if report.when == 'call':\n        {}\n    return (yield)"
)
FRAMES = {
    "plain": "\n{}\n",
    "each_item": """
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if hit(item.nodeid):
            {}
""",
    "around_call": AROUND_CALL,
    "making": MAKING,
    "logging": LOGGING,
    "put": LOGGING.format("rewritten(report, lambda text: [('corpus', {})]); passed(report)"),
    "pretended": LOGGING.format("rewritten(report, forged({})); passed(report)"),
}
"""The code around that of a plugin, which changes the report of the call as it is made or logged, or the item."""


@dataclass(frozen=True)
class Hostile:
    """A plugin that is in the way.

    Attributes:
        sound: what a sound client comes to: "partial", "conformant", or something else where several ends are right.
        traits: "conftest" if it is one, "apart" if it needs a process of its own, "disturbed_end" if pytest itself
            ends with a code of its own, after the verdict.
    """

    name: str
    source: str
    sound: str
    traits: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


def _hostile() -> Iterator[Hostile]:
    for (name, *words), code in read_sections(Path(__file__).with_suffix(".txt")):
        frame = words.pop(0) if words[0] in FRAMES else "plain"
        body = code if frame == "plain" else code.replace("\n", "\n    ")
        yield Hostile(name, HEAD + FRAMES[frame].format(body), words[0], tuple(words[1:]))


TABLE = tuple(_hostile())
HARMLESS = {
    " ".join(name): code + "\n" for name, code in read_sections(Path(__file__).with_name("harmless_plugins.txt"))
}
"""Plugins that do what many do, and change nothing."""
