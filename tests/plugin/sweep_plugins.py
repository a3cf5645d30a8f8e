"""Plugins for a sweep: each behaviour, at each hook that a test passes through, first, last and around the others."""

from collections.abc import Iterator

from hostile_plugins import Hostile

HEAD = """
import pytest

PART = {part!r}

def hit(nodeid):
    return nodeid.startswith("corpus") and PART in nodeid

def made(item, call, outcome, **more):
    report = pytest.TestReport.from_item_and_call(item, call)
    return changed(report, outcome, **more)

def changed(report, outcome, **more):
    report.outcome = outcome
    report.longrepr = ("hostile", 1, "hostile") if outcome == "skipped" else None
    vars(report).update(more)
    return report

def fake(fixturedef, request):
    from types import SimpleNamespace
    from pytest_corpus.suites.wire.component import ClientTarget

    class Liar(ClientTarget):
        offered = ["embedding.embed"]
        def __init__(self): pass
        def decide(self, op, requirement): pass
        def named(self, op): return op
        def built(self, op): return SimpleNamespace(fault="", envelope={{}})
        def passed(self, op, last): return {{"op": op, "ctx": {{}}, "args": {{}}}}

    if fixturedef.argname != "library":
        return None
    return Liar()
"""

SIGNATURES = {
    "pytest_runtest_setup": ("item", "item.nodeid"),
    "pytest_runtest_call": ("item", "item.nodeid"),
    "pytest_runtest_makereport": ("item, call", "item.nodeid) and call.when == ('call'"),
    "pytest_runtest_logreport": ("report", "report.nodeid) and report.when == ('call'"),
    "pytest_pyfunc_call": ("pyfuncitem", "pyfuncitem.nodeid"),
    "pytest_fixture_setup": ("fixturedef, request", "request.node.nodeid) and fixturedef.argname == ('library'"),
    "pytest_runtest_protocol": ("item, nextitem", "item.nodeid"),
    "pytest_collection_modifyitems": ("items", "'corpus' + PART"),
}
"""Each hook's arguments, and what `hit` asks of them."""

HOOK_OF_REPORTS = "pytest_runtest_makereport"

RAISING = ("pytest_runtest_setup", "pytest_runtest_call", "pytest_pyfunc_call", "pytest_fixture_setup")
"""Hooks in which pytest takes an exception for the outcome of the test."""

FAKED_REPORTS = """
    for when in ("setup", "call", "teardown"):
        call = pytest.CallInfo.from_call(lambda: None, when)
        item.ihook.pytest_runtest_logreport(report=made(item, call, "passed"))
"""

MARKED = "[item.add_marker(pytest.mark.{0}) for item in items if hit(item.nodeid)]"
DROPPED = "items[:] = [item for item in items if not hit(item.nodeid)]"

CACHED = "fixturedef.cached_result = (fake(fixturedef, request), fixturedef.cache_key(request), None)"

PLAIN = {
    **{
        (hook, name): (code, "partial")
        for hook in RAISING
        for name, code in {
            "skip": "pytest.skip('hostile')",
            "xfail": "pytest.xfail('hostile')",
            "raise": "raise ValueError('hostile')",
        }.items()
    },
    ("pytest_runtest_setup", "return"): ("return True", "conformant"),
    ("pytest_runtest_call", "return"): ("return True", "conformant"),
    ("pytest_pyfunc_call", "return"): ("return True", "partial"),
    ("pytest_fixture_setup", "return"): (f"{CACHED}\n    return fixturedef.cached_result[0]", ""),
    ("pytest_runtest_makereport", "skip"): ("return made(item, call, 'skipped')", "partial"),
    ("pytest_runtest_makereport", "xfail"): ("return made(item, call, 'skipped', wasxfail='hostile')", "partial"),
    ("pytest_runtest_makereport", "return"): ("return made(item, call, 'passed')", ""),
    ("pytest_runtest_makereport", "raise"): ("raise ValueError('hostile')", ""),
    ("pytest_runtest_logreport", "skip"): ("changed(report, 'skipped')", ""),
    ("pytest_runtest_logreport", "xfail"): ("changed(report, 'skipped', wasxfail='hostile')", ""),
    ("pytest_runtest_logreport", "return"): ("changed(report, 'passed')\n    return True", ""),
    ("pytest_runtest_logreport", "raise"): ("raise ValueError('hostile')", ""),
    ("pytest_runtest_protocol", "skip"): ("item.add_marker(pytest.mark.skip)", "partial"),
    ("pytest_runtest_protocol", "xfail"): ("item.add_marker(pytest.mark.xfail)", ""),
    ("pytest_runtest_protocol", "return"): (FAKED_REPORTS.strip() + "\n    return True", "partial"),
    ("pytest_runtest_protocol", "raise"): ("raise ValueError('hostile')", ""),
    ("pytest_collection_modifyitems", "skip"): (MARKED.format("skip"), "partial"),
    ("pytest_collection_modifyitems", "xfail"): (MARKED.format("xfail"), ""),
    ("pytest_collection_modifyitems", "return"): (DROPPED, "partial"),
    ("pytest_collection_modifyitems", "raise"): ("raise ValueError('hostile')", ""),
}
"""What a plain implementation does, and what a sound target then comes to; empty where several ends are right."""

NOT_REACHED = ("pytest_pyfunc_call", "pytest_runtest_makereport", "pytest_fixture_setup", "pytest_runtest_protocol")
"""Hooks that end with the first result, which is pytest's own: what is last is never called."""

