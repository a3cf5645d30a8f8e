"""Reads the options and settings of a run, and chooses its profile (BEHAVIORAL_CONFORMANCE 2, 8)."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from math import inf
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from pytest_corpus.adapter import usage as budgets
from pytest_corpus.adapter.hooks.vendors.recording import SPEEDS
from pytest_corpus.adapter.kept_answers import MODES, usual_mode
from pytest_corpus.adapter.opening.factory import split_label
from pytest_corpus.adapter.opening.remote import Connection
from pytest_corpus.adapter.usage import Budget
from pytest_corpus.evidence.judging import LEVELS
from pytest_corpus.integration.options import files
from pytest_corpus.integration.options.files import report_paths
from pytest_corpus.integration.options.table import setting
from pytest_corpus.kit import run_state as limits
from pytest_corpus.redaction import printable
from pytest_corpus.reports.formats import FORMATS, JUNIT, list_suffixes, suffix_of
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.dialects import Dialect
from pytest_corpus.spec.requirements import catalogue, nearest_ids
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.suites import CHAPTERS
from pytest_corpus.text.atomic_write import find_obstacle
from pytest_corpus.text.values import suggest
from pytest_corpus.validation.sealed_lines import SUFFIXES
from pytest_corpus.verdict.deviations import Deviation, today
from pytest_corpus.verdict.editions import Edition, EditionError, current_edition, edition
from pytest_corpus.verdict.finding import LEVELS as EVIDENCE_LEVELS
from pytest_corpus.verdict.finding import Level
from pytest_corpus.verdict.shards import MOST_SHARDS, Shard
from pytest_corpus.verdict.shards import parse as parse_shard

ENVIRONMENT = "CORPUS_TEST_ENV"
"""The environment variable that names the adapter's environment: local, ci, staging, production ..."""

PRODUCTION = ("production", "prod")


@dataclass(frozen=True, slots=True)
class Profile:
    """The defaults of a run: its tests, and the time limit of each call.

    Attributes:
        call_timeout: the default number of seconds until a call is abandoned.
        smoke: True to run only one core test of each requirement.
        stress: True to run load tests as well.
    """

    name: str
    call_timeout: float = 30.0
    smoke: bool = False
    stress: bool = False


PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("quick", call_timeout=10.0, smoke=True),
        Profile("dev"),
        Profile("ci"),
        Profile("stress", stress=True),
    )
}


def is_on_github(environment: Mapping[str, str]) -> bool:
    """True if the process is a step of GitHub Actions."""
    return environment.get("GITHUB_ACTIONS", "").lower() not in ("", "false", "0")


def is_production(environment: Mapping[str, str]) -> bool:
    """True if the environment of the adapter's provider is production."""
    return environment.get(ENVIRONMENT, "").strip().lower() in PRODUCTION


def reason_against_profile(profile: Profile, environment: Mapping[str, str]) -> str:
    """Return the reason why a profile must not run in an environment; empty if it may."""
    if not is_production(environment) or profile.smoke:
        return ""
    return (
        f"{ENVIRONMENT} is {environment[ENVIRONMENT].strip()}, which the profile {profile.name!r} must not test: use "
        "--corpus-profile=quick, which then only reads, or --corpus-allow-production"
    )


