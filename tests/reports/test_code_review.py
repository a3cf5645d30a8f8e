"""Reports for a code review: SARIF for code scanning, and the comment on a pull request."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from ledgers import MUSTS, ledger, ledgers, violation
from test_formats import EXAMPLES, built
from test_hostile_text import STRINGS, tables
from test_hostile_text import built as hostile

from pytest_corpus.reports import difference, formats, sarif
from pytest_corpus.reports.markdown import comment
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.ledger import Ledger

SCHEMA = json.loads(Path(__file__).with_name("sarif.schema.json").read_text("utf-8"))


def log(document: dict[str, Any], *evidence: Finding) -> dict[str, Any]:
    """The SARIF log of a report, which its schema accepts."""
    found: dict[str, Any] = json.loads(formats.render(document, ".sarif", evidence=evidence))
    jsonschema.validate(found, SCHEMA)
    return found["runs"][0]  # type: ignore[no-any-return]


@settings(max_examples=15)
@given(ledgers())
def test_every_report_is_a_log(found: Ledger) -> None:
    """Each report is one that the schema accepts, with a result for each finding, of the rule that it names."""
    document = built(found)
    run = log(document)
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    open_ = [entry for entry in document["requirements"] if entry["status"] in ("violated", "deviated")]
    assert len(run["results"]) == sum(len(entry.get("findings") or [0]) for entry in open_)
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


@pytest.mark.parametrize("example", EXAMPLES)
def test_verdicts(example: str) -> None:
    """A log claims no more than the verdict; a declared deviation is suppressed."""
    run = log(EXAMPLES[example])
    assert run["properties"]["verdict"] == EXAMPLES[example]["verdict"]
    assert run["invocations"] == [{"executionSuccessful": example != "partial"}]
    suppressed = [result["suppressions"] for result in run["results"] if "suppressions" in result]
    assert bool(suppressed) == (example == "deviating")


def evidence(document: dict[str, Any], raised: str) -> Finding:
    """The evidence of the first finding of a report: an exception at a place."""
    (entry, *_) = [entry for entry in document["requirements"] if entry["status"] == "violated"]
    finding = {key: entry["findings"][0][key] for key in ("expected", "got", "path")}
    return Finding(entry["id"], component=entry["component"], test="t", raised=raised, raised_at=raised, **finding)


@pytest.mark.parametrize(("raised", "name", "place"), [
    ("ValueError at mine/adapter.py:12", "x:y", ("mine/adapter.py", 12)),
    ("ValueError at my adapter.py:12  (logged)", "x:y", ("my%20adapter.py", 12)),
    ("ValueError at /usr/lib/other.py:12", "mypkg.module:factory", ("mypkg/module.py", 1)),
    ("ValueError at ../other.py:12", "http://127.0.0.1:1/", ("pyproject.toml", 1)),
])  # fmt: skip
def test_places(raised: str, name: str, place: tuple[str, int]) -> None:
    """A result is at the line that raised, if that is in the project, or else at the file of the adapter."""
    document = json.loads(json.dumps(EXAMPLES["nonconformant"]))
    document["adapter"]["name"] = name
    where = log(document, evidence(document, raised))["results"][0]["locations"][0]["physicalLocation"]
    assert (where["artifactLocation"]["uri"], where["region"]["startLine"]) == place


def test_hostile_text_is_text() -> None:
    """No text of an adapter becomes a link or a placeholder of a message, or a line that Markdown reads."""
    plain = hostile("plain")
    harmless = comment.render(plain, difference.compare_reports(plain, plain))
    for text in STRINGS:
        document = hostile(text)
        for result in log(document)["results"]:
            said = re.sub(r"\\.|\{\{|\}\}", "", result["message"]["text"])
            assert not set("[]{}") & set(said), ascii(text)
            assert said.isprintable(), ascii(text)
        body = comment.render(document, difference.compare_reports(plain, document))
        assert len(body.splitlines()) == len(harmless.splitlines()), ascii(text)
        assert body.replace("\n", "").isprintable(), ascii(text)
        assert not [each for line in tables(body)[1:] for each in ("<", "](", "@") if each in line], ascii(text)


def test_the_comment() -> None:
    """It is marked, says the verdict, what is new, what is fixed, and whether that is a regression."""
    old, new = built(ledger(violation(MUSTS[0]))), built(ledger(violation(MUSTS[1])))
    body = comment.render(new, difference.compare_reports(old, new))
    mark, head, *_ = body.splitlines()
    assert re.fullmatch(r"<!-- pytest-corpus [0-9a-f]{12} -->", mark)
    assert head == "## ❌ Corpus Protocol: not conformant, 1 MUST violated"
    assert f"**1 requirement newly violated**\n\n- **{MUSTS[1].id}** (MUST, LLM): " in body
    assert f"**1 requirement fixed**\n\n- **{MUSTS[0].id}** (MUST, LLM): " in body
    assert body.splitlines()[-1].startswith("❌ Regression: 1 requirement newly violated")
    same = comment.render(new, difference.compare_reports(new, new))
    assert "Nothing changed since the base branch.\n\nNo regression.\n" in same
    assert same.splitlines()[0] == comment.render(old, None).splitlines()[0] == mark
    assert comment.render(old, None).endswith("\nThere is no report of the base branch to compare with.\n")


def test_a_long_comment_ends() -> None:
    """At most twenty requirements of a kind are listed."""
    many = [violation(each) for each in MUSTS[: comment.MOST + 5]]
    body = comment.render(document := built(ledger(*many)), difference.compare_reports(built(ledger()), document))
    assert body.count("\n- **") == comment.MOST
    assert "- and 5 more" in body


def test_the_levels_are_those_of_the_catalogue() -> None:
    """Each level of a requirement has one of SARIF."""
    assert set(sarif.LEVELS) == {"MUST", "SHOULD", "MAY"}