UNSURE = {
    ("pytest_collection_modifyitems", "first")  # perhaps before the suite is there
}

REPLACED = {
    "pytest_runtest_setup": "item.runtest = lambda: None",
    "pytest_runtest_call": "item.runtest = lambda: None",
    "pytest_pyfunc_call": "pyfuncitem.obj = lambda **given: None",
    "pytest_fixture_setup": "fixturedef.func = lambda **given: fake(fixturedef, request)",
    "pytest_runtest_protocol": "item.runtest = lambda: None",
}
"""How a wrapper takes the work away before it is done."""

AFTER_REPORT = {
    "skip": "changed(result, 'skipped')",
    "xfail": "changed(result, 'skipped', wasxfail='hostile')",
    "return": "changed(result, 'passed')",
    "raise": "raise ValueError('hostile')",
}
BEFORE_REPORT = {
    "skip": "result = made(item, call, 'skipped')",
    "xfail": "result = made(item, call, 'skipped', wasxfail='hostile')",
    "return": "result = made(item, call, 'passed')",
}


def sweep(part: str) -> tuple[Hostile, ...]:
    """The plugins of the sweep, which strike the tests that have `part` in their ids."""
    head = HEAD.format(part=part)
    return tuple(
        Hostile(f"{hook.removeprefix('pytest_')}-{position}-{behaviour}", head + code, sound)
        for hook, position, behaviour, code, sound in (*_plain(), *_wrappers())
    )


Case = tuple[str, str, str, str, str]
"""Hook, position, behaviour, code, and what a sound target comes to where every test is hit."""


def _plain() -> Iterator[Case]:
    for (hook, behaviour), (code, sound) in PLAIN.items():
        arguments, asked = SIGNATURES[hook]
        for position in ("first", "last"):
            if position == "last" and hook in NOT_REACHED:
                end = "conformant"
            else:
                end = "" if (hook, position) in UNSURE else sound
            source = (
                f"\n@pytest.hookimpl(try{position}=True)\ndef {hook}({arguments}):\n"
                f"    if not hit({asked}): return None\n    {code}\n"
            )
            yield hook, position, behaviour, source, end


def _wrappers() -> Iterator[Case]:
    for position in ("first", "last"):
        for hook, (arguments, asked) in SIGNATURES.items():
            for behaviour, (body, sound) in _bodies(hook):
                source = (
                    f"\n@pytest.hookimpl(wrapper=True, try{position}=True)\ndef {hook}({arguments}):\n"
                    f"    if not hit({asked}): return (yield)\n    {body}\n"
                )
                yield hook, f"around_{position}", behaviour, source, sound


def _bodies(hook: str) -> Iterator[tuple[str, tuple[str, str]]]:
    if hook == HOOK_OF_REPORTS:
        yield from _report_bodies()
        return
    for name in ("skip", "xfail", "return", "raise"):
        code, sound = PLAIN[hook, name]
        if name == "return" and hook in REPLACED:
            yield "return_before", (f"{REPLACED[hook]}\n    yield\n    return True", _unless_fixture(hook, "partial"))
            late = "fake(fixturedef, request)" if hook == "pytest_fixture_setup" else "True"
            yield "return_after", (f"yield\n    return {late}", _unless_fixture(hook, "conformant"))
            continue
        if hook == "pytest_collection_modifyitems":
            yield f"{name}_before", (f"{code}\n    return (yield)", "")
            yield f"{name}_after", (f"result = yield\n    {code}\n    return result", sound)
            continue
        if hook == "pytest_runtest_logreport":
            code, sound = code.removesuffix("\n    return True"), "partial" if name in ("skip", "xfail") else ""
        yield f"{name}_before", (f"{code}\n    return (yield)", sound)
        if hook in RAISING:
            yield f"{name}_after", (f"try:\n        yield\n    finally:\n        {code}", sound)
        elif hook == "pytest_runtest_logreport":
            yield f"{name}_after", (f"result = yield\n    {code}\n    return result", "")
    yield "swallow", (SWALLOWING.get(hook, SWALLOW), "" if hook in SWALLOWING else "conformant")


SWALLOW = "try:\n        yield\n    except BaseException:\n        pass\n    return None"
SWALLOWING = {
    HOOK_OF_REPORTS: """try:
        result = yield
    except BaseException:
        result = made(item, call, 'passed')
    result.sections.clear()
    return changed(result, 'passed')""",
    "pytest_runtest_logreport": f"changed(report, 'passed')\n    {SWALLOW}",
    "pytest_fixture_setup": SWALLOW,
    "pytest_collection_modifyitems": f"{SWALLOW.removesuffix('return None')}{DROPPED}",
}
"""Those that change something besides."""


def _unless_fixture(hook: str, sound: str) -> str:
    """A value that stands in the place of a fixture's leads to several ends."""
    return "" if hook == "pytest_fixture_setup" else sound


def _report_bodies() -> Iterator[tuple[str, tuple[str, str]]]:
    for name, code in BEFORE_REPORT.items():
        yield f"{name}_before", (f"yield\n    {code}\n    return result", "" if name == "return" else "partial")
    for name, code in AFTER_REPORT.items():
        sound = "partial" if name in ("skip", "xfail") else ""
        yield f"{name}_after", (f"result = yield\n    {code}\n    return result", sound)
    yield "swallow", (SWALLOWING[HOOK_OF_REPORTS], "")
