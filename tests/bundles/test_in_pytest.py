"""Bundles inside pytest: items, selections, thresholds, several workers, reports."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from samples import QUESTION_ANSWERING, bundle, echo, write

PLUGIN = (
    [] if any(point.name == "corpus" for point in entry_points(group="pytest11")) else ["-p", "pytest_corpus.plugin"]
)
MOCK = "--corpus-bundle-provider=mock"
STOP = "def pytest_runtest_setup(item):\n    if item.name == 'case-2':\n        raise KeyboardInterrupt\n"
HALF = 'thresholds:\n  - {metric: pass_rate, operator: ">=", value: 0.5}\n'
ALL = 'thresholds:\n  - {metric: pass_rate, operator: ">=", value: 0.9}\n'
MIXED = (
    '{"id": "case-0", "output": "yes"}\n{"id": "case-1", "output": "no"}\n{"id": "case-2", "output": "yes"}\n'
    '{"id": "case-3", "error": "UNAVAILABLE"}\n'
)


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_ADDOPTS", "CI", "BUILD_NUMBER", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CORPUS_TEST_ENV", "local")


def run(pytester: pytest.Pytester, *given: str, apart: bool = False) -> pytest.RunResult:
    off = [
        part for name in ("randomly", "asyncio", "cov", "hypothesispytest", "anyio") for part in ("-p", f"no:{name}")
    ]
    ran = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
    return ran(*PLUGIN, *off, *given)


def mixed(pytester: pytest.Pytester, more: str) -> Path:
    """Four cases with mock: two pass, one fails, one has an error."""
    more = f"provider: {{name: mock, script: script.jsonl}}\n{more}"
    return bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(4)], more, script_jsonl=MIXED)


def provider(pytester: pytest.Pytester, name: str, answer: str, more: str = "") -> None:
    """A conftest with a provider; `answer` is an expression that gives a function."""
    hook = f"def pytest_corpus_bundle_providers(config):\n    return {{'{name}': {answer}}}\n"
    pytester.makeconftest(hook + more)


def section(pytester: pytest.Pytester) -> dict[str, Any]:
    """The only section on a bundle in the report r.json."""
    [found] = json.loads((pytester.path / "r.json").read_text())["bundles"]
    return dict(found)


def text(result: pytest.RunResult) -> str:
    return "\n".join((*result.outlines, *result.errlines))


def test_items(pytester: pytest.Pytester) -> None:
    """Cases are items, and thresholds stand at the end."""
    mixed(pytester, HALF)
    result = run(pytester, "--collect-only", "-q")
    assert [line for line in result.outlines if "::" in line] == [
        *(f"bundles/qa/bundle.yaml::case-{number}" for number in range(4)),
        "bundles/qa/bundle.yaml::threshold[pass_rate>=0.5]",
    ]


def test_thresholds_tolerate(pytester: pytest.Pytester) -> None:
    """If the thresholds hold, cases that did not pass are listed and tolerated, with xfail_strict or without."""
    mixed(pytester, HALF)
    pytester.makeini("[pytest]\nxfail_strict = true\n")
    result = run(pytester)
    result.assert_outcomes(passed=3, xfailed=2)
    assert result.ret == 0
    assert "failed, tolerated  case-1: the answer is not as expected" in text(result)
    assert "error, tolerated  case-3: the provider answers Unavailable" in text(result)


def test_a_threshold_that_does_not_hold_is_red(pytester: pytest.Pytester) -> None:
    """The threshold carries the red, with the cases that did not pass, the first of which are explained."""
    mixed(pytester, ALL)
    result = run(pytester)
    result.assert_outcomes(passed=2, xfailed=2, failed=1)
    assert result.ret == 1
    assert "pass_rate>=0.9 does not hold: pass_rate is 0.5" in text(result)
    assert "not passed: case-1, case-3" in text(result)
    assert "| Q: 1" in text(result)
    assert "the provider answers Unavailable: from the script" in text(result)


def test_without_thresholds_every_case_has_to_pass(pytester: pytest.Pytester) -> None:
    """A run without thresholds is red where a case failed (the older package said passed)."""
    mixed(pytester, "thresholds: []\n")
    result = run(pytester)
    result.assert_outcomes(passed=2, failed=2)
    assert result.ret == 1


@pytest.mark.parametrize(
    "chosen",
    [
        ("-k", "case-1"),
        ("bundles/qa/bundle.yaml::case-1", "bundles/qa/bundle.yaml::threshold[pass_rate>=0.5]"),
        ("--deselect", "bundles/qa/bundle.yaml::case-0"),
        ("--corpus-bundle-limit=2",),
    ],
)
def test_a_selection_is_not_judged(pytester: pytest.Pytester, chosen: tuple[str, ...]) -> None:
    """If only some cases were selected, a failure is ordinary and thresholds are skipped."""
    mixed(pytester, HALF)
    result = run(pytester, "-rs", *chosen)
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] >= 1
    assert "xfailed" not in outcomes
    assert result.ret == 1
    assert outcomes.get("skipped", 0) == 0 or "not judged: only" in text(result)


def test_stopping_at_the_first_failure(pytester: pytest.Pytester) -> None:
    """With -x a failing case is an ordinary failure, no case after it is asked, and reports judge nothing either."""
    mixed(pytester, HALF)
    result = run(pytester, "-x", "--corpus-report=r.json")
    result.assert_outcomes(passed=1, failed=1)
    assert "used: 2 calls" in text(result)
    found = section(pytester)
    assert (found["verdict"], found["thresholds"]) == ("not_judged", [])
    assert (found["cases"]["error"], found["cases"]["tolerated"]) == (0, 0)


def test_last_failed(pytester: pytest.Pytester) -> None:
    """`--lf` runs the cases that failed."""
    mixed(pytester, "")
    run(pytester)
    result = run(pytester, "--lf")
    result.assert_outcomes(failed=2)


def test_a_red_case_explains_itself(pytester: pytest.Pytester) -> None:
    """At `full` prompt and answer are shown; under CI, at `shape`, neither is."""
    mixed(pytester, "")
    assert "| Q: 1" in text(run(pytester))
    pytester._monkeypatch.setenv("CI", "1")
    shown = text(run(pytester))
    assert "Q: 1" not in shown
    assert "the answer is not as expected (subset) at (root): another text" in shown


def test_numbers_of_an_answer_are_content(pytester: pytest.Pytester) -> None:
    """At `shape` a failed invariant shows sizes and truth, and no number that stood in the answer."""
    cases = [{"id": "one", "input": {"q": 1}, "expected_output": {"account": 12345678, "items": [1, 2]}}]
    more = """provider: {name: mock}
