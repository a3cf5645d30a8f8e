"""The options of a recorded run that influence how its transcript is judged. The rest of the header is ignored.

Transcripts are untrusted, so none of these options names an address, a command, a path or a module.
"""

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pytest_corpus.evidence.transcript import Transcript, TranscriptError
from pytest_corpus.kit.run_state import MIN_NAMESPACES, MOST_REPETITIONS, MOST_WRITE_DELAY_S
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.verdict import editions
from pytest_corpus.verdict.shards import parse

PROFILES = ("quick", "dev", "ci", "stress")
LEVELS = ("must", "should")
MOST_CHARACTERS = 20_000
MOST_DIGITS = 18

_GLOB = re.compile(r"[A-Za-z0-9*?\[\]!-]{0,100}")

Check = Callable[[str], object]


def _make_number_check(of: type[int] | type[float], least: float, most: float) -> Check:
    def is_valid(value: str) -> bool:
        with suppress(ValueError):
            return len(value) <= MOST_DIGITS and least <= of(value) <= most
        return False

    return is_valid


def _make_choice_check(*names: str) -> Check:
    return lambda value: value.strip().lower() in names


def _make_list_check(valid: Check) -> Check:
    return lambda value: len(value) < MOST_CHARACTERS and all(valid(each.strip()) for each in value.split(","))


def _is_shard(value: str) -> bool:
    with suppress(ValueError):
        return parse(value).number > 0
    return False


OPTIONS: Mapping[str, Check] = {
    "components": _make_list_check(_make_choice_check("", *COMPONENTS)),
    "requirement": _make_list_check(_GLOB.fullmatch),
    "level": _make_choice_check(*LEVELS),
    "strict": _make_choice_check("true"),
    "edition": lambda value: value.strip() in editions.names(),
    "schema-version": _make_choice_check(*SCHEMA_VERSIONS),
    "write-delay": _make_number_check(float, 0, MOST_WRITE_DELAY_S),
    "max-namespaces": _make_number_check(int, MIN_NAMESPACES, math.inf),
    "profile": _make_choice_check(*PROFILES),
    "repeat": _make_number_check(int, 1, MOST_REPETITIONS),
    "shard": _is_shard,
}
"""The options that are read from a transcript, each with a function that is true for its valid values."""

IGNORED_OPTIONS = frozenset((
    "allow-production", "budget", "bundle-cassettes", "bundle-limit", "bundle-update-baseline", "call-timeout",
    "connections", "evidence", "seed", "startup-timeout", "traceback",
))  # fmt: skip
"""Options that earlier versions wrote. They are harmless and have no influence, so their values are not read."""

SWITCHES = ("strict",)


def stated_options(transcript: Transcript) -> dict[str, str]:
    """Return the options of the run that influence its tests and their results.

    Raises:
        TranscriptError: the header contains another option or an invalid value.
    """
    found: dict[str, str] = {}
    for name, value in transcript.header["options"].items():
        if name in IGNORED_OPTIONS:
            continue
        if name not in OPTIONS:
            raise TranscriptError(
                f"the header states the option {name[:50]!r}, which is not taken from a transcript: it decides nothing "
                f"of how this is judged, or names something on the machine of the run"
            )
        if not OPTIONS[name](value):
            said = f"with the value {value[:50]!r}, which it cannot have"
            raise TranscriptError(f"the header states the option {name} {said}")
        found[name] = value
    return found


def to_arguments(transcript: Transcript, leave_out: frozenset[str] = frozenset()) -> list[str]:
    """Return the options of the run as arguments for another pytest run. Raises TranscriptError as `stated_options`
    does.
    """
    header: Mapping[str, Any] = transcript.header
    options = {name: value for name, value in stated_options(transcript).items() if name not in leave_out}
    limits = [f"--corpus-seed={int(header['seed'])}", f"--corpus-call-timeout={header['call_timeout_s']:g}"]
    return [
        *limits,
        *(f"--corpus-{name}" + ("" if name in SWITCHES else f"={value}") for name, value in options.items()),
    ]
