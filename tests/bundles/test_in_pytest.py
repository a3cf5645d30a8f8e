"""Bundles inside pytest: items, selections, thresholds, several workers, reports."""

import json
import os
from xml.etree import ElementTree

import pytest
from samples import ALL, HALF, QUESTION_ANSWERING, STOP, bundle, echo, mixed, provider, run, section, text, write

pytestmark = pytest.mark.usefixtures("plain_environment")

MOCK = "--corpus-bundle-provider=mock"


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


def test_red_thresholds_blame_their_own_cases(pytester: pytest.Pytester) -> None:
    """Each names the cases that hold its metric down, and a case is explained once; nothing is tolerated."""
    gates = "".join(
        f"  - {{metric: {name}, operator: '>=', value: 0.99}}\n"
        for name in ("pass_rate", "pass_at_1", "schema_valid_rate")
    )
    more = f"output_contract: {{schema_path: s.json}}\nthresholds:\n{gates}provider: {{name: mock}}\n"
    cases = [{"id": "odd", "input": {"q": 1}, "expected_output": 1}, echo(0), {"id": "none", "input": {"q": 2}}]
    bundle(pytester.path / "bundles" / "qa", cases, more, s_json='{"type": "string"}')
    shown = text(run(pytester, "--corpus-report=r.json"))
    assert "not passed: odd, none" in shown
    assert "not passed: the cases of the threshold above" in shown
    assert "because of: odd\n" in shown
    assert shown.count("the answer breaks the schema at (root): ") == 1
    assert "tolerated  odd" not in shown
    assert not any(each["tolerated"] for each in section(pytester)["failures"])


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
        result = run(pytester, "-n", workers, "--junitxml=j.xml", "--corpus-report=r.json", apart=workers != "0")
        [suite] = ElementTree.parse(pytester.path / "j.xml").getroot()
        counts = {name: suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")}
        whole = section(pytester)
        stable = {key: whole[key] for key in ("cases", "verdict", "calls")}
        names = sorted(each["case"] for each in whole["failures"])
        found.append((result.parseoutcomes(), result.ret, counts, stable, names))
        assert "used: 4 calls" in text(result)
    assert all(each == found[0] for each in found)


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
    played = run(pytester, "--corpus-bundle-cassettes=none")
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


def test_tags_and_places_of_cases(pytester: pytest.Pytester) -> None:
    """A case has its tags as keywords and the place of its bundle; each case that passed can be listed."""
    bundle(pytester.path / "bundles" / "qa", [{**echo(0), "metadata": {"tags": "even"}}, echo(1)])
    pytester.makeconftest(
        """
def pytest_sessionfinish(session):
    tagged, plain = session.items
    assert "even" in tagged.keywords and "bundle" in plain.keywords and "even" not in plain.keywords
    assert plain.location == ("bundles/qa/bundle.yaml", None, "case-1") and plain.own_markers == []
"""
    )
    result = run(pytester, "-rp")
    result.assert_outcomes(passed=2)
    assert (result.ret, text(result).count("PASSED bundles/qa/bundle.yaml::case-")) == (0, 2)


def test_several_providers(pytester: pytest.Pytester) -> None:
    """One bundle over several providers runs once each, side by side."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)])
    provider(pytester, "no", "lambda r: 'no'")
    result = run(pytester, MOCK, "--corpus-bundle-provider=no:tiny", "-rA")
    result.assert_outcomes(passed=1, failed=1)
    assert "FAILED bundles/qa/bundle.yaml::case-0[no:tiny]" in text(result)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--corpus-bundle-limit=0", "use a whole number above 0"),
        ("--corpus-bundle-cassettes=maybe", "use off, none, once, new or all"),
        ("--corpus-budget=10", "write it as calls=500, tokens=20000"),
        ("--corpus-bundle-update-baseline", "name the file with --corpus-bundle-baseline=PATH"),
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
        "total": 3, "selected": 3, "passed": 0, "tolerated": 0,
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
    assert document["verdict"] == other["verdict"]
    (found,), (expected,) = document["components"].values(), other["components"].values()
    assert (found["verdict"], found["totals"]) == (expected["verdict"], expected["totals"])


def test_nothing_is_imported_without_a_bundle(pytester: pytest.Pytester) -> None:
    """A run without bundles imports nothing of them."""
    pytester.makepyfile(
        "import sys\ndef test_it():\n"
        "    assert not [m for m in sys.modules if 'bundle' in m and m.startswith('pytest_corpus')]\n"
        "    assert 'yaml' not in sys.modules and 'jinja2' not in sys.modules\n"
    )
    write(pytester.path, {"other.txt": ""})
    run(pytester, apart=True, fork=False).assert_outcomes(passed=1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals of POSIX")
def test_a_blocked_provider_does_not_keep_pytest_alive(pytester: pytest.Pytester) -> None:
    """A provider that never returns is given up, and pytest ends."""
    bundle(pytester.path / "bundles" / "qa", [echo(0)], "provider: {name: stuck}\ntimeout: 0.3\n")
    provider(pytester, "stuck", "lambda r: __import__('threading').Event().wait()")
    result = run(pytester, apart=True)
    result.assert_outcomes(failed=1)
    assert "no answer within 0.3 s" in text(result)


def test_an_interrupted_run_says_what_was_paid_for(pytester: pytest.Pytester) -> None:
    """After Ctrl-C nothing is judged, and the report names the calls that were made."""
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(4)], "provider: {name: mine}\n" + ALL)
    provider(pytester, "mine", "lambda r: 'yes'", STOP)
    result = run(pytester)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "used: 2 calls" in text(result)
    assert "qa (mine): not judged; 2/4 cases passed" in text(result)
