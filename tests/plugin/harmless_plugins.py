"""Options and plugins of users that are not in the way: beside them, verdicts are what they are."""

OPTIONS = {
    "no terminal": ("-p", "no:terminal"),
    "no skipping": ("-p", "no:skipping"),
    "no junitxml": ("-p", "no:junitxml"),
    "no cache": ("-p", "no:cacheprovider"),
    "first failure": ("-x",),
    "number of failures": ("--maxfail=1",),
    "stepwise": ("--stepwise", "-p", "cacheprovider"),
    "last failed": ("--lf", "-p", "cacheprovider"),
}
"""Options of pytest that may stand beside the suite."""

HARMLESS = {
    "a clock": "import time\n@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_call(item):\n"
    "    started = time.monotonic()\n    result = yield\n"
    "    item.seconds = time.monotonic() - started\n    return result\n",
    "an old clock": "@pytest.hookimpl(hookwrapper=True, tryfirst=True)\ndef pytest_runtest_call(item):\n    yield\n",
    "a clock around all": "@pytest.hookimpl(wrapper=True, tryfirst=True)\ndef pytest_runtest_protocol(item):\n"
    "    return (yield)\n",
    "a clock around the function": "@pytest.hookimpl(wrapper=True)\ndef pytest_pyfunc_call(pyfuncitem):\n"
    "    return (yield)\n",
    "a section": "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n    report = yield\n"
    "    report.sections.append(('mine', 'text'))\n    return report\n",
    "properties": "@pytest.hookimpl(wrapper=True)\ndef pytest_runtest_makereport(item, call):\n    report = yield\n"
    "    report.user_properties.append(('team', 'search'))\n    item.user_properties.append(('run', 1))\n"
    "    return report\n",
    "other properties": "@pytest.hookimpl(tryfirst=True)\ndef pytest_runtest_setup(item):\n"
    "    item.user_properties.append(('team', 'search'))\n",
    "markers": "def pytest_collection_modifyitems(items):\n"
    "    for item in items: item.add_marker(pytest.mark.usefixtures('tmp_path'))\n",
    "an order": "@pytest.hookimpl(trylast=True)\ndef pytest_collection_modifyitems(items):\n    items.reverse()\n",
    "a wrapped runtest": "def pytest_runtest_setup(item):\n    run = item.runtest\n    item.runtest = lambda: run()\n",
    "seen reports": "seen = []\ndef pytest_runtest_logreport(report):\n    seen.append(report)\n    return True\n",
    "a fixture of its own": "@pytest.fixture(autouse=True)\ndef around(request):\n    yield\n",
    "reports by hand": "from _pytest.runner import runtestprotocol\ndef pytest_runtest_protocol(item, nextitem):\n"
    "    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)\n"
    "    for report in runtestprotocol(item, log=False, nextitem=nextitem):\n"
    "        item.ihook.pytest_runtest_logreport(report=report)\n"
    "    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)\n"
    "    return True\n",
}
"""Plugins that do what many do, and change nothing."""