N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    Attributes:
        edition: the schema version that the run is limited to; None for all.
        requirements: the edition of the requirements.
        dialects: the query languages with their probe queries; `given_dialects` are those from a file.
        on_terminal, in_files: how much evidence the terminal and files may show.
    """

    adapters: tuple[str, ...]
    clients: tuple[str, ...]
    components: tuple[str, ...]
    globs: tuple[str, ...]
    level: str
    reports: tuple[Path, ...]
    transcript: Path | None
    recording: Path | None
    record: str
    instant: bool
    folder: Path
    notes: tuple[str, ...]
    seed: int
    edition: str | None
    requirements: Edition
    call_timeout: float
    write_delay: float | None
    max_namespaces: int
    dialects: Mapping[str, Dialect]
    given_dialects: Mapping[str, Any]
    deviations: tuple[Deviation, ...]
    deviations_path: Path
    update_deviations: bool
    strict: bool
    traceback: bool
    repeat: int
    profile: Profile
    read_only: bool
    budget: Budget
    shard: Shard | None
    concurrency: int | None
    estimate: bool
    on_terminal: Level
    in_files: Level
    connection: Connection = field(default_factory=Connection)

    def deviates(self, requirement: str, adapter: str) -> bool:
        """True if a deviation from a requirement is declared for an adapter and is valid today."""
        day = today()
        return any(entry.covers(requirement, adapter) and not entry.has_expired(day) for entry in self.deviations)

    def wants(self, requirement: str) -> bool:
        """True if a requirement is selected."""
        return not self.globs or any(fnmatchcase(requirement, glob) for glob in self.globs)


def read_options(config: pytest.Config) -> Options:
    """Return the options of a run. Raises pytest.UsageError if one has an invalid value."""
    profile = PROFILES[_read_choice(config, "profile", tuple(PROFILES)) or ("ci" if os.environ.get("CI") else "dev")]
    allowed = bool(config.getoption("corpus_allow_production"))
    if not allowed and (refused := reason_against_profile(profile, os.environ)):
        raise pytest.UsageError(refused)
    drafting = bool(config.getoption("corpus_update_deviations"))
    reached, call_timeout = files.read_connection(config, profile.call_timeout)
    level = cast("Level | None", _read_choice(config, "evidence", EVIDENCE_LEVELS))
    declared, deviations = files.deviations(config, _read_value(config, "deviations"), drafting=drafting)
    most = limits.MOST_REPETITIONS
    repeat = _read_number(config, "repeat", 1, f"a whole number from 1 to {most}", least=1, most=most)
    # The note on coverage in the attestation (BEHAVIORAL_CONFORMANCE 12).
    floor = getattr(config.option, "cov_fail_under", None) if getattr(config.option, "cov_source", None) else None
    dialects, given_dialects = files.dialects(config, _read_value(config, "dialects"))
    width = f"auto, or a whole number from 1 to {limits.MOST_IN_FLIGHT}"
    delay = f"a number of seconds from 0 to {limits.MOST_WRITE_DELAY_S}"
    return Options(
        adapters=tuple(_read_values(config, "adapter")),
        clients=tuple(_read_values(config, "client")),
        components=_check_components(_split_values(config, "components")),
        globs=_check_globs(_split_values(config, "requirement")),
        level=_read_choice(config, "level", LEVELS) or "must",
        reports=_report_paths(config),
        transcript=_transcript_path(config),
        recording=_recording_path(config),
        record=usual_mode(_read_choice(config, "record", MODES), os.environ, "once"),
        instant=_read_choice(config, "recording-speed", SPEEDS) == "instant",
        folder=config.invocation_params.dir,
        notes=() if floor is None else (f"COV_FAIL_UNDER={floor:g}",),
        seed=_read_number(config, "seed", 0, "a whole number"),
        edition=_read_choice(config, "schema-version", SCHEMA_VERSIONS),
        requirements=_find_edition(_read_value(config, "edition")),
        call_timeout=call_timeout,
        write_delay=_read_number(config, "write-delay", 0.0, delay, least=0, most=limits.MOST_WRITE_DELAY_S)
        if _read_value(config, "write-delay")
        else None,
        max_namespaces=_read_number(
            config,
            "max-namespaces",
            limits.MAX_NAMESPACES,
            f"a whole number of {limits.MIN_NAMESPACES} or more",
            least=limits.MIN_NAMESPACES,
        ),
        dialects=dialects,
        given_dialects=given_dialects,
        deviations=deviations,
        deviations_path=declared,
        update_deviations=drafting,
        strict=bool(config.getoption("corpus_strict") or config.getini("corpus_strict")),
        traceback=bool(config.getoption("corpus_traceback")),
        repeat=repeat,
        profile=profile,
        read_only=is_production(os.environ) and not allowed,
        budget=read_budget(_read_value(config, "budget")),
        shard=_read_suite_shard(config, profile, repeat),
        concurrency=None
        if _read_value(config, "concurrency") in (None, "auto")
        else _read_number(config, "concurrency", 1, width, least=1, most=limits.MOST_IN_FLIGHT),
        estimate=_wants_estimate(config),
        on_terminal=level or ("shape" if os.environ.get("CI") else "full"),
        in_files=level or "shape",
        connection=reached,
    )


def _read_values(config: pytest.Config, name: str) -> list[str]:
    given = config.getoption(f"corpus_{name}")
    return list(given or config.getini(f"corpus_{name}") or [])


def _wants_estimate(config: pytest.Config) -> bool:
    if config.getoption("corpus_estimate") and config.getoption("dist", "no") != "no":
        raise pytest.UsageError("--corpus-estimate runs no test, so it needs no workers: leave out -n")
    return bool(config.getoption("corpus_estimate"))


def _read_value(config: pytest.Config, name: str) -> str | None:
    key = setting(name)
    given = config.getoption(key)
    value = given if given is not None else config.getini(key)
    return str(value).strip() or None if value is not None else None


def _split_values(config: pytest.Config, name: str) -> list[str]:
    return [part.strip() for given in _read_values(config, name) for part in str(given).split(",") if part.strip()]


def _read_choice(config: pytest.Config, name: str, allowed: Sequence[str]) -> str | None:
    value = _read_value(config, name)
    if value is not None and value.lower() not in allowed:
        near = f"{hint} " if value.isalpha() and (hint := suggest(value.lower(), allowed)) else ""
        raise pytest.UsageError(f"--corpus-{name}={value}: {near}use {' or '.join(allowed)}")
    return value.lower() if value else None


def _check_components(names: list[str]) -> tuple[str, ...]:
    names = [name.lower() for name in names]
    for name in names:
        if name not in COMPONENTS:
            hint = suggest(name, COMPONENTS, f"use {', '.join(COMPONENTS)}")
            raise pytest.UsageError(f"--corpus-components: there is no component {name!r}; {hint}")
        if name not in CHAPTERS:
            raise pytest.UsageError(f"--corpus-components: this version carries the suites of {', '.join(CHAPTERS)}")
    return tuple(dict.fromkeys(names))


def _check_globs(globs: list[str]) -> tuple[str, ...]:
    for glob in globs:
        if not any(fnmatchcase(known, glob.upper()) for known in catalogue()):
            near = nearest_ids(glob)
            hint = f"did you mean {' or '.join(near)}?" if near else "`pytest-corpus list` shows them all"
            raise pytest.UsageError(f"--corpus-requirement: {glob!r} matches no requirement; {hint}")
    return tuple(glob.upper() for glob in globs)


def _find_edition(name: str | None) -> Edition:
    """Return the edition of the requirements with this name, by default the current one."""
    try:
        return edition(name) if name else current_edition()
    except EditionError as error:
        raise pytest.UsageError(f"--corpus-edition: {error}") from None


def _report_paths(config: pytest.Config) -> tuple[Path, ...]:
    """Return the paths of the reports, without the JUnit file, which pytest writes."""
    declared = [*_read_values(config, "adapter"), *_read_values(config, "client")]
    labels = [label or spec for label, spec in map(split_label, declared)]
    taken: dict[str, str] = {}
    found = []
    for given in _read_values(config, "report"):
        path, shown = _check_report_path(config, given), f"--corpus-report={printable(given)}"
        file = os.path.normcase(os.path.realpath(path))
        if file in taken:
            raise pytest.UsageError(f"{taken[file]} and {shown}: two reports cannot be one file")
        taken[file] = shown
        own = suffix_of(path.name, (*FORMATS, JUNIT)) != JUNIT
        if blocked := next(filter(None, map(find_obstacle, report_paths(path, labels) if own else [path])), ""):
            raise pytest.UsageError(f"{shown}: {printable(blocked)}")
        found += [path] if own else []
    return tuple(found)


def _check_report_path(config: pytest.Config, given: str) -> Path:
    shown = f"--corpus-report={printable(given)}"
    if any(not char.isprintable() and char.isascii() for char in given):
        raise pytest.UsageError(f"{shown}: a report cannot have a control character in its path")
    path = config.invocation_params.dir / given
    suffixes = (*FORMATS, JUNIT)
    if suffix_of(path.name, suffixes) is None:
        raise pytest.UsageError(f"{shown}: the name must end in {list_suffixes(suffixes)}")
    return path


def _transcript_path(config: pytest.Config) -> Path | None:
    """Return the path of the transcript; None if the option is not given."""
    path = _lines_file_path(config, "transcript")
    if path is not None and config.getoption("reruns", None):
        shown = f"--corpus-transcript={printable(_read_value(config, 'transcript') or '')}"
        raise pytest.UsageError(f"{shown}: a test that --reruns repeats has no single record; leave one of the two out")
    return path


def _recording_path(config: pytest.Config) -> Path | None:
    """Return the path of the recording of the provider's answers; None if the option is not given."""
    path = _lines_file_path(config, "recording")
    for name in ("record", "recording-speed"):
        if path is None and config.getoption(setting(name)):
            raise pytest.UsageError(f"--corpus-{name} needs a file: --corpus-recording=provider.jsonl.gz")
    return path