output_contract: {invariants: ["output['account'] < 0 or len(output['items']) > 7 or any(len(x) for x in ['']) "]}
"""
    bundle(pytester.path / "bundles" / "qa", cases, more)
    shown = text(run(pytester, "--corpus-evidence=shape", "--corpus-report=r.json"))
    assert "output['account'] is a number" in shown
    assert "len(output['items']) is 2" in shown
    assert "12345678" not in shown + (pytester.path / "r.json").read_text()


def test_secrets_are_masked_where_content_is_shown(pytester: pytest.Pytester) -> None:
    """At `full` too: what the environment keeps secret is stars, and no answer steers the terminal."""
    cases = [{"id": "one", "input": {"q": "say hunter2hunter2"}, "expected_output": "yes"}]
    bundle(pytester.path / "bundles" / "qa", cases, "provider: {name: odd}\n")
    provider(pytester, "odd", "lambda r: '\\x1b[2J hunter2hunter2'")
    pytester._monkeypatch.setenv("ODD_API_KEY", "hunter2hunter2")
    shown = text(run(pytester, "--corpus-evidence=full", "--corpus-report=r.html"))
    page = (pytester.path / "r.html").read_text()
    assert "Q: say ***" in shown
    assert "\x1b[2J" not in shown
    assert "say ***" in page
    assert "hunter2" not in shown + page


EVERY = [pytest.param(more, ("0", "2", "4"), marks=pytest.mark.slow) for more in (HALF, ALL, "")]


@pytest.mark.parametrize(("more", "counts_of"), [(ALL, ("0", "2")), *EVERY])
def test_workers_agree(pytester: pytest.Pytester, more: str, counts_of: tuple[str, ...]) -> None:
    """Totals, exit code and JUnit counts are the same without xdist, with two workers and with four."""
    mixed(pytester, more + "parallel: true\nmax_parallel: 2\n")
    found = []
    for workers in counts_of:
        result = run(pytester, "-n", workers, "--junitxml=j.xml", "--corpus-report=r.json", apart=True)
        [suite] = ElementTree.parse(pytester.path / "j.xml").getroot()
        counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
        whole = section(pytester)
        stable = {key: whole[key] for key in ("cases", "verdict", "calls")}
        names = sorted(each["case"] for each in whole["failures"])
        found.append((result.parseoutcomes(), result.ret, counts, stable, names))
        assert "used: 4 calls" in text(result)
    assert all(each == found[0] for each in found)


def test_a_lost_worker_does_not_shrink_the_denominator(pytester: pytest.Pytester) -> None:
    """A case whose worker died is an error: three of four pass, so 0.75 is held to 0.9."""
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(4)], "provider: {name: dies}\n" + ALL)
    pytester.makeconftest(
        """
