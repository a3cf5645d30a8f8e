"""The JSON report: canonical, whole or not at all, without secrets, and true about commit and CI run."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledgers import ALL, MUSTS, RUN, ledger, ledgers, record, violation

from pytest_corpus.reports import json_report
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

CANARY = "canary-8f3kq7"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def built(found: Ledger) -> dict[str, Any]:
    return json_report.build_report(found, decide(found), RUN)


def test_findings_are_in_it() -> None:
    """A violated requirement has its findings, an open one its reason."""
    found = ledger(violation(MUSTS[3]), record(MUSTS[4], "not_assessed", reason="why", keyword="metrics"))
    entries = {entry["id"]: entry for entry in built(found)["requirements"]}
    assert entries[MUSTS[3].id]["findings"] == [{"expected": "this", "got": "that", "path": "result.x"}]
    assert (entries[MUSTS[4].id]["reason"], entries[MUSTS[4].id]["keyword"]) == ("why", "metrics")


@given(ledgers(), st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_always_a_json_text(found: Ledger, document: dict[str, Any]) -> None:
    """Whatever an adapter states, the report is JSON, and the same ledger gives the same text."""
    known = {"server": document, "version": None, "max_context_length": float("nan"), "supported_models": [document]}
    found.capabilities = {"llm": {**document, **known}}
    texts = [json.dumps(built(found), sort_keys=True, allow_nan=False) for _ in range(2)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("document", [
    {"description": CANARY},
    {"extensions": {"vendor:key": CANARY}},
    {"models": [{"name": "m", "api_key": CANARY}]},
    {"features": {"secret": CANARY}},
    {"limits": {"note": CANARY}},
    {CANARY: True},
    {"server": "x" * 100 + CANARY},
    {"supports_streaming": {"because": CANARY}},
    {"supported_models": [{"name": CANARY}]},
], ids=str)  # fmt: skip
def test_no_secret_of_capabilities(document: Any) -> None:
    """Of capabilities only the documented facts are repeated, and no long text."""
    found = ledger()
    found.capabilities = {"llm": document}
    assert CANARY not in json.dumps(built(found))


def test_facts_are_repeated() -> None:
    """The documented facts stand in the report as they were stated, flat and nested."""
    found = ledger()
    found.capabilities = {
        "llm": {"server": "s", "supports_tools": False, "limits": {"max_context_length": 64}, "cache": None}
    }
    facts = built(found)["capabilities"]["llm"]
    assert facts == {"server": "s", "supports_tools": False, "limits": {"max_context_length": 64}}


def test_written_canonically(tmp_path: Path) -> None:
    """Sorted keys, two spaces, a newline at the end, UTF-8."""
    path = tmp_path / "r.json"
    json_report.write_report({"b": "ä", "a": [1, {"d": 1, "c": 2}]}, path)
    expected = '{\n  "a": [\n    1,\n    {\n      "c": 2,\n      "d": 1\n    }\n  ],\n  "b": "ä"\n}\n'
    assert path.read_bytes() == expected.encode("utf-8")


@given(st.recursive(st.none() | st.floats(1e-9, 1e25) | st.integers() | st.text(), st.lists))
def test_one_canonical_text(value: Any) -> None:
    """A report is the text that `json` writes, whichever library wrote it."""
    document = {"b": value, "a": [value], "é": {"1e5": value}}
    assert json_report.render(document) == json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("fault", [{"a": {1}}, {"a": float("nan")}], ids=["no json", "nan"])
def test_written_whole_or_not_at_all(tmp_path: Path, fault: dict[str, Any]) -> None:
    """A report that cannot be written as JSON leaves the older one alone and nothing beside it."""
    path = tmp_path / "r.json"
    path.write_text("older")
    with pytest.raises((TypeError, ValueError)):
        json_report.write_report(fault, path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("r.json", "older")]


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the last step fails the older report stays, and no temporary file does."""
    path = tmp_path / "r.json"
    path.write_text("older")

    def refuse(source: str, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space left"):
        json_report.write_report({"a": 1}, path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("r.json", "older")]


def test_lone_surrogates_can_be_written(tmp_path: Path) -> None:
    """A text that UTF-8 cannot carry does not keep a report from being written."""
    path = tmp_path / "r.json"
    json_report.write_report({"server": "a\ud800b"}, path)
    assert json.loads(path.read_text("utf-8"))["server"] == "a\ud800b"


def test_editions_met() -> None:
    """The report says which editions every judged answer met."""
    found = ledger(
        record(MUSTS[1], editions=("1.1.0",)),
        *(record(entry, editions=("1.0.0", "1.1.0")) for entry in ALL if entry != MUSTS[1]),
    )
    assert built(found)["spec"]["schema_versions_met"] == ["1.1.0"]


@pytest.mark.parametrize("value", [
    10**5000, -(10**40), 2.5e300, [[[[1]]]], [10**30], ["x" * 500],
], ids=["5001 digits", "41 digits", "float", "deep", "list", "long"])  # fmt: skip
def test_values_without_measure(value: Any) -> None:
    """A number beyond the exact ones of JSON, a deep list or a long text becomes short and plain text."""
    found = ledger()
    found.capabilities = {"llm": {"server": "s", "max_context_length": value, "supported_models": value}}
    text = json_report.render(built(found))
    assert len(text) < len(json_report.render(built(ledger()))) + 1000
    assert json_report.render(json.loads(text)) == text


def test_an_adapters_text_is_printable() -> None:
    """A character that moves the cursor or turns the direction of reading stands as its escape."""
    found = ledger()
    found.capabilities = {"llm": {"server": "a\x1b[2J\u202e\n\x00"}}
    assert built(found)["adapter"]["server"] == "a\\x1b[2J\\u202e\\n\\x00"


def test_the_digest_is_of_the_rest() -> None:
    """`sha256` depends on every member but itself."""
    report = built(ledger())
    assert (
        report["sha256"] == json_report.compute_digest(report) == json_report.compute_digest({**report, "sha256": "x"})
    )
    assert all(
        json_report.compute_digest({**report, key: "other"}) != report["sha256"] for key in report if key != "sha256"
    )


SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("system", json_report.SYSTEMS, ids=lambda system: system.name)
def test_each_system(system: json_report.CISystem, tmp_path: Path) -> None:
    """Each CI system is known by its sign, and its run and commit by its variables."""
    environ = {system.sign: "true", system.run: "42", system.commit: SHA}
    for part in system.url.replace("}", "{").split("{")[1::2]:
        environ.setdefault(part, "https://ci.example/x" if part.endswith(("URL", "URI")) else "7")
    told = json_report.describe_ci_run(environ)
    assert told["name"] == system.name
    assert told["url"].startswith("https://ci.example/x")
    assert json_report.find_commit(environ, tmp_path) == SHA


def test_outside_of_ci(tmp_path: Path) -> None:
    """Without CI and without a repository the report names neither."""
    assert json_report.describe_ci_run({}) == {}
    assert json_report.find_commit({"GITHUB_SHA": SHA}, tmp_path) is None


@pytest.mark.parametrize(("url", "told"), [
    ("https://user:canary@ci.example/job/1?token=canary#canary", "https://ci.example/job/1"),
    ("javascript:alert(1)", None),
    ("https://ci.example/<script>", None),
    ("https://ci.example:8080/a", "https://ci.example:8080/a"),
    ("http://[::1]:80/a", "http://[::1]:80/a"),
    ("https://ci.example:canary/a", None),
    ("", None),
])  # fmt: skip
def test_addresses_hold_no_secret(url: str, told: str | None) -> None:
    """User, password, query and fragment are left out, and what is not a plain address is too."""
    assert json_report.describe_ci_run({"JENKINS_URL": "x", "BUILD_URL": url}).get("url") == told


@given(st.dictionaries(st.sampled_from(["JENKINS_URL", "BUILD_URL", "BUILD_ID", "GIT_COMMIT"]), st.text()))
def test_any_environment(environ: dict[str, str]) -> None:
    """No environment makes it fail or tell something that is not plain text."""
    told = json_report.describe_ci_run(environ)
    assert all(value.isprintable() for value in told.values())


def test_the_commit_of_a_repository(tmp_path: Path) -> None:
    """Without CI the commit is that of the folder's repository; without one that has a commit it is unknown."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    assert json_report.find_commit({}, tmp_path) is None
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json_report.find_commit({}, tmp_path) == said.stdout.strip()


def test_no_git_and_slow_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without git, and a git that does not answer, leave the commit unknown, and soon."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert json_report.find_commit({}, tmp_path) is None
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(json_report, "GIT_PATIENCE_S", 0.2)
    before = time.monotonic()
    assert json_report.find_commit({}, tmp_path) is None
    assert time.monotonic() - before < 20
