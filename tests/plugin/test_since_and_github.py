"""The remarks of a run: the changes since the last one, and annotations on GitHub Actions."""

from xml.etree import ElementTree

import pytest
from inner_runs import Project, said

SOURCE = """
import os

class Changing(Wrapped):
    async def handle(self, envelope):
        answer = await self.inner.handle(envelope)
        if op_of(envelope) == "llm.complete" and answer["ok"] and os.path.exists("broken"):
            answer["result"]["finish_reason"] = "because"
        if op_of(envelope) == "llm.capabilities" and answer["ok"]:
            answer["result"].pop("models", None)
        return answer
"""
ADAPTER, FEW = "--corpus-adapter=mine:Changing", "--corpus-requirement=LLM-COMPLETE-2,LLM-CAP-1"
CACHE = ("cacheprovider",)


@pytest.fixture
def changing(project: Project) -> Project:
    """A folder with an adapter that is broken where a file is there."""
    project.adapter(SOURCE)
    return project


def test_since_the_last_run(changing: Project) -> None:
    """Fixed and new violations are counted, even if a run between looked at something else."""
    assert "since the last run" not in said(changing.run(ADAPTER, FEW, plugins=CACHE))
    (changing.path / "broken").touch()
    assert "since the last run: 0 fixed, 1 (LLM-COMPLETE-2) new" in changing.run(ADAPTER, FEW, plugins=CACHE).outlines
    changing.run(ADAPTER, "--corpus-requirement=COM-CAP-1", plugins=CACHE)
    assert "since the last run" not in said(changing.run(ADAPTER, FEW, plugins=CACHE))
    (changing.path / "broken").unlink()
    more = (*CACHE, "xdist")
    assert (
        "since the last run: 1 (LLM-COMPLETE-2) fixed, 0 new"
        in changing.run(ADAPTER, FEW, "-n", "1", plugins=more).outlines
    )


def test_a_part_of_a_run_changes_nothing(changing: Project) -> None:
    """If nothing changed, nothing is fixed or new, whichever tests a run between chose."""
    (changing.path / "broken").touch()
    scope = "--corpus-requirement=LLM-COMPLETE-[123],LLM-STREAM-[12],COM-WIRE-*"
    some, others = ("-k", "ample"), ("-k", "not ample")
    for given in ((), some, (), ("-x",), ("-x",), (), others, some, ("--maxfail=2",), ()):
        assert "since the last run" not in said(changing.run(ADAPTER, scope, *given, plugins=CACHE))


def test_a_part_of_a_run_fixes_nothing_that_it_left_out(changing: Project) -> None:
    """A violation that another test found is not fixed before that test ran again."""
    (changing.path / "broken").touch()
    changing.run(ADAPTER, FEW, plugins=CACHE)
    (changing.path / "broken").unlink()
    assert "since the last run" not in said(changing.run(ADAPTER, FEW, "-k", "ample", plugins=CACHE))
    assert "since the last run: 1 (LLM-COMPLETE-2) fixed, 0 new" in changing.run(ADAPTER, FEW, plugins=CACHE).outlines


def test_without_a_cache(changing: Project) -> None:
    """If pytest has no cache nothing is compared, and nothing kept."""
    changing.run(ADAPTER, FEW)
    (changing.path / "broken").touch()
    assert "since the last run" not in said(changing.run(ADAPTER, FEW))
    assert not (changing.path / ".pytest_cache").exists()


@pytest.mark.parametrize("garbage", ["[1]", '{"abc": 7}', "no json"])
def test_a_strange_cache(changing: Project, garbage: str) -> None:
    """Foreign data in the cache is ignored."""
    kept = changing.path / ".pytest_cache" / "v" / "corpus" / "tests"
    kept.mkdir(parents=True)
    (kept / "mine_Changing").write_text(garbage)
    assert changing.run(ADAPTER, FEW, plugins=CACHE).ret == 0


def test_on_github(changing: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A violation is an error, a SHOULD a warning; the report is the step's summary; no content in either."""
    (changing.path / "broken").touch()
    summary = changing.path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    result = changing.run(ADAPTER, FEW)
    (error,) = [line for line in result.outlines if line.startswith("::error")]
    (warning,) = [line for line in result.outlines if line.startswith("::warning")]
    source = (changing.path / "mine.py").read_text().splitlines()
    place = f"file=mine.py,line={source.index('class Changing(Wrapped):') + 1},title="
    assert error.startswith(f"::error {place}LLM-COMPLETE-2 (MUST)%2C llm::3 of 3 tests: LLM-COMPLETE-2 (MUST): ")
    assert warning.startswith(f"::warning {place}LLM-CAP-1 (SHOULD)%2C llm::")
    text = summary.read_text("utf-8")
    assert text.startswith("before\n## ")
    assert "**LLM-COMPLETE-2** (MUST, LLM)" in text
    assert "because" not in text
    assert [line for line in text.splitlines() if line.startswith("### ")] == [
        "### 1 MUST violated", "### 1 SHOULD violated"
    ]  # fmt: skip
    assert any(line.startswith("  no verdict: ") for line in result.outlines[-5:])


def test_elsewhere(changing: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is annotated or summarized anywhere else."""
    (changing.path / "broken").touch()
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(changing.path / "summary.md"))
    assert "::error" not in said(changing.run(ADAPTER, FEW))
    assert not (changing.path / "summary.md").exists()


def test_messages_of_junit_are_lines(changing: Project) -> None:
    """The message of a failure, and of what is skipped, is one line; the whole finding is the text."""
    (changing.path / "broken").touch()
    changing.run(ADAPTER, FEW, "--corpus-report=r.junit.xml")
    root = ElementTree.parse(changing.path / "r.junit.xml").getroot()
    messages = [str(each.get("message")) for each in root.iter() if each.tag in ("failure", "skipped")]
    assert len(messages) == 4
    assert not [message for message in messages if "\n" in message]
    assert all("; got " in message for message in messages)
    (text, *_) = [str(each.text) for each in root.iter("failure")]
    assert "  hint:" in text
    assert "because" not in text