import os, time
def pytest_corpus_bundle_providers(config):
    def answer(request):
        if request.case == "case-1":
            os._exit(9)
        time.sleep(0.2)
        return "yes"
    return {"dies": answer}
"""
    )
    result = run(pytester, "-n", "2", apart=True)
    assert result.ret == 1
    assert "3/4 cases passed, 1 errors" in text(result)
    assert "FAILS  pass_rate>=0.9  (0.75)" in text(result)  # xdist itself may blame the threshold for the lost worker
    assert "several workers do not help, because its cases run one at a time" in text(result)


def test_cases_that_never_ran_are_not_judged(pytester: pytest.Pytester) -> None:
    """After a worker is lost and none replaces it, only its case has an error; nothing is held to the threshold."""
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(40)], "provider: {name: dies}\n" + ALL)
    provider(pytester, "dies", "lambda request: os._exit(9) if request.case == 'case-3' else 'yes'", "import os\n")
    result = run(pytester, "-n", "1", "--max-worker-restart=0", "--corpus-report=r.json", apart=True)
    assert result.ret == 1
    assert "not judged; 3/40 cases passed, 1 errors, 36 never asked; 4 calls" in text(result)
    assert section(pytester)["thresholds"] == []


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[str]]:
    """Two worker machines, as xdist sees them: socket servers with folders and TMPDIRs of their own."""
    specs, started = [], []
    for name in ("one", "two"):
        folders = [tmp_path / name / kind for kind in ("work", "temporary")]
        for folder in folders:
            folder.mkdir(parents=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        environment = {
            **os.environ,
            "PYTHONUNBUFFERED": "1",
            "TMPDIR": str(folders[1]),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        command = [sys.executable, "-m", "execnet.script.socketserver", address]
        process = subprocess.Popen(command, cwd=folders[0], env=environment, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()  # it listens
        specs.append(f"--tx=socket={address}")
    yield specs
    for process in started:
        process.kill()
        process.communicate()


def test_workers_on_other_machines(pytester: pytest.Pytester, servers: list[str], tmp_path: Path) -> None:
    """Two socket workers give the same result as none, ask each case once, and keep no file of ours."""
    cases = [echo(n, "no" if n % 10 == 3 else "yes") for n in range(40)]
    more = f"provider: {{name: ours}}\nparallel: true\n{ALL}"
    bundle(pytester.path / "bundles" / "qa", cases, more)
    pytester.makeini("[pytest]\n")
    log = tmp_path / "calls"
    provider(pytester, "ours", f"lambda request: open({str(log)!r}, 'a').write(request.case + '\\n') and 'yes'")
    found = []
    for given in ([*servers, "--dist=load", f"--rsyncdir={pytester.path}"], ["-n0"]):
        log.write_text("")
        result = run(pytester, *given, "--corpus-report=r.json", str(pytester.path), apart=True)
        whole = section(pytester)
        found.append([result.ret, *(whole[key] for key in ("verdict", "cases", "calls", "thresholds", "failures"))])
        assert sorted(log.read_text().splitlines()) == sorted(case["id"] for case in cases)
        assert "used: 40 calls" in text(result)
    assert found[0] == found[1]
    assert not [path for path in tmp_path.rglob("*corpus*") if "pyexecnetcache" not in path.parts]


@pytest.mark.slow
def test_a_suite_on_other_machines(pytester: pytest.Pytester, servers: list[str]) -> None:
    """A component's suite over two socket workers is complete and conformant."""
    pytester.makeini("[pytest]\n")
    adapter = ("--corpus-adapter=pytest_corpus.reference:all", "--corpus-components=embedding")
    result = run(pytester, *servers, "--dist=load", f"--rsyncdir={pytester.path}", *adapter, apart=True)
    assert result.ret == 0, text(result)
    assert "verdict: conformant" in text(result)


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_killed_run_is_resumed(pytester: pytest.Pytester, workers: str) -> None:
    """The same command asks only what has no answer yet, and ends like a run that was not killed."""
    more = f"provider: {{name: ours}}\nparallel: true\nmax_parallel: 2\n{ALL}"
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(12)], more)
    pytester.makeconftest(
        """
import os, signal, time
def pytest_corpus_bundle_providers(config):
    def answer(request):
        with open("asked", "a") as file:
            file.write(request.case + "\\n")
        if request.case == "case-7" and not os.path.exists("second"):
            pid = os.getppid() if hasattr(config, "workerinput") else os.getpid()
            os.kill(pid, signal.SIGKILL)
            time.sleep(3)
        return "yes"
    return {"ours": answer}
"""
    )
    given = ("-n", workers, "--corpus-bundle-resume=kept", "--corpus-report=r.json")
    run(pytester, *given, apart=True)
    first = (pytester.path / "asked").read_text().splitlines()
    assert len(first) < 12
    (pytester.path / "asked").unlink()
    (pytester.path / "second").touch()
    run(pytester, *given, apart=True).assert_outcomes(passed=13)
    again = (pytester.path / "asked").read_text().splitlines()
    assert len(set(first) & set(again)) <= 2  # the calls that were under way
    assert {"case-7", "case-11"} <= set(again)
    assert set(first) | set(again) == {f"case-{n}" for n in range(12)}
    assert section(pytester)["calls"] == 12


