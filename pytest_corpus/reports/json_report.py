"""The canonical JSON report (`schemas/report/`), without secrets. It also names the commit and the CI run."""

import hashlib
import json
import math
import platform
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from pytest_corpus.adapter.hooks.vendors.recording import notes_on_old_recordings
from pytest_corpus.adapter.usage import Budget
from pytest_corpus.reports.text import printable
from pytest_corpus.spec.capabilities import FACTS, SECTIONS
from pytest_corpus.spec.requirements import CATALOGUE_VERSION
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.verdict.ledger import WORSE, Ledger, TestRecord, describe_left_data, describe_unseen_writes
from pytest_corpus.verdict.shards import Shard
from pytest_corpus.verdict.verdict import STATUSES, ComponentVerdict, Status, Verdict, decide, hint_of

FORMAT = "1.0"  # the version of the report's own shape
SHORT = 80  # no text that an adapter states in its capabilities is longer in a report
INTERNAL_REPORT_DIR = "CORPUS_INTERNAL_REPORT_DIR"
"""The environment variable with a folder whose reports are internal, so that a run does not mention them."""

EXACT = 2**53  # the largest integer that every reader of JSON keeps exactly (RFC 8259, 6)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """The facts of a run for its report.

    Attributes:
        started_at, duration_s: the start, in ISO 8601 (UTC), and the seconds.
        edition: the schema version that the run was limited to; None for all.
        commit, ci: the tested commit and the CI run (`find_commit`, `describe_ci_run`).
        notes: remarks for the reader of the report.
        command: the command that repeats the run.
        bundles: the sections of behaviour bundles.
        shard: the part of the suite that was run; None for all of it.
        transcript: the SHA-256 of the run's transcript.
    """

    started_at: str
    duration_s: float
    seed: int
    level: str
    edition: str | None
    commit: str | None = None
    ci: Mapping[str, str] = field(default_factory=dict)
    profile: str = ""
    notes: tuple[str, ...] = ()
    command: str = ""
    bundles: tuple[Mapping[str, Any], ...] = ()
    budget: Budget = Budget()  # noqa: RUF009 - it is frozen
    shard: Shard | None = None
    transcript: str = ""


def build_report(ledger: Ledger, verdict: Verdict, run: RunFacts) -> dict[str, Any]:
    """Return the report as a JSON value, with its `sha256`, as `schemas/report/` describes it."""
    optional: dict[str, Any] = {
        "commit": run.commit,
        "ci": dict(run.ci),
        "profile": run.profile,
        "notes": [
            *run.notes,
            *describe_unseen_writes(ledger),
            *describe_left_data(ledger),
            *notes_on_old_recordings(ledger.recorded, run.started_at),
        ],
        "runs": sorted(ledger.runs),
        "command": run.command,
        "budget": run.budget.limits,
        "shard": run.shard and asdict(run.shard),
        "transcript": {"sha256": run.transcript} if run.transcript else None,
        "bundles": [dict(each) for each in run.bundles],
        "provider_lacks": sorted(ledger.lacking),
        "provider": sorted(ledger.recorded),
        "settle_s": {name: round(ledger.settle[name], 3) for name in sorted(ledger.settle)},
    }
    first: dict[str, Any] = next(iter(ledger.capabilities.values()), {})
    identity = {key: _to_plain(first.get(key)) for key in ("server", "version") if first.get(key) is not None}
    judged = [record.editions for record in ledger.records.values() if record.outcome in ("satisfied", "violated")]
    document = {
        **{key: value for key, value in optional.items() if value},
        "format": FORMAT,
        "verdict": verdict.verdict,
        "complete": verdict.complete,
        "gaps": list(verdict.gaps),
        "adapter": {"name": ledger.adapter, **identity},
        "spec": {
            "protocol": "Corpus Protocol 1.0",
            "catalogue": CATALOGUE_VERSION,
            "edition": verdict.edition.document(),
            "pinned_schema_version": run.edition,
            "schema_versions_met": [
                edition for edition in SCHEMA_VERSIONS if judged and all(edition in met for met in judged)
            ],
        },
        "components": {part.component: _component_entry(part, ledger) for part in verdict.components},
        "capabilities": {
            name: documented_facts(name, document) for name, document in sorted(ledger.capabilities.items())
        },
        "environment": software_versions(),
        "level": run.level,
        "seed": run.seed,
        "started_at": run.started_at,
        "duration_s": round(run.duration_s, 3),
    }
    return add_digest({**_escape_texts(document), "requirements": requirement_entries(verdict)})


def requirement_entries(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the requirements as they appear in a report."""
    return [_escape_texts(_requirement_entry(status)) for part in verdict.components for status in part.statuses]


