"""What an error envelope tells machines, and what it must not tell anybody (ERRORS 7, 8; R60)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_corpus.kit.outcomes import Violation
from pytest_corpus.spec.errors import HINTS, RESOURCE_SCOPES
from pytest_corpus.text.redaction import type_name, word

STACK_TRACE = re.compile(
    r"Traceback \(most recent call last\)"
    r'|File "[^"]+", line \d+'
    r"|\bgoroutine \d+ \["
    r"|^\s+at .+\(.+:\d+(:\d+)?\)"
    r"|^\s+at .+\.(?:js|ts|mjs|cs):\d+",
    re.MULTILINE,
)
"""A stack trace, or a frame of one, as Python, Go, Java, JavaScript and C# print it."""


def hint_problems(details: Mapping[str, Any]) -> Iterator[Violation]:
    """The hints in `details` that are not what ERRORS 7 says; null counts as absent."""
    for name, wanted in HINTS.items():
        value = details.get(name)
        if value is not None and not _fits(name, value):
            got = word(value) if isinstance(value, (int, float)) else type_name(value)
            yield Violation(wanted, got, f"details.{name}")


def _fits(name: str, value: Any) -> bool:
    if name == "retryable":
        return isinstance(value, bool)
    if name == "throttle_scope":
        return isinstance(value, str)
    if name == "resource_scope":
        return value in RESOURCE_SCOPES if isinstance(value, str) else False
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and not math.isnan(value)
    return number and (0 < value <= 100 if name == "suggested_batch_reduction" else value >= 0)