def test_collection_errors(pytester: pytest.Pytester) -> None:
    """A fault of a bundle is one sentence, and nothing is asked."""
    path = mixed(pytester, HALF)
    path.write_text(path.read_text().replace("operator", "operatr"))
    result = run(pytester)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "unknown key 'operatr'; did you mean 'operator'?" in text(result)
    assert "Traceback" not in text(result)
    assert "used:" not in text(result)


def test_what_is_collected(pytester: pytest.Pytester) -> None:
    """Elsewhere only a file that names a prompt or a dataset is a bundle; other tools' bundle.yaml is left alone."""
    bundle(pytester.path / "deep" / "er", [echo(0)])
    write(pytester.path / "charts", {"bundle.yaml": "bundle: {name: x}\n"})
    write(pytester.path / "other", {"some.yaml": "prompt_path: x\n"})
    result = run(pytester, "--collect-only", "-q")
    assert [line for line in result.outlines if "::" in line] == ["deep/er/bundle.yaml::case-0"]
    assert run(pytester, "charts/bundle.yaml").ret != 0


def test_no_provider(pytester: pytest.Pytester) -> None:
    """Without a provider and without an adapter nothing can answer, which is said."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)], "")
    assert "no provider is named" in text(run(pytester))


def test_no_key(pytester: pytest.Pytester) -> None:
    """Without a key the variable is named, or without the library the extra; no call is made."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)], "provider: {name: openai}\n")
    said = text(run(pytester))
    played = run(pytester, "--corpus-cassettes=none")
    assert "no recording of this request exists" in text(played)
    assert "set the environment variable OPENAI_API_KEY" in said or "pip install 'pytest-corpus[openai]'" in said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise OSError('no net')", "pytest_corpus_bundle_providers raised OSError: no net"),
        ("return ['mine']", "pytest_corpus_bundle_providers gave a list, and must give a dict of functions by name"),
        ("return {'mine': 'x'}", "gave 'mine' with a str, and must give functions by name"),
    ],
)
def test_a_hook_that_is_wrong(pytester: pytest.Pytester, body: str, said: str) -> None:
    """A hook that raises, or gives something else than functions by name, is one sentence and no traceback."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)], "provider: {name: mine}\n")
    pytester.makeconftest(f"def pytest_corpus_bundle_providers(config):\n    {body}\n")
    shown = text(run(pytester))
    assert said in shown
    assert "pluggy" not in shown.partition("ERRORS")[2]


def test_tags_are_markers(pytester: pytest.Pytester) -> None:
    """Tags of the metadata select cases, also with --strict-markers; a tag `skip` skips nothing, and none asks a plugin
    for what it does not say, as `timeout` would."""
    cases = [{**echo(n), "metadata": {"tags": ["even" if n % 2 == 0 else "odd", "skip", "timeout"]}} for n in range(4)]
    bundle(pytester.path / "bundles" / "qa", cases)
    run(pytester, "-m", "even", "--strict-markers").assert_outcomes(passed=2, deselected=2)
    run(pytester, "--strict-markers").assert_outcomes(passed=4)
    run(pytester, "-m", "timeout").assert_outcomes(deselected=4)


def test_several_providers(pytester: pytest.Pytester) -> None:
    """One bundle over several providers runs once each, side by side."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)])
    provider(pytester, "no", "lambda r: 'no'")
    result = run(pytester, MOCK, "--corpus-bundle-provider=no:tiny", "-rA")
    result.assert_outcomes(passed=1, failed=1)
    assert "FAILED bundles/qa/bundle.yaml::case-0[no:tiny]" in text(result)


