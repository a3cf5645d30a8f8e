"""`--corpus-shard` for bundles, `bundle combine`, and durations."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call_command
from samples import PLUGIN, bundle, echo, run, text

from pytest_corpus.bundles import metrics
from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.bundles.running.shards import DURATIONS, compute_digest, read_durations, select_cases
from pytest_corpus.verdict.shards import Shard

pytestmark = pytest.mark.usefixtures("plain_environment")

CONFTEST = """
import os, signal
from pytest_corpus import Answer
def pytest_corpus_bundle_providers(config):
    def answer(request):
        number = int(request.case.rpartition("-")[2])
        with open(f"asked-{os.environ['RUN']}", "a") as file:
            file.write(request.case + "\\n")
        if request.case in os.environ.get("DIES", "").split():
            os.kill(os.getpid(), signal.SIGKILL)
        if number % 50 == 7:
            raise ConnectionError
        return Answer("no" if number % 10 == 3 else "yes", latency_ms=float(number), prompt_tokens=number)
    return {"ours": answer}
"""
GATES = """
thresholds:
  - {metric: pass_rate, operator: ">=", value: 0.85, confidence: 0.9}
  - {metric: p95_latency_ms, operator: "<", value: 5000}
"""
MORE = f"provider: {{name: ours}}\nparallel: true\nmax_parallel: 2\nretries: 0\n{GATES}"


def untimed(document: dict[str, Any]) -> Any:
    """The sections on bundles without the seconds that cases took."""
    for section in document["bundles"]:
        for result in section["results"]:
            result.pop("seconds", None)
    return document["bundles"]


class Project:
    """A folder with a bundle and its runs, in this process or apart."""

    def __init__(self, pytester: pytest.Pytester, cases: int, more: str = MORE) -> None:
        self.pytester = pytester
        self.path = bundle(pytester.path / "bundles" / "qa", [echo(number) for number in range(cases)], more)
        pytester.makeconftest(CONFTEST)

    def run(self, name: str, *given: str, dies: str = "") -> int:
        """The exit code of a run whose report is NAME.json; one that `dies` at a case runs in a process of its own."""
        self.pytester._monkeypatch.setenv("RUN", name)
        self.pytester._monkeypatch.setenv("DIES", dies)
        return int(run(self.pytester, f"--corpus-report={name}.json", *given, apart=bool(dies)).ret)

    def shard(self, number: int, of: int, dies: str = "") -> int:
        return self.run(str(number), f"--corpus-shard={number}/{of}", "--corpus-bundle-resume=kept", dies=dies)

    def read(self, name: str) -> Any:
        return json.loads((self.pytester.path / f"{name}.json").read_text())

    def asked(self, name: str) -> list[str]:
        return (self.pytester.path / f"asked-{name}").read_text().split()

    def combine(self, *names: str, more: tuple[str, ...] = ()) -> tuple[int, str]:
        ended = call_command("bundle", "combine", *(f"{name}.json" for name in names), "-o", "whole.json", *more)
        return ended.code, ended.out + ended.err

    def check(self, of: int, cases: int) -> None:
        """Compare the shards with the run `one`."""
        code, said = self.combine(*map(str, range(1, of + 1)))
        assert code == 0, said
        one, combined = self.read("one"), self.read("whole")
        assert untimed(combined) == untimed(one)
        assert (combined["verdict"], combined["gaps"], len(combined["combined"])) == (one["verdict"], one["gaps"], of)
        again = [case for number in range(1, of + 1) for case in self.asked(str(number))]
        assert set(again) == set(self.asked("one"))
        # Errors are asked again, and the calls that were under way.
        assert len(again) - cases <= 4 + cases // 50
        [fault] = call_command("report", "check", "whole.json").out.splitlines()
        assert "only behaviour bundles ran" in fault


def test_a_killed_shard_is_started_again(pytester: pytest.Pytester) -> None:
    """A shard is killed and started again; combined, all give what one process gives, and ask each case once."""
    there, of = Project(pytester, 60), 2
    assert there.run("one") == 0
    last = select_cases(load_bundle(there.path), Shard(1, of))[-4].id
    assert there.shard(1, of, dies=last) == -signal.SIGKILL
    assert [there.shard(number, of) for number in range(1, of + 1)] == [0] * of
    there.check(of, 60)


@pytest.mark.slow
def test_two_thousand_cases_in_eight_processes(pytester: pytest.Pytester) -> None:
    """Eight shards run at the same time as processes of their own; two are killed and started again."""
    there = Project(pytester, 2000)
    assert there.run("one") == 0

    def start(number: int, dies: str = "") -> subprocess.Popen[bytes]:
        given = (f"--corpus-report={number}.json", f"--corpus-shard={number}/8", "--corpus-bundle-resume=kept")
        known = {**os.environ, "RUN": str(number), "DIES": dies, "PYTHONPATH": str(Path(__file__).parents[2])}
        words = [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:randomly", *given]
        return subprocess.Popen(words, cwd=pytester.path, env=known, stdout=subprocess.DEVNULL)

    found = load_bundle(there.path)
    running = [
        start(number, select_cases(found, Shard(number, 8))[-9].id if number < 3 else "") for number in range(1, 9)
    ]
    assert [each.wait(600) for each in running] == [-signal.SIGKILL, -signal.SIGKILL, *[0] * 6]
    assert [start(number).wait(600) for number in (1, 2)] == [0, 0]
    there.check(8, 2000)


def _changed(change: Callable[[dict[str, Any]], object]) -> Callable[[Project], tuple[str, ...]]:
    def applied(there: Project) -> tuple[str, ...]:
        from pytest_corpus.reports.json_report import add_digest

        document = there.read("2")
        change(document["bundles"][0])
        (there.pytester.path / "2.json").write_text(json.dumps(add_digest(document)))
        return "1", "2"

    return applied


REFUSALS: list[tuple[Callable[[Project], tuple[str, ...]], str]] = [
    (lambda _: ("1",), "shard 2/2 missing"),
    (lambda _: ("1", "2", "2"), "are both shard 2/2"),
    (lambda there: (there.run("3"), ("1", "3"))[1], "3.json is not the report of a shard"),
    (_changed(lambda each: each["shard"].update(digest="0" * 64)), "used different versions of bundles/qa/bundle.yaml"),
    (_changed(lambda each: each["shard"]["head"].update(cassettes="new")), "used different options for bundles/qa"),
    (_changed(lambda each: each["results"].pop()), "1 of its cases of bundles/qa/bundle.yaml (ours) have no"),
    (
        _changed(lambda each: (each["results"].pop(), each["cases"].update(selected=4))),
        "1 cases of bundles/qa/bundle.yaml (ours) are in no shard: case-9",
    ),
    (_changed(lambda each: each["results"][0].update(case="case-0")), "both have the case case-0 of"),
]


def test_what_combine_refuses(pytester: pytest.Pytester) -> None:
    """Gaps, overlaps, other versions of the bundle, other options and altered reports, each in one sentence."""
    there = Project(pytester, 10)
    assert [there.shard(number, 2) for number in (1, 2)] == [0, 0]
    kept = (there.pytester.path / "2.json").read_text()
    assert there.combine("1", "2", more=("--write-durations",))[0] == 0
    assert set(read_durations(there.pytester.path / "bundles" / "qa")) == {f"case-{number}" for number in range(10)}
    for change, words in REFUSALS:
        code, said = there.combine(*change(there))
        assert (code, words in said) == (2, True), said
        (there.pytester.path / "2.json").write_text(kept)
    (there.pytester.path / "2.json").write_text(kept.replace('"status": "passed"', '"status": "failed"'))
    assert "it was altered" in there.combine("1", "2")[1]


def test_a_cut_by_time(tmp_path: Path) -> None:
    """Each case is in one shard, and the shards take about as long; a case without a time counts as the mean."""
    path = bundle(tmp_path, [echo(number) for number in range(100)])
    found = load_bundle(path)
    assert [len(select_cases(found, Shard(number, 8))) for number in range(1, 9)] == [13] * 4 + [12] * 4
    before = compute_digest(found)
    seconds = {f"case-{number}": float(number % 7) ** 3 for number in range(90)}
    (tmp_path / DURATIONS).write_text(json.dumps(seconds))
    shards = [select_cases(found, Shard(number, 8)) for number in range(1, 9)]
    assert sorted(case.id for shard in shards for case in shard) == sorted(case.id for case in found.cases)
    sums = [sum(seconds.get(case.id, 55) for case in shard) for shard in shards]
    assert max(sums) < 1.2 * min(sums)
    assert compute_digest(found) != before
    (tmp_path / DURATIONS).write_text('{"case-0": "long"}')
    with pytest.raises(BundleError, match="is not a JSON object with the seconds of each case"):
        select_cases(found, Shard(1, 8))


def test_the_digest_knows_the_bundle_and_not_its_place(tmp_path: Path) -> None:
    """The same files in another folder have the same digest; a case, a prompt, a gate or a script changes it."""
    cases, more = [echo(0), echo(1)], "provider: {name: mock, script: s.jsonl}\n"
    script, schema = '{"id": "case-0", "output": 1}\n', json.dumps({"type": "string"})
    contract = "output_contract: {schema_path: s.json, invariants: ['True']}\n"
    made = [
        (cases, more + contract, {"s_jsonl": script, "s_json": schema}),
        (cases, more + GATES, {"s_jsonl": script}),
        (cases, more, {"s_jsonl": script}),
        (cases, more, {"s_jsonl": script.replace("1", "2")}),
        (cases[:1], more, {"s_jsonl": script}),
    ]
    found = []
    for number, (given, lines, files) in enumerate(made):
        one, two = (
            compute_digest(load_bundle(bundle(tmp_path / f"{number}{place}", given, lines, **files))) for place in "ab"
        )
        assert one == two
        found.append(one)
    assert len(set(found)) == len(made)


def test_shards_of_a_bundle_that_stops(pytester: pytest.Pytester) -> None:
    """With `stop: decided` a shard asks all its cases, and the gate is judged by the interval that may be looked at."""
    gate = "stop: decided\nthresholds: [{metric: pass_rate, operator: '>=', value: 0.5, confidence: 0.95}]\n"
    there = Project(pytester, 60, f"provider: {{name: ours}}\n{gate}")
    assert [there.shard(number, 2) for number in (1, 2)] == [0, 0]
    assert there.combine("1", "2")[0] == 0
    [section] = there.read("whole")["bundles"]
    assert (section["calls"], "saved" in section, section["cases"]["passed"]) == (60, False, 52)
    expected = metrics.sequential_interval([[1.0]] * 52 + [[0.0]] * 8, 0.95)
    assert section["thresholds"][0]["interval"] == pytest.approx(expected, abs=1e-6)


def test_a_run_that_stops_is_resumed(pytester: pytest.Pytester) -> None:
    """With `stop: decided` a run that was killed ends with the same cases as one that was not."""
    gate = "stop: decided\nthresholds: [{metric: pass_rate, operator: '>=', value: 0.5, confidence: 0.95}]\n"
    there = Project(pytester, 60, f"provider: {{name: ours}}\nparallel: true\n{gate}")
    assert there.run("one") == 0
    fifth = load_bundle(there.path).cases[4].id
    assert there.run("two", "--corpus-bundle-resume=kept", dies=fifth) == -signal.SIGKILL
    assert there.run("two", "--corpus-bundle-resume=kept") == 0
    assert untimed(there.read("one")) == untimed(there.read("two"))
    assert there.read("one")["bundles"][0]["cases"]["not_asked"] > 30


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--corpus-shard=9/8"], "write NUMBER/OF"),
        (["--corpus-shard=1/2", "--corpus-bundle-limit=3"], "the shards of a part cannot be combined"),
    ],
)
def test_options_that_are_refused(pytester: pytest.Pytester, given: list[str], said: str) -> None:
    """A shard that does not exist, and one of the first cases alone."""
    bundle(pytester.path / "bundles" / "qa", [echo(0), echo(1)])
    result = run(pytester, *given)
    assert result.ret != 0
    assert said in text(result)
