"""Plugins that are in the way where tests are collected and where the session ends."""

from hostile_plugins import RUNNING, Hostile, around_call


def finishing(how: str, code: str) -> str:
    return f"\n@pytest.hookimpl({how})\ndef pytest_sessionfinish(session):\n    {code}\n"


COLLECTING = (
    Hostile("dropped",
            "\n@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(items):\n"
            "    items[:] = [item for item in items if not hit(item.nodeid)]\n"),
    Hostile("never_collected",
            "\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pycollect_makeitem(name):\n"
            "    return [] if hit(name) else None\n"),
    Hostile("one_case_less",
            "\n@pytest.hookimpl(wrapper=True)\ndef pytest_pycollect_makeitem(name):\n    found = yield\n"
            "    return [item for item in found if 'embedding.embed' not in item.name] if hit(name) else found\n"),
    Hostile("chapter_emptied",
            "\n@pytest.hookimpl(wrapper=True)\ndef pytest_make_collect_report(collector):\n    report = yield\n"
            "    report.result = [item for item in report.result or () if not hit(item.nodeid)]\n    return report\n"),
    Hostile("doubled",
            "\n@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(items):\n"
            "    items += [item for item in items if hit(item.nodeid)]\n", ""),
    Hostile("more_parameters",
            "\ndef pytest_generate_tests(metafunc):\n    if hit(metafunc.definition.nodeid):\n"
            "        metafunc.fixturenames.append('number')\n        metafunc.parametrize('number', [1, 2])\n", ""),
    Hostile("no_parameters",
            "\ndef pytest_generate_tests(metafunc):\n    if hit(metafunc.definition.nodeid):\n"
            "        metafunc.fixturenames.append('number')\n        metafunc.parametrize('number', [])\n"),
    Hostile("marked_when_collected",
            "\ndef pytest_itemcollected(item):\n    if hit(item.nodeid): item.add_marker(pytest.mark.skip)\n"),
)  # fmt: skip

ENDING = (
    Hostile("exit_code_first", finishing("tryfirst=True", "session.exitstatus = 0"), "conformant"),
    Hostile("exit_code_last", finishing("trylast=True", "session.exitstatus = 0"), "conformant"),
    Hostile("exit_code_around", finishing("wrapper=True, tryfirst=True", "yield\n    session.exitstatus = 0"),
            "conformant"),
    Hostile("nothing_failed",
            "\ndef pytest_runtest_logfinish(nodeid):\n    session.testsfailed = 0\n"
            "def pytest_sessionstart(session):\n    globals()['session'] = session\n", "conformant"),
    Hostile("finish_raises_first", finishing("tryfirst=True", "raise ValueError('hostile')"), "", disturbed_end=True),
    Hostile("finish_raises_last", finishing("trylast=True", "raise ValueError('hostile')"), "", disturbed_end=True),
    Hostile("finish_raises_around", finishing("wrapper=True, tryfirst=True", "raise ValueError('hostile')\n    yield"),
            "", disturbed_end=True),
    Hostile("summary_raises",
            "\n@pytest.hookimpl(tryfirst=True)\ndef pytest_terminal_summary():\n    raise ValueError('hostile')\n", "",
            disturbed_end=True),
    Hostile("exit_in_a_test", around_call("pytest.exit('hostile')\n    yield")),
    Hostile("exit_0_in_a_test", around_call("pytest.exit('hostile', returncode=0)\n    yield")),
    Hostile("interrupt", around_call("raise KeyboardInterrupt('hostile')\n    yield"), apart=True),
    Hostile("system_exit", around_call("raise SystemExit(0)\n    yield"), apart=True),
    Hostile("shouldstop", around_call("item.session.shouldstop = 'hostile'\n    return (yield)")),
    Hostile("shouldfail", around_call("item.session.shouldfail = 'hostile'\n    return (yield)")),
)  # fmt: skip

TABLE = (*RUNNING, *COLLECTING, *ENDING)