def _lines_file_path(config: pytest.Config, name: str) -> Path | None:
    """Return the path of a file of JSON lines that the run may write; None if the option is not given."""
    given = _read_value(config, name)
    if given is None:
        return None
    path, shown = config.invocation_params.dir / given, f"--corpus-{name}={printable(given)}"
    if suffix_of(path.name, SUFFIXES) is None:
        raise pytest.UsageError(f"{shown}: the name must end in {list_suffixes(SUFFIXES)}")
    if not (name == "recording" and path.exists()) and (blocked := find_obstacle(path)):
        raise pytest.UsageError(f"{shown}: {printable(blocked)}")
    return path


def _read_number(config: pytest.Config, name: str, usual: N, form: str, *, least: float = -inf, most: float = inf) -> N:
    """Return the value of an option as a number of the same type as its default.

    `form` describes valid values in the error message.
    """
    value = _read_value(config, name)
    if value is None:
        return usual
    with suppress(ValueError):
        if least <= (number := type(usual)(value)) <= most:
            return number
    raise pytest.UsageError(f"--corpus-{name}={value}: use {form}")


def read_budget(value: str | None) -> Budget:
    """Return the largest numbers of calls and tokens of a run; unlimited without a value."""
    try:
        return budgets.parse(value) if value else Budget()
    except ValueError as error:
        raise pytest.UsageError(f"--corpus-budget={printable(value or '')}: {printable(str(error))}") from None


def read_shard(config: pytest.Config, most: int = MOST_SHARDS) -> Shard | None:
    """Return the requested shard of the suite or of each bundle; None if the run is not divided into shards."""
    value = _read_value(config, "shard")
    try:
        return None if value is None else parse_shard(value, most)
    except ValueError as error:
        raise pytest.UsageError(f"--corpus-shard={printable(value or '')}: {error}") from None


def _read_suite_shard(config: pytest.Config, profile: Profile, repeat: int) -> Shard | None:
    found = read_shard(config)
    if found is not None and profile.smoke:
        said = f"the profile {profile.name!r} runs only part of the suite; use dev, ci or stress"
        raise pytest.UsageError(f"--corpus-shard={found}: {said}")
    if found is not None and repeat > 1:
        said = "with --corpus-repeat the shards cannot be combined; leave out one of the two"
        raise pytest.UsageError(f"--corpus-shard={found}: {said}")
    return found
