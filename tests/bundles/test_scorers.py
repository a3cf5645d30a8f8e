"""Scorers that ask: similarity by embeddings, and a judge with a rubric; prices."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import call_command
from samples import bundle, echo, run, section, text

from pytest_corpus.bundles.contract import _parse_grade
from pytest_corpus.bundles.errors import BundleError
from pytest_corpus.bundles.loading.bundle_file import load_bundle
from pytest_corpus.reports.reading import bundle_flaw

pytestmark = pytest.mark.usefixtures("plain_environment")

REFERENCE = "pytest_corpus.reference:all"
CONFTEST = """
from pytest_corpus import Answer


def pytest_corpus_bundle_providers(config):
    def ours(request):
        open("asked", "a").write("a")
        return Answer({ours}, prompt_tokens=100, completion_tokens=10)

    def judge(request):
        open("asked", "a").write("j")
        assert "<rubric>\\nBe kind.\\n</rubric>" in request.prompt and "<answer>" in request.prompt
        return Answer({judge}, prompt_tokens=1000, completion_tokens=50)

    return {{"ours": ours, "judge": judge}}
"""


def rubric(more: str = "") -> str:
    return (
        "provider: {name: ours, model: m}\n"
        "output_contract: {expected_match: ignore, scorers: [{name: kind, minimum: 0.5, "
        f"rubric: {{path: rubric.md, samples: 3, provider: {{name: judge, model: big}}}}}}]}}\n{more}"
    )


def judged(pytester: pytest.Pytester, ours: str, judge: str, more: str = "", cases: int = 2) -> None:
    bundle(pytester.path / "bundles" / "qa", [echo(n) for n in range(cases)], rubric(more), rubric_md="Be kind.\n")
    pytester.makeconftest(CONFTEST.format(ours=ours, judge=judge))


VARIES = '\'Sure: {"score": %s, "reason": "sample %d"}\' % ([1, 0.8, 0][request.sample], request.sample)'
PRICES = "prices: {currency: EUR, models: {m: {prompt: 1, completion: 10}, big: {prompt: 2, completion: 20}}}\n"


def test_a_rubric(pytester: pytest.Pytester) -> None:
    """The score is the mean of the samples; agreement, use and cost are reported, and the judge's calls are apart."""
    judged(pytester, "'hello'", VARIES, PRICES)
    result = run(pytester, "--corpus-report=r.json", "--corpus-report=r.html", "--corpus-evidence=full")
    found = section(pytester)
    assert bundle_flaw([found]) == ""
    metrics = found["metrics"]
    assert (metrics["score_kind"], metrics["agreement_kind"]) == (0.6, pytest.approx(1 / 3, abs=1e-6))
    assert metrics["cost"] == pytest.approx(2 * 200 / 1e6)
    assert found["judging"] == {"calls": 6, "tokens": 6300, "cost": pytest.approx(6 * 3000 / 1e6)}
    assert (found["calls"], found["verdict"]) == (2, "passed")
    assert "scorers asked: 6 calls, 6300 tokens, cost 0.018 EUR" in text(result)
    assert "used: 8 calls, 6,520 tokens" in text(result)
    assert "kind 0.8: sample 1" in (pytester.path / "r.html").read_text()
    assert "sample 1" not in (pytester.path / "r.json").read_text()


def test_a_rubric_that_is_missed(pytester: pytest.Pytester) -> None:
    """The case fails, and its reasons are shown where content may be."""
    judged(pytester, "'hello'", '\'{"score": 0.25, "reason": "rude"}\'')
    result = run(pytester)
    assert "the scorer kind gives 0.25, below 0.5" in text(result)
    assert "kind 0.25: rude" in text(result)
    assert "rude" not in text(run(pytester, "--corpus-evidence=shape"))


@pytest.mark.parametrize(
    ("judge", "options", "said"),
    [
        ("'I like it'", (), "the scorer kind: the provider answers BadRequest"),
        ("1 / 0", (), "the scorer kind: the provider answers BadRequest"),
        (VARIES, ("--corpus-budget=calls=3",), "the scorer kind: the budget of 3 calls is used up"),
    ],
)
def test_a_judge_without_an_answer(pytester: pytest.Pytester, judge: str, options: tuple[str, ...], said: str) -> None:
    """The case has an error: nothing is known of the answer."""
    judged(pytester, "'hello'", judge, cases=1)
    result = run(pytester, *options, "--corpus-report=r.json")
    assert said in text(result)
    assert section(pytester)["cases"]["error"] == 1


