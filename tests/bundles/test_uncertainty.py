"""Gates that know chance: intervals, undecided thresholds, runs that stop as soon as they are decided."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from samples import bundle, echo
from test_in_pytest import provider, run, section, text
from test_running import asked

from pytest_corpus.bundles import metrics
from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.bundles.metrics import Threshold, are_decided, judge_threshold
from pytest_corpus.bundles.results import CaseResult

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import decisions

pytestmark = pytest.mark.usefixtures("plain_environment")


def passing(passed: int, total: int) -> list[CaseResult]:
    return [CaseResult(str(number), "passed" if number < passed else "failed") for number in range(total)]


def gate(value: float = 0.9, more: str = "") -> str:
    return f"thresholds: [{{metric: pass_rate, operator: '>=', value: {value}, confidence: 0.95{more}}}]\n"


def test_wilson() -> None:
    """18 of 20: the interval that books give; a rate of 1 has an interval too."""
    assert metrics.rate_interval([[1.0]] * 18 + [[0.0]] * 2, 0.95) == pytest.approx((0.6990, 0.9721), abs=1e-4)
    assert metrics.rate_interval([[1.0]] * 10, 0.95) == pytest.approx((0.7225, 1.0), abs=1e-4)


def test_samples_of_a_case_are_not_new_cases() -> None:
    """A case that is asked ten times with one outcome counts once; independent samples count each."""
    once, often = [[1.0]] * 15 + [[0.0]] * 5, [[1.0] * 10] * 15 + [[0.0] * 10] * 5
    assert metrics.rate_interval(often, 0.95) == pytest.approx(metrics.rate_interval(once, 0.95))
    low, high = metrics.rate_interval([[1.0, 1.0, 1.0, 0.0]] * 20, 0.95)
    assert high - low < 0.2
    assert metrics.mean_interval(often, 0.95) == pytest.approx(metrics.mean_interval(once, 0.95))


def test_means() -> None:
    """Student's interval; equal numbers have no width, and a single one has no interval."""
    assert metrics.mean_interval([[1.0], [2.0], [3.0]], 0.95) == pytest.approx((-0.4841, 4.4841), abs=1e-4)
    assert metrics.mean_interval([[2.0]] * 3, 0.95) == (2.0, 2.0)
    assert metrics.mean_interval([[2.0]], 0.95) is None


@pytest.mark.parametrize(
    ("passed", "on_undecided", "holds", "undecided"),
    [(100, "warn", True, False), (70, "warn", False, False), (92, "warn", True, True), (92, "fail", False, True)],
)
def test_a_gate_fails_only_if_its_interval_does(passed: int, on_undecided: str, holds: bool, undecided: bool) -> None:
    """All of the interval on one side decides; between, `on_undecided` does."""
    found = judge_threshold(Threshold("pass_rate", ">=", 0.9, 0.95, on_undecided), passing(passed, 100), 100)
    assert (found.holds, found.undecided) == (holds, undecided)
    assert "at 0.95 confidence" in str(found)


