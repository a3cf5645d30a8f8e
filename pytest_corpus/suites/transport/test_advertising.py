"""The streaming transports that capabilities name (SPECIFICATION 4.2.4.5; R23, R90)."""

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.spec.transports import NDJSON, STREAM_TYPES
from pytest_corpus.suites.transport.exchanges import (
    is_offered,
    is_refusal,
    remote_of,
    require_answer,
    require_no_delay,
    show_in_findings,
    stream,
)

WHERE = "result.extensions.streaming_transports"


@pytest.mark.requirement("TRA-ADV-1")
def test_what_is_advertised_works(subject: Subject) -> None:
    """Each streaming transport that capabilities advertise for this address delivers a plain stream."""
    named = advertised_transports(subject)
    formats = [name for name in remote_of(subject).address.scheme.formats if isinstance(named, list) and name in named]
    expect.applicable(formats, "capabilities name no streaming transport of this address")
    for name in formats:
        kind = STREAM_TYPES.get(name, NDJSON)
        seen = require_no_delay(require_answer(stream(subject, kind)))
        works = is_offered(subject, kind) if name in STREAM_TYPES else not is_refusal(seen)
        with show_in_findings(seen):
            expect.check(works and seen.answer.pieces, f"a stream over {name}", "no stream", WHERE)


@pytest.mark.requirement("TRA-ADV-2")
def test_what_is_advertised_is_a_list_of_names(subject: Subject) -> None:
    """`streaming_transports` is a list of strings."""
    named = advertised_transports(subject)
    expect.applicable(named is not None, "capabilities name no streaming transport")
    is_list = isinstance(named, list) and all(isinstance(name, str) for name in named)
    expect.check(is_list, "a list of names", found=named, path=WHERE)


def advertised_transports(subject: Subject) -> Any:
    """Return `streaming_transports` in `extensions`, or None."""
    extensions = subject.capabilities.document.get("extensions")
    return extensions.get("streaming_transports") if isinstance(extensions, Mapping) else None