@pytest.mark.parametrize("options", [("--corpus-bundle-cassettes=new",), ("--corpus-bundle-resume=kept",)])
def test_judgements_are_kept(pytester: pytest.Pytester, options: tuple[str, ...]) -> None:
    """Cassettes and resumed runs have the answers of judges too: nothing is asked twice."""
    judged(pytester, "'hello'", VARIES)
    found = []
    for _ in range(2):
        run(pytester, *options, "--corpus-report=r.json").assert_outcomes(passed=2)
        assert sorted((pytester.path / "asked").read_text()) == ["a"] * 2 + ["j"] * 6
        found.append(section(pytester)["metrics"]["score_kind"])
    assert found == [0.6, 0.6]


def similar(folder: Path, minimum: float, answer: str, more: str = "", given: str = "{model: reference-small}") -> None:
    scorer = f"{{name: close, minimum: {minimum}, similarity: {given}}}"
    script = json.dumps({"id": "case-0", "output": answer}) + "\n" + json.dumps({"id": "free", "output": "x"}) + "\n"
    bundle(
        folder,
        [echo(0, "the cat sat on the mat"), {"id": "free", "input": {"q": 1}}],
        "provider: {name: mock, script: s.jsonl}\n"
        f"output_contract: {{expected_match: ignore, scorers: [{scorer}]}}\n{more}",
        s_jsonl=script,
    )


def test_similarity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cosine of the embeddings; a case without an expectation has no score."""
    monkeypatch.chdir(tmp_path)
    for answer, code in (("the cat sat on the mat", 0), ("prices fell again", 1), ("", 1)):
        similar(tmp_path / "b", 0.99, answer)
        ended = call_command(
            "bundle", "run", "b", "--adapter", f"ref={REFERENCE}", "--format", "json", "--evidence", "full"
        )
        document: dict[str, Any] = json.loads(ended.out)
        [found] = document["bundles"]
        assert ended.code == code
        scores = [sample.get("scores") for case in found["results"] for sample in case["samples"]]
        assert (scores[0]["close"] == 1.0, scores[1]) == (not code, None)
        assert found["judging"]["calls"] == (2 if answer else 0)
        shown = document["contents"][0]
        assert (shown["output"], shown["expected"]) == (answer, "the cat sat on the mat")
    assert "contents" not in call_command("bundle", "run", "b", "--adapter", REFERENCE, "--format", "json").out


def test_similarity_in_pytest(pytester: pytest.Pytester) -> None:
    """The adapter under test embeds; its label may be named; without one the bundle says what is missing."""
    similar(
        pytester.path / "bundles" / "qa", 0.99, "the cat sat on the mat", given="{model: reference-small, adapter: ref}"
    )
    adapter = f"--corpus-adapter=ref={REFERENCE}"
    result = run(pytester, adapter, "-m", "bundle", "--corpus-bundle-provider=mock", "--corpus-report=r.json")
    assert section(pytester)["metrics"]["score_close"] == 1.0, text(result)
    said = text(run(pytester))
    assert "the scorer 'close' asks an adapter with the component embedding; declare one" in said


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ('{"score": 1}', (1.0, "")),
        ('```json\n{"reason": "ok", "score": 0.5}\n```', (0.5, "ok")),
        ('{"score": 2}', None),
        ('{"score": true}', None),
        ('{"score": "1"}', None),
        ("0.5", None),
        ("", None),
    ],
)
def test_replies_of_judges(reply: str, grade: tuple[float, str] | None) -> None:
    """A number from 0 to 1 in an object, with or without text around it."""
    assert _parse_grade(reply) == grade


def test_a_cost_needs_prices(tmp_path: Path) -> None:
    """A threshold on cost without a price table is a mistake; with one it is a sum."""
    gate = "thresholds: [{metric: cost, operator: '<=', value: 1}]\n"
    with pytest.raises(BundleError, match="the metric 'cost' is not known"):
        load_bundle(bundle(tmp_path / "a", [echo(0)], gate))
    found = load_bundle(bundle(tmp_path / "b", [echo(0)], gate + PRICES))
    assert found.cost(("none", "m"), 1_000_000, 100_000) == 2.0
    assert found.cost(("none",), 1, 1) is found.cost(("m",), None, 1) is None