def test_without_scipy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A confidence says what to install; a bundle without one needs no scipy."""
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert load_bundle(bundle(tmp_path / "a", [echo(0)])).thresholds == ()
    with pytest.raises(BundleError, match=r"scipy is needed and not installed; pip install 'pytest-corpus\[bundles\]'"):
        load_bundle(bundle(tmp_path / "b", [echo(0)], gate()))


@pytest.mark.parametrize(("more", "code"), [("", 0), (", on_undecided: fail", 1)])
def test_an_undecided_gate_in_a_run(pytester: pytest.Pytester, more: str, code: int) -> None:
    """It warns, or fails if it is to; each report shows the interval."""
    bundle(
        pytester.path / "bundles" / "qa", [echo(n) for n in range(10)], f"provider: {{name: mock}}\n{gate(more=more)}"
    )
    result = run(
        pytester, "--corpus-report=r.json", "--corpus-report=r.html", "--corpus-report=r.md", "--junitxml=j.xml"
    )
    assert result.ret == code
    assert "UNDECIDED  pass_rate>=0.9  (1 [0.7225, 1])" in text(result)
    [entry] = section(pytester)["thresholds"]
    assert (entry["holds"], entry["undecided"], entry["interval"]) == (not code, True, [0.722467, 1.0])
    assert section(pytester)["intervals"]["pass_rate"] == [0.722467, 1.0]
    for name in ("r.html", "r.md"):
        assert "1 (0.7225 to 1), is undecided" in (pytester.path / name).read_text().replace("&gt;", ">")
    assert "pass_rate is 1, 0.722467 to 1 at 0.95 confidence" in (pytester.path / "j.xml").read_text()


def test_a_decided_bundle_stops(pytester: pytest.Pytester) -> None:
    """Cases that are not needed are skipped and their number is reported; the rest of the verdict is as ever."""
    provider(pytester, "fn", "lambda request: (open('calls', 'a').write('.'), 'yes')[1]")
    cases = [echo(number) for number in range(100)]
    bundle(pytester.path / "bundles" / "qa", cases, f"provider: {{name: fn}}\nstop: decided\n{gate(0.5)}")
    result = run(pytester, "--corpus-report=r.json")
    calls = len((pytester.path / "calls").read_text())
    assert calls < 15
    found = section(pytester)
    assert found["saved"] == {"answers": 100 - calls, "of": 100}
    assert (found["verdict"], found["cases"]["not_asked"], found["cases"]["error"]) == ("passed", 100 - calls, 0)
    assert f"saved {100 - calls} of 100 answers" in text(result)


def test_a_red_bundle_stops(pytester: pytest.Pytester) -> None:
    """The first threshold that fails for certain ends the run."""
    bundle(
        pytester.path / "bundles" / "qa",
        [echo(number, "yes") for number in range(60)],
        f"provider: {{name: fn}}\nstop: decided\n{gate()}",
    )
    provider(pytester, "fn", "lambda request: 'no'")
    result = run(pytester, "--corpus-report=r.json")
    assert result.ret == 1
    assert section(pytester)["cases"]["not_asked"] > 50


def test_samples_stop_without_changing_a_case(tmp_path: Path) -> None:
    """A case with `at_most` samples has the status that asking all of them would give, with fewer calls."""
    cases = [echo(number) for number in range(60)]
    rolls = {case["id"]: random.Random(case["id"]).choices(["yes", "no"], k=20) for case in cases}
    plans = [f"samples: {plan}\nmin_passing: 10\n" for plan in ("{at_least: 3, at_most: 20}", "20")]
    found = [load_bundle(bundle(tmp_path / str(number), cases, plan)) for number, plan in enumerate(plans)]
    early, whole = (asked(each, lambda request: rolls[request.case][request.sample]) for each in found)
    assert [each.status for each in early] == [each.status for each in whole]
    assert min(len(each.samples) for each in early) >= 3
    assert sum(each.calls for each in early) < 0.97 * sum(each.calls for each in whole)
    assert [sample.extra for sample in early[0].samples[:4]] == [False, False, False, True]


@pytest.mark.parametrize("rate", decisions.RATES)
@pytest.mark.parametrize("plan", [decisions.simulate_fixed, decisions.simulate_sequential])
def test_errors_in_simulation(plan: Any, rate: float) -> None:
    """At most 5 % of 300 simulated bundles are red or green by chance; `make bench` has it in full."""
    found = plan(rate, 300, 120, seed=7)
    assert max(found.false_red, found.false_green) <= 0.05


def test_calls_saved_in_simulation() -> None:
    """The mean over the ten true rates."""
    saved = [decisions.simulate_sequential(rate, 300, 200, seed=7).saved for rate in decisions.RATES]
    assert sum(saved) / len(saved) >= 0.4


def test_the_simulation_decides_as_bundles_do() -> None:
    """The evidence of the simulation and the interval of a threshold decide alike."""
    threshold = Threshold("pass_rate", ">=", decisions.GATE, decisions.CONFIDENCE, sequential=True)
    for passed, total in ((10, 10), (30, 30), (60, 60), (5, 10), (20, 26), (85, 100), (890, 1000), (190, 200)):
        enough = metrics.log_evidence(passed, total, decisions.GATE) >= 2.9957
        assert are_decided([threshold], passing(passed, total)) == enough, json.dumps([passed, total])