def build_bundle_report(run: RunFacts) -> dict[str, Any]:
    """Return the report of a run with behaviour bundles only, which has no verdict."""
    ledger = Ledger("no adapter")
    ledger.mark_partial("only behaviour bundles ran")
    return build_report(ledger, decide(ledger), run)


def render(document: Mapping[str, Any]) -> str:
    """Return the canonical text: sorted keys, an indentation of two spaces, a newline at the end.

    Raises:
        TypeError, ValueError: the document is not a JSON value.
    """
    import orjson  # light commands do without it

    with suppress(TypeError):
        data = _dump(document)
        if orjson.loads(data) == document and not _has_other_float(data):
            return data.decode()
    return json.dumps(document, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def parse_canonical(data: bytes) -> Any:
    """Return the value of a canonical text; None if it is not canonical or the fast check cannot decide."""
    import orjson

    with suppress(ValueError):
        value = orjson.loads(data)
        return value if is_canonical(value, data) else None
    return None


def is_canonical(value: Any, data: bytes) -> bool:
    """True if a text is the canonical text of its value; False also if the fast check cannot decide."""
    with suppress(TypeError):
        return _dump(value) == data and not _has_other_float(data)
    return False


def _dump(value: Any) -> bytes:
    import orjson

    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


@lru_cache(maxsize=1)  # called when a report is read and again when it is verified
def _has_other_float(data: bytes) -> bool:
    """True if a line ends with a number that `orjson` and `json` write differently."""
    return any(each.search(data) for each in _OTHER_FLOATS)


_OTHER_FLOATS = (re.compile(rb"e[-+]?\d+,?\n"), re.compile(rb"0\.0000\d*,?\n"))


def compute_digest(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a document's canonical text, in UTF-8, without the member `sha256`.

    To compute it from the file, leave out the line `sha256`: ``grep -v '^  "sha256": ' report.json | sha256sum``.
    """
    bare = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(render(bare).encode("utf-8", "backslashreplace")).hexdigest()


def digest_of_text(data: bytes) -> str:
    """Return the SHA-256 of a canonical text without its line `sha256`."""
    return hashlib.sha256(re.sub(rb'\n  "sha256": .*', b"", data, count=1)).hexdigest()


def add_digest(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document with the `sha256` of its content."""
    return {**document, "sha256": compute_digest(document)}


def write_report(report: Mapping[str, Any], path: Path) -> None:
    """Write a report in canonical form, atomically. Raises OSError if the file cannot be written."""
    write_atomically(render(report), path)


def _escape_texts(value: Any) -> Any:
    """Return a JSON value in which control characters of all texts are escaped."""
    if isinstance(value, str):
        return value if value.isprintable() else printable(value)
    if isinstance(value, dict):
        return {printable(key): _escape_texts(item) for key, item in value.items()}
    return [_escape_texts(item) for item in value] if isinstance(value, list) else value


def software_versions() -> dict[str, str]:
    """Return the versions of the software that can influence a verdict."""
    return {
        "python": platform.python_version(),
        "platform": platform.system().lower(),
        **{name: _version(name) for name in ("pytest-corpus", "pytest", "jsonschema-rs")},
    }


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _component_entry(part: ComponentVerdict, ledger: Ledger) -> dict[str, Any]:
    took: dict[str, dict[str, int]] = {}
    for name, number in ledger.took.items():
        component, op, ms = re.split("[. ]", name)
        if component == part.component:
            took.setdefault(op, {})[ms] = number
    used = {"calls": ledger.calls[part.component], "tokens": ledger.tokens[part.component], "took_ms": took}
    return {
        **{key: found for key, found in used.items() if found},
        "verdict": part.verdict,
        "totals": {
            level.lower(): {status: part.totals(level)[status] for status in STATUSES} for level in ("MUST", "SHOULD")
        },
    }


def _requirement_entry(status: Status) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "id": status.requirement.id,
        "component": status.component,
        "level": status.requirement.level,
        "status": status.status,
        "text": status.requirement.text,
        "source": list(status.requirement.source),
        "tests": [_test_entry(status.repetitions(name)) for name in sorted({record.test for record in status.tests})],
    }
    if status.findings:
        entry["findings"] = sorted(
            ({"expected": finding.expected, "got": finding.got, "path": finding.path} for finding in status.findings),
            key=json.dumps,
        )[:5]
        if hint := hint_of(status.requirement, (each["got"] for each in entry["findings"])):
            entry["hint"] = hint
    if status.deviation:
        entry["deviation"] = {key: printable(text) for key, text in status.deviation.document().items()}
    passed, runs = status.runs
    if runs:
        entry["repeats"] = {"runs": runs, "passed": passed}
    open_for = {"reason": status.reason, "keyword": status.keyword, "blocked_by": list(status.blocked_by)}
    return entry | {key: value for key, value in open_for.items() if value}


def _test_entry(records: list[TestRecord]) -> dict[str, Any]:
    """Return the report's entry for one test, with the worst outcome of its repetitions."""
    worst = max(records, key=lambda record: WORSE.index(record.outcome))
    passed = sum(record.outcome == "satisfied" for record in records)
    optional = {
        "calls": sum(record.calls for record in records),
        "duration_s": round(sum(record.duration_s for record in records), 3),
        "reason": worst.reason,
        "repeats": {"runs": len(records), "passed": passed} if worst.repetition else None,
    }
    return {"test": worst.test, "outcome": worst.outcome, **{key: each for key, each in optional.items() if each}}


def documented_facts(component: str, capabilities: Any) -> dict[str, Any]:
    """Return the documented keys of a component's capabilities; empty if the capabilities are not an object."""
    if not isinstance(capabilities, dict):
        return {}
    known = {key for fact in FACTS if component in fact.components for key in fact.keys}
    found = {key: _to_plain(value) for key, value in capabilities.items() if key in known and value is not None}
    for section in SECTIONS:
        nested = capabilities.get(section)
        if isinstance(nested, dict):
            found[section] = {key: _to_plain(value) for key, value in nested.items() if key in known}
    return found


def _to_plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) <= EXACT else f"an integer of {value.bit_length()} bits"
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list):
        return [type(item).__name__ if isinstance(item, list) else _to_plain(item) for item in value[:100]]
    return printable(value[:SHORT])[:SHORT] if isinstance(value, str) else type(value).__name__