def test_baseline(pytester: pytest.Pytester) -> None:
    """A committed baseline tells what is newly failing, fixed, added and gone."""
    path = mixed(pytester, HALF)
    run(pytester, "--corpus-baseline=base.json", "--corpus-update-baseline")
    script = path.parent / "script.jsonl"
    now = script.read_text().replace('"yes"', '"?"', 1).replace('"no"', '"yes"').replace('"?"', '"no"')
    script.write_text(now)
    shown = text(run(pytester, "--corpus-baseline=base.json"))
    assert "baseline, newly failing: case-0" in shown
    assert "baseline, fixed: case-1" in shown
    assert run(pytester, "--corpus-baseline=none.json").ret == 1


def test_a_baseline_counts_from_its_own_folder(pytester: pytest.Pytester) -> None:
    """The folder in which pytest is started does not matter, and no path of the machine stands in the file."""
    mixed(pytester, HALF)
    run(pytester, "--corpus-baseline=base.json", "--corpus-update-baseline")
    assert list(json.loads((pytester.path / "base.json").read_text())["bundles"]) == ["bundles/qa/bundle.yaml | mock"]
    pytester._monkeypatch.chdir(pytester.path / "bundles")
    shown = text(run(pytester, "qa", "--corpus-baseline=../base.json"))
    assert "qa (mock): passed" in shown
    assert "added" not in shown


def test_a_part_of_a_run_is_no_baseline(pytester: pytest.Pytester) -> None:
    """After Ctrl-C, with -x, or of a selection a baseline is neither written nor compared: nothing is gone."""
    mixed(pytester, HALF)
    run(pytester, "--corpus-baseline=base.json", "--corpus-update-baseline")
    whole = (pytester.path / "base.json").read_text()
    write(pytester.path, {"stops.py": STOP})
    for chosen in (["-p", "stops"], ["-x"], ["-k", "case-0"]):
        shown = text(run(pytester, "--corpus-baseline=base.json", *chosen, apart=chosen[0] == "-p"))
        assert "only a part ran" in shown
        assert "gone" not in shown
        again = ("--corpus-baseline=base.json", "--corpus-update-baseline", *chosen)
        run(pytester, *again, apart=chosen[0] == "-p")
        assert (pytester.path / "base.json").read_text() == whole


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--corpus-bundle-limit=0", "use a whole number above 0"),
        ("--corpus-cassettes=maybe", "use off, none, once, new or all"),
        ("--corpus-budget=10", "write it as calls=500, tokens=20000"),
        ("--corpus-update-baseline", "name the file with --corpus-baseline=PATH"),
    ],
)
def test_usage_errors(pytester: pytest.Pytester, option: str, said: str) -> None:
    """An option that makes no sense is one sentence."""
    mixed(pytester, HALF)
    assert said in text(run(pytester, option))


SECRET = "a very private question"


@pytest.mark.parametrize("evidence", ["shape", "full"])
def test_reports_hold_no_content(pytester: pytest.Pytester, evidence: str) -> None:
    """Every format has a section without prompt and answer; with evidence=full the page alone has both."""
    cases = [{"id": "one", "input": {"q": SECRET}, "expected_output": "yes"}]
    bundle(pytester.path / "bundles" / "qa", cases, "provider: {name: odd}\n" + (ALL if evidence == "shape" else ""))
    provider(pytester, "odd", "lambda r: 'canary answer'")
    names = ["r.json", "r.html", "r.md", "r.intoto.json", "r.badge.json", "r.svg"]
    options = [f"--corpus-report={name}" for name in names]
    assert run(pytester, f"--corpus-evidence={evidence}", *options, "--junitxml=j.xml").ret == 1
    for name in names:
        content = (pytester.path / name).read_text()
        shows = evidence == "full" and name == "r.html"
        assert (SECRET in content, "canary answer" in content) == (shows, shows)
        assert "qa" in content or "badge" in name or "svg" in name
    from pytest_corpus.reports.reading import schema_flaws

    assert schema_flaws(json.loads((pytester.path / "r.json").read_text())) == []


