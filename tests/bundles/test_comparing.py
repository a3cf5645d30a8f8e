"""Paired comparison: of files, with a baseline, of variants."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call_command
from samples import HALF, STOP, bundle, echo, mixed, provider, run, section, text

from pytest_corpus.bundles.reporting.comparison import compare_runs
from pytest_corpus.reports.reading import bundle_flaw

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import decisions

pytestmark = pytest.mark.usefixtures("plain_environment")

MATRIX = """provider: {name: ours}
variants:
  prompts: {short: prompt.md, long: {prompt_path: long.md, system_path: system.md}}
  models: {small: tiny, large: {model: huge, temperature: 0.5}}
"""


def outcome(passes: str, **numbers: list[float]) -> dict[str, Any]:
    """A run: a letter for each case, `y` if it passed."""
    cases = {f"c{number}": "passed" if each == "y" else "failed" for number, each in enumerate(passes)}
    return {"cases": cases, "numbers": {name: dict(zip(cases, each, strict=True)) for name, each in numbers.items()}}


def test_passes() -> None:
    """Ten cases that fail now against none that are fixed: p is 0.002, and the interval is without 0."""
    found = compare_runs(outcome("y" * 40), outcome("n" * 10 + "y" * 30))
    [passes] = found["differences"]
    assert (found["verdict"], passes["before"], passes["now"]) == ("worse", 1.0, 0.75)
    assert passes["interval"] == pytest.approx([-0.25, -0.0958], abs=1e-4)
    assert found["newly_failing"] == sorted(f"c{number}" for number in range(10))
    assert compare_runs(outcome("n" * 10 + "y" * 30), outcome("y" * 40))["verdict"] == "better"


@pytest.mark.parametrize(
    ("before", "now"), [("yyyyy", "nnnnn"), ("ynynyyyyyy", "nynyyyyyyy"), ("yyy", "yyy"), ("", "")]
)
def test_cannot_tell(before: str, now: str) -> None:
    """Five changed cases are not enough, and no case is nothing."""
    assert compare_runs(outcome(before), outcome(now))["verdict"] == "cannot_tell"


def test_means() -> None:
    """Scores decide, latency only if it is asked for; the error is shared among the metrics that decide."""
    old = [0.5 + number % 7 / 20 for number in range(40)]
    new = [each - 0.1 - number % 3 / 50 for number, each in enumerate(old)]
    before, now = (outcome("y" * 40, score_tone=each, avg_latency_ms=[100 * e for e in each]) for each in (old, new))
    found = compare_runs(before, now)
    assert found["verdict"] == "worse"
    words = {each["metric"]: (each["verdict"], each["confidence"]) for each in found["differences"]}
    assert words == {
        "pass_rate": ("cannot_tell", 0.975),
        "avg_latency_ms": ("better", 0.95),
        "score_tone": ("worse", 0.975),
    }
    assert compare_runs(before, now, ["avg_latency_ms"])["verdict"] == "better"
    few = compare_runs(outcome("y" * 19, score_tone=old[:19]), outcome("y" * 19, score_tone=new[:19]))
    assert few["verdict"] == "cannot_tell"


def answering(pytester: pytest.Pytester, wrong: str) -> None:
    """A provider that answers wrongly if an expression over `request` is true."""
    provider(pytester, "ours", f"lambda request: 'no' if {wrong} else 'yes'")


def test_compare_files(pytester: pytest.Pytester) -> None:
    """Reports and the output of `bundle run` are compared; worse is exit code 1."""
    bundle(pytester.path / "bundles" / "qa", [echo(number) for number in range(30)], "provider: {name: ours}\n")
    for name, wrong in (("a", "request.case == 'case-29'"), ("b", "int(request.case[5:]) < 12")):
        answering(pytester, wrong)
        run(pytester, f"--corpus-report={name}.json")
    assert bundle_flaw(json.loads(Path("b.json").read_text())["bundles"]) == ""
    ended = call_command("bundle", "diff", "a.json", "b.json")
    assert ended.code == 1
    assert "compared with ours: worse (30 cases of both)" in ended.out
    assert "pass_rate 0.966667 -> 0.6, difference -0.366667 [-0.4316, -0.1211], worse at 0.95" in ended.out
    assert "fixed: case-29" in ended.out
    assert call_command("bundle", "diff", "b.json", "a.json").code == 0
    assert "cannot tell" in call_command("bundle", "diff", "a.json", "a.json").out
    [found] = json.loads(call_command("bundle", "diff", "a.json", "b.json", "--format", "json").out)["compared"]
    assert (found["verdict"], len(found["newly_failing"])) == ("worse", 12)
    assert (
        "--metric score_x: not compared"
        in call_command("bundle", "diff", "a.json", "b.json", "--metric", "score_x").err
    )
    (pytester.path / "plug.py").write_text(
        "def pytest_corpus_bundle_providers():\n    return {'ours': lambda r: 'yes'}\n"
    )
    pytester.syspathinsert()
    Path("c.json").write_text(call_command("bundle", "run", "bundles/qa", "--plugin", "plug", "--format", "json").out)
    assert "compared with ours: better" in call_command("bundle", "diff", "b.json", "c.json").out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("[]", "is not a report with bundles"),
        ('{"bundles": []}', "have no bundle in common"),
        ('{"bundles": [{"name": 1}]}', "is not a sound report"),
    ],
)
def test_files_that_cannot_be_compared(tmp_path: Path, content: str | None, said: str) -> None:
    """A sentence and exit code 2."""
    path = tmp_path / "a.json"
    if content is not None:
        path.write_text(content)
    ended = call_command("bundle", "diff", path, path)
    assert (ended.code, said in ended.err) == (2, True)


def test_baseline(pytester: pytest.Pytester) -> None:
    """A committed baseline tells what is newly failing, fixed, added and gone.

    The folder in which pytest is started does not matter, and no path of the machine stands in the file.
    """
    path = mixed(pytester, HALF)
    run(pytester, "--corpus-bundle-baseline=base.json", "--corpus-bundle-update-baseline")
    assert list(json.loads((pytester.path / "base.json").read_text())["bundles"]) == ["bundles/qa/bundle.yaml | mock"]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pytester.path / "bundles")
        shown = text(run(pytester, "qa", "--corpus-bundle-baseline=../base.json"))
    assert "qa (mock): passed" in shown
    assert "added" not in shown
    script = path.parent / "script.jsonl"
    now = script.read_text().replace('"yes"', '"?"', 1).replace('"no"', '"yes"').replace('"?"', '"no"')
    script.write_text(now)
    shown = text(run(pytester, "--corpus-bundle-baseline=base.json"))
    assert "baseline, newly failing: case-0" in shown
    assert "baseline, fixed: case-1" in shown
    assert run(pytester, "--corpus-bundle-baseline=none.json").ret == 1


def test_a_part_of_a_run_is_no_baseline(pytester: pytest.Pytester) -> None:
    """After Ctrl-C, with -x, or of a selection a baseline is neither written nor compared: nothing is gone."""
    mixed(pytester, HALF)
    run(pytester, "--corpus-bundle-baseline=base.json", "--corpus-bundle-update-baseline")
    whole = (pytester.path / "base.json").read_text()
    pytester.makepyfile(stops=STOP)
    pytester.syspathinsert()
    for chosen in (["-p", "stops"], ["-x"], ["-k", "case-0"]):
        shown = text(run(pytester, "--corpus-bundle-baseline=base.json", *chosen))
        assert "only a part ran" in shown
        assert "gone" not in shown
        again = ("--corpus-bundle-baseline=base.json", "--corpus-bundle-update-baseline", *chosen)
        run(pytester, *again)
        assert (pytester.path / "base.json").read_text() == whole


def test_a_baseline_is_paired(pytester: pytest.Pytester) -> None:
    """The same comparison is made with a baseline; one of an older version compares passes."""
    bundle(pytester.path / "bundles" / "qa", [echo(number) for number in range(30)], "provider: {name: ours}\n")
    answering(pytester, "False")
    run(pytester, "--corpus-bundle-baseline=base.json", "--corpus-bundle-update-baseline")
    answering(pytester, "int(request.case[5:]) < 12")
    result = run(pytester, "--corpus-bundle-baseline=base.json", "--corpus-report=r.json")
    assert "compared with the baseline: worse (30 cases of both)" in text(result)
    assert "baseline, newly failing: case-0" in text(result)
    assert [each["metric"] for each in section(pytester)["compared"][0]["differences"]] == [
        "pass_rate",
        "avg_latency_ms",
    ]
    document = json.loads(Path("base.json").read_text())
    for each in document["bundles"].values():
        del each["numbers"]
    Path("base.json").write_text(json.dumps(document))
    run(pytester, "--corpus-bundle-baseline=base.json", "--corpus-report=r.json")
    assert [each["metric"] for each in section(pytester)["compared"][0]["differences"]] == ["pass_rate"]


@pytest.mark.parametrize("workers", ["0", "2"])
def test_variants(pytester: pytest.Pytester, workers: str) -> None:
    """Prompts times models run as one; each is compared with the first one, and asks with its own prompt and model."""
    cases = [echo(number) for number in range(12)]
    more = f"{MATRIX}parallel: true\n"
    bundle(pytester.path / "bundles" / "qa", cases, more, long_md="Long {{ q }}", system_md="Be brief.")
    answering(
        pytester, "(request.prompt.startswith('Long'), request.system, request.model) == (True, 'Be brief.', 'huge')"
    )
    result = run(
        pytester, "-n", workers, "--corpus-report=r.json", "--corpus-report=r.html", "-rf", apart=workers != "0"
    )
    result.assert_outcomes(passed=36, failed=12)
    assert "FAILED bundles/qa/bundle.yaml::case-0[long/large ours:huge]" in text(result)
    found = {each["variant"]: each for each in json.loads(Path("r.json").read_text())["bundles"]}
    assert list(found) == ["short/small", "short/large", "long/small", "long/large"]
    assert "compared" not in found["short/small"]
    [worse] = found["long/large"]["compared"]
    assert (worse["with"], worse["verdict"], worse["cases"]) == ("short/small ours:tiny", "worse", 12)
    assert found["short/large"]["compared"][0]["verdict"] == "cannot_tell"
    assert len(found["long/small"]["results"]) == 12


def test_a_named_variant(pytester: pytest.Pytester) -> None:
    """`compare_with` names the variant that the others are compared with; cassettes keep all of them."""
    more = MATRIX + "  compare_with: long/small\n"
    bundle(pytester.path / "bundles" / "qa", [echo(0)], more, long_md="Long {{ q }}", system_md="")
    answering(pytester, "False")
    for mode, calls in (("all", 4), ("all", 4), ("none", 0), ("once", 0)):
        result = run(pytester, f"--corpus-bundle-cassettes={mode}", "--corpus-report=r.json")
        assert f"used: {calls} call" in text(result)
        result.assert_outcomes(passed=4)
    found = {each["variant"]: each for each in json.loads(Path("r.json").read_text())["bundles"]}
    assert [name for name, each in found.items() if "compared" not in each] == ["long/small"]


def test_providers_side_by_side(pytester: pytest.Pytester) -> None:
    """Several providers of a bundle are compared with the first."""
    bundle(pytester.path / "bundles" / "qa", [echo(number) for number in range(8)], "")
    answering(pytester, "request.model == 'bad'")
    options = (f"--corpus-bundle-provider={name}" for name in ("ours", "ours:bad"))
    assert "compared with ours: worse (8 cases of both)" in text(run(pytester, *options))


@pytest.mark.parametrize("kind", ["pass_rate", "score_x", "avg_latency_ms"])
def test_false_alarms_in_simulation(kind: str) -> None:
    """At most 5 % of the comparisons of a model with itself say worse; `make bench` has it in full."""
    found = decisions.simulate_comparisons(kind, 0.0, bundles=100, size=40, seed=7)
    assert found.worse <= 0.05
    assert found.better <= 0.05
    assert decisions.simulate_comparisons(kind, 0.4, bundles=25, size=100, seed=7).worse > 0.8


def test_validate_reads_every_script(tmp_path: Path) -> None:
    """A mistake in the script of a variant is found without a run."""
    more = "provider: {name: mock}\nvariants: {models: {a: {script: s.jsonl}}}\n"
    bundle(tmp_path / "b", [echo(0)], more, s_jsonl='{"id": "x", "outputt": 1}\n')
    ended = call_command("bundle", "check", tmp_path / "b")
    assert (ended.code, "did you mean 'output'?" in ended.out) == (1, True)
