"""The commit and the CI run: what is told is true, and nothing of it is secret."""

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_corpus.reports import origin

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("system", origin.SYSTEMS, ids=lambda system: system.name)
def test_each_system(system: origin.System, tmp_path: Path) -> None:
    """Each CI system is known by its sign, and its run and commit by its variables."""
    environ = {system.sign: "true", system.run: "42", system.commit: SHA}
    for part in system.url.replace("}", "{").split("{")[1::2]:
        environ.setdefault(part, "https://ci.example/x" if part.endswith(("URL", "URI")) else "7")
    told = origin.ci(environ)
    assert told["name"] == system.name
    assert told["url"].startswith("https://ci.example/x")
    assert origin.commit(environ, tmp_path) == SHA


def test_outside_of_ci(tmp_path: Path) -> None:
    """Without CI and without a repository nothing is told."""
    assert origin.ci({}) == {}
    assert origin.commit({"GITHUB_SHA": SHA}, tmp_path) is None


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
    assert origin.ci({"JENKINS_URL": "x", "BUILD_URL": url}).get("url") == told


@given(st.dictionaries(st.sampled_from(["JENKINS_URL", "BUILD_URL", "BUILD_ID", "GIT_COMMIT"]), st.text()))
def test_any_environment(environ: dict[str, str]) -> None:
    """No environment makes it fail or tell something that is not plain text."""
    told = origin.ci(environ)
    assert all(value.isprintable() for value in told.values())


def test_the_commit_of_a_repository(tmp_path: Path) -> None:
    """Without CI the commit is that of the folder's repository; without one that has a commit it is unknown."""
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    assert origin.commit({}, tmp_path) is None
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], cwd=tmp_path, check=True)
    said = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert origin.commit({}, tmp_path) == said.stdout.strip()


def test_no_git_and_slow_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without git, and a git that does not answer, leave the commit unknown, and soon."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert origin.commit({}, tmp_path) is None
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setattr(origin, "GIT_PATIENCE_S", 0.2)
    before = time.monotonic()
    assert origin.commit({}, tmp_path) is None
    assert time.monotonic() - before < 20
