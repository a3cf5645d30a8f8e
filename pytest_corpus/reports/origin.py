"""The origin of a run: the commit and the CI run (BEHAVIORAL_CONFORMANCE 12). Nothing secret.

Facts that cannot be found quickly and reliably are left out.
"""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

GIT_PATIENCE_S = 2.0  # the time limit of git, in seconds
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_PLAIN = re.compile(r"[A-Za-z0-9_.#:/+-]{1,80}")


class System(NamedTuple):
    """A CI system: the variable that it sets, a template of the run's address, the variables of its run and commit."""

    name: str
    sign: str
    url: str
    run: str
    commit: str


GITHUB_RUN = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"
AZURE_RUN = "{SYSTEM_TEAMFOUNDATIONCOLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results/{BUILD_BUILDID}"


SYSTEMS = (
    System("GitHub Actions", "GITHUB_ACTIONS", GITHUB_RUN, "GITHUB_RUN_ID", "GITHUB_SHA"),
    System("GitLab CI", "GITLAB_CI", "{CI_JOB_URL}", "CI_JOB_ID", "CI_COMMIT_SHA"),
    System("CircleCI", "CIRCLECI", "{CIRCLE_BUILD_URL}", "CIRCLE_BUILD_NUM", "CIRCLE_SHA1"),
    System("Buildkite", "BUILDKITE", "{BUILDKITE_BUILD_URL}", "BUILDKITE_BUILD_NUMBER", "BUILDKITE_COMMIT"),
    System("Azure Pipelines", "TF_BUILD", AZURE_RUN, "BUILD_BUILDID", "BUILD_SOURCEVERSION"),
    System("Travis CI", "TRAVIS", "{TRAVIS_BUILD_WEB_URL}", "TRAVIS_BUILD_ID", "TRAVIS_COMMIT"),
    System("Jenkins", "JENKINS_URL", "{BUILD_URL}", "BUILD_ID", "GIT_COMMIT"),
)
"""The CI systems that are known, by the variables that they document."""


def ci(environ: Mapping[str, str]) -> dict[str, str]:
    """`name`, `id` and `url` of the CI run, as far as they are known; empty outside of CI."""
    system = _system(environ)
    if system is None:
        return {}
    origin = {"name": system.name}
    if _PLAIN.fullmatch(run := environ.get(system.run, "")):
        origin["id"] = run
    try:
        url = _public(system.url.format_map(environ))
    except (KeyError, ValueError):
        url = ""
    return {**origin, "url": url} if url else origin


def commit(environ: Mapping[str, str], folder: Path) -> str | None:
    """The commit under test, as 40 or 64 hexadecimal digits: what CI says, else what git says of a folder."""
    system = _system(environ)
    origin = environ.get(system.commit, "").lower() if system else ""
    return origin if _COMMIT.fullmatch(origin) else _of_git(folder)


def _system(environ: Mapping[str, str]) -> System | None:
    return next((system for system in SYSTEMS if environ.get(system.sign)), None)


def _of_git(folder: Path) -> str | None:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", "HEAD"],  # noqa: S607
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    found = done.stdout.decode("ascii", "replace").strip()
    return found if done.returncode == 0 and _COMMIT.fullmatch(found) else None


def _public(address: str) -> str:
    """An address without user, password, query and fragment, which may be secret; empty if it is not one."""
    parts = urlsplit(address)
    plain = all(char.isprintable() and char not in ' "<>\\^`{|}' for char in address) and address.isascii()
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = host + (f":{parts.port}" if parts.port else "")
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))[:300]