@pytest.mark.parametrize("given", ["mock", "corpus"])
def test_the_example_of_the_document(pytester: pytest.Pytester, given: str) -> None:
    """The complete example runs unchanged: an echo without expectations and words that are no JSON fail it."""
    write(pytester.path / "bundles" / "question-answering", QUESTION_ANSWERING)
    adapter = ["--corpus-adapter=pytest_corpus.reference:llm", "-m", "bundle"] if given == "corpus" else []
    result = run(pytester, f"--corpus-bundle-provider={given}", *adapter, "--corpus-report=r.json")
    outcomes = result.parseoutcomes()
    assert (outcomes["xfailed"], outcomes["failed"]) == (3, 2)
    assert section(pytester)["cases"] == {
        "total": 3, "selected": 3, "passed": 0, "tolerated": 3,
        "failed": 3 if given == "corpus" else 0, "error": 0 if given == "corpus" else 3,
    }  # fmt: skip


def test_the_example_passes(pytester: pytest.Pytester) -> None:
    """With answers that keep the contract, by a script of mock, the example passes."""
    answers = "".join(
        json.dumps({"input": json.loads(line)["input"], "output": {"answer": "x", "confidence": 0.9}}) + "\n"
        for line in QUESTION_ANSWERING["questions.jsonl"].splitlines()
    )
    yaml = QUESTION_ANSWERING["bundle.yaml"].replace("name: openai\n", "name: mock\n  script: answers.jsonl\n")
    write(pytester.path / "bundles" / "qa", {**QUESTION_ANSWERING, "bundle.yaml": yaml, "answers.jsonl": answers})
    run(pytester).assert_outcomes(passed=5)


def test_a_bundle_changes_no_verdict(pytester: pytest.Pytester) -> None:
    """A red bundle makes exit code 1 and leaves the conformance verdict alone."""
    mixed(pytester, ALL)
    few = "--corpus-requirement=LLM-TOKENS-*"
    adapter = "--corpus-adapter=pytest_corpus.reference:llm"
    result = run(pytester, adapter, few, "--corpus-report=r.json")
    assert result.ret == 1
    document = json.loads((pytester.path / "r.json").read_text())
    assert document["bundles"][0]["verdict"] == "failed"
    alone = run(pytester, "-p", "no:cacheprovider", adapter, few, "--corpus-report=s.json", "--ignore=bundles")
    other = json.loads((pytester.path / "s.json").read_text())
    assert alone.ret == 0
    assert (document["verdict"], document["components"]) == (other["verdict"], other["components"])


def test_nothing_is_imported_without_a_bundle(pytester: pytest.Pytester) -> None:
    """A run without bundles imports nothing of them."""
    pytester.makepyfile(
        "import sys\ndef test_it():\n"
        "    assert not [m for m in sys.modules if 'bundle' in m and m.startswith('pytest_corpus')]\n"
        "    assert 'yaml' not in sys.modules and 'jinja2' not in sys.modules\n"
    )
    write(pytester.path, {"other.txt": ""})
    run(pytester, apart=True).assert_outcomes(passed=1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals of POSIX")
def test_a_blocked_provider_does_not_keep_pytest_alive(pytester: pytest.Pytester) -> None:
    """A provider that never returns is given up, and pytest ends."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)], "provider: {name: stuck}\ntimeout: 0.3\n")
    provider(pytester, "stuck", "lambda r: __import__('threading').Event().wait()")
    result = pytester.runpytest_subprocess(*PLUGIN, "-p", "no:randomly", timeout=30)
    result.assert_outcomes(failed=1)
    assert "no answer within 0.3 s" in text(result)


def test_an_interrupted_run_says_what_was_paid_for(pytester: pytest.Pytester) -> None:
    """After Ctrl-C nothing is judged, and the report names the calls that were made."""
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(4)], "provider: {name: mine}\n" + ALL)
    provider(pytester, "mine", "lambda r: 'yes'", STOP)
    result = run(pytester, apart=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "used: 2 calls" in text(result)
    assert "qa (mine): not judged; 2/4 cases passed" in text(result)