GIT_PATIENCE_S = 2.0  # the time limit of git, in seconds
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_PLAIN = re.compile(r"[A-Za-z0-9_.#:/+-]{1,80}")


class CISystem(NamedTuple):
    """A CI system.

    `sign` is the environment variable that identifies the system; `url` is a template for the address of the run. `run`
    and `commit` are the variables with the id of the run and the commit.
    """

    name: str
    sign: str
    url: str
    run: str
    commit: str


GITHUB_RUN = "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}"
AZURE_RUN = "{SYSTEM_TEAMFOUNDATIONCOLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results/{BUILD_BUILDID}"


SYSTEMS = (
    CISystem("GitHub Actions", "GITHUB_ACTIONS", GITHUB_RUN, "GITHUB_RUN_ID", "GITHUB_SHA"),
    CISystem("GitLab CI", "GITLAB_CI", "{CI_JOB_URL}", "CI_JOB_ID", "CI_COMMIT_SHA"),
    CISystem("CircleCI", "CIRCLECI", "{CIRCLE_BUILD_URL}", "CIRCLE_BUILD_NUM", "CIRCLE_SHA1"),
    CISystem("Buildkite", "BUILDKITE", "{BUILDKITE_BUILD_URL}", "BUILDKITE_BUILD_NUMBER", "BUILDKITE_COMMIT"),
    CISystem("Azure Pipelines", "TF_BUILD", AZURE_RUN, "BUILD_BUILDID", "BUILD_SOURCEVERSION"),
    CISystem("Travis CI", "TRAVIS", "{TRAVIS_BUILD_WEB_URL}", "TRAVIS_BUILD_ID", "TRAVIS_COMMIT"),
    CISystem("Jenkins", "JENKINS_URL", "{BUILD_URL}", "BUILD_ID", "GIT_COMMIT"),
)
"""The known CI systems."""


def describe_ci_run(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the `name`, `id` and `url` of the CI run, as far as they are known; empty outside of CI."""
    system = _find_ci_system(environ)
    if system is None:
        return {}
    origin = {"name": system.name}
    if _PLAIN.fullmatch(run := environ.get(system.run, "")):
        origin["id"] = run
    try:
        url = _public_address(system.url.format_map(environ))
    except (KeyError, ValueError):
        url = ""
    return {**origin, "url": url} if url else origin


def find_commit(environ: Mapping[str, str], folder: Path) -> str | None:
    """Return the tested commit, 40 or 64 hexadecimal digits: from CI, or else from git in a folder; None if unknown."""
    system = _find_ci_system(environ)
    origin = environ.get(system.commit, "").lower() if system else ""
    if _COMMIT.fullmatch(origin):
        return origin
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


def _find_ci_system(environ: Mapping[str, str]) -> CISystem | None:
    return next((system for system in SYSTEMS if environ.get(system.sign)), None)


def _public_address(address: str) -> str:
    """Return an address without user, password, query and fragment; empty if it is not an HTTP address."""
    parts = urlsplit(address)
    plain = all(char.isprintable() and char not in ' "<>\\^`{|}' for char in address) and address.isascii()
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        return ""
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    netloc = host + (f":{parts.port}" if parts.port else "")
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))[:300]
