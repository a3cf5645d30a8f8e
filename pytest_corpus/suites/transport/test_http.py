"""Unary calls over HTTP, with their status and headers (SPECIFICATION 4.2.1; ERRORS 3.1; R75, R87)."""

import zlib
from typing import Any

import pytest

from pytest_corpus.adapter.exchange import looks_like_error, looks_like_success
from pytest_corpus.adapter.transports.raw import RawRequest
from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import core, rules, subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed, describe
from pytest_corpus.kit.reply import error_names
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.transports import JSON, PROTOCOL_HEADER, STREAM_TYPES
from pytest_corpus.suites.transport.exchanges import (
    RawExchange,
    capabilities,
    is_envelope,
    is_offered,
    kind_of,
    parse_leniently,
    refusals,
    require_answer,
    require_no_delay,
    send_once,
    show_in_findings,
    stream,
)

OTHER_TYPE = "text/plain"
MAX_UNZIPPED_BYTES = 2 * 2**20
"""Longer bodies are not parsed, because their JSON may need thirty times as much memory."""

GZIP_MAGIC = b"\x1f\x8b"


@core("TRA-HTTP-1")
def test_a_unary_answer_is_json(subject: Subject) -> None:
    """Successes and errors have the content type application/json."""
    for seen in (capabilities(subject), *refusals(subject)):
        answer = require_answer(seen).answer
        with show_in_findings(seen):
            expect.check(answer.content_type == JSON, JSON, type_and_status(seen), "Content-Type")


@pytest.mark.requirement("TRA-HTTP-2")
def test_an_error_has_the_status_of_its_class(subject: Subject) -> None:
    """The status of each error is 200 or the status in ERRORS 3.1."""
    for seen in refusals(subject):
        body = body_of(require_answer(seen))
        names = error_names(body) if looks_like_error(body) else ()
        if names:
            wanted = sorted({200, *(status for name in names for status in TAXONOMY[name].http)})
            with show_in_findings(seen):
                text = f"{' or '.join(map(str, wanted))} for {names[0]}"
                expect.check(seen.answer.status in wanted, text, f"{seen.answer.status}", "status")


@pytest.mark.requirement("TRA-HTTP-3")
def test_a_success_has_a_status_of_success(subject: Subject) -> None:
    """A success has a status of 2xx."""
    seen = require_answer(capabilities(subject))
    expect.assessable(looks_like_success(body_of(seen)), Obstacle.NO_SUCCESS)
    with show_in_findings(seen):
        expect.check(200 <= seen.answer.status < 300, "2xx", f"{seen.answer.status}", "status")


@pytest.mark.requirement("TRA-HTTP-4")
def test_a_body_is_compressed_only_where_that_is_offered(subject: Subject) -> None:
    """A body is compressed only if the client accepts gzip. A compressed body contains the envelope."""
    for offer in ("identity", "gzip"):
        request = RawRequest(subject.envelope("capabilities"), encoding=offer)
        plain = offer == "identity"
        seen = capabilities(subject) if plain else send_once(subject, "compressed", request, everywhere=True)
        answer = require_answer(seen).answer
        with show_in_findings(seen):
            coding = answer.header("Content-Encoding").strip().lower().removeprefix("x-") or "identity"
            expect.check(coding in ("identity", offer), f"identity or {offer}", found=coding, path="Content-Encoding")
            if coding == "identity":
                expect.check(not answer.body.startswith(GZIP_MAGIC), "a body that is not compressed", "gzip", "body")
            elif not is_envelope(parse_leniently(unzip(answer.body))):
                expect.check(False, "an envelope, compressed", "a body that does not decompress to an envelope", "body")


@pytest.mark.requirement("TRA-HTTP-5")
def test_another_method_is_refused(subject: Subject) -> None:
    """GET gets a status of 4xx."""
    seen = send_once(subject, "method", RawRequest(body=b"", method="GET"), everywhere=True)
    with show_in_findings(seen):
        status = seen.answer.status
        expect.check(400 <= status < 500, "a status of 4xx for GET", f"{status}" if status else "no answer", "status")


@pytest.mark.requirement("TRA-HTTP-6")
def test_another_content_type_gets_an_envelope(subject: Subject) -> None:
    """A request with the content type text/plain is answered with an envelope."""
    seen = call_with_other_type(subject)
    with show_in_findings(seen):
        body = body_of(seen)
        got = "no answer" if seen.answer.fault else f"{kind_of(body)} with status {seen.answer.status}"
        expect.check(is_envelope(body), "an envelope", got, "body")


@pytest.mark.requirement("TRA-HTTP-7")
def test_another_content_type_is_refused_with_its_status(subject: Subject) -> None:
    """A request with the content type text/plain is served, or refused with status 400 or 415."""
    seen = require_no_delay(require_answer(call_with_other_type(subject)))
    status, body = seen.answer.status, body_of(seen)
    expect.applicable(not looks_like_success(body), "a request with the content type text/plain is served")
    legal = (400, 415, 200) if looks_like_error(body) else (400, 415)
    with show_in_findings(seen):
        expect.check(status in legal, "400 or 415", f"{status}", "status")


@pytest.mark.requirement("TRA-HTTP-8")
def test_a_refused_stream_is_a_frame_or_an_envelope(subject: Subject) -> None:
    """A stream with wrong arguments is one error frame, or an error envelope as application/json."""
    name = subject.principal_stream
    envelope = subject.envelope(name, subject.requests.wrong_types(name))
    looked, there = False, False
    for kind in STREAM_TYPES.values():
        if not is_offered(subject, kind):
            continue
        there = True
        seen = require_answer(send_once(subject, f"refused {kind}", RawRequest(envelope, True, accept=kind)))
        bodies = seen.bodies
        if len(bodies) > 1 or (bodies and isinstance(bodies[0], dict) and not looks_like_error(bodies[0])):
            continue  # not refused: the finding of another requirement
        looked = True
        with show_in_findings(seen):
            allowed = seen.answer.content_type in (kind, JSON)
            expect.check(allowed, f"{kind} or {JSON}", type_and_status(seen), "Content-Type")
            found = kind_of(bodies[0]) if bodies else "nothing"
            expect.check(bool(bodies) and looks_like_error(bodies[0]), "one error envelope", found, "body")
    expect.applicable(there, "no stream is offered")
    expect.assessable(looked, Obstacle.WRONG_TYPES_TAKEN)


@pytest.mark.requirement("TRA-HTTP-9")
def test_a_format_that_is_not_offered_is_refused(subject: Subject) -> None:
    """NDJSON and SSE are served, or refused as NOT_SUPPORTED. The status is 406 or the status of NotSupported."""
    offered = {kind: is_offered(subject, kind) for kind in STREAM_TYPES.values()}
    expect.applicable(any(offered.values()), "no stream is offered")
    legal = (406, 200, *TAXONOMY["NotSupported"].http)
    for kind in (kind for kind, is_there in offered.items() if not is_there):
        seen = require_answer(stream(subject, kind))
        bodies, status = seen.bodies, seen.answer.status
        named = len(bodies) == 1 and "NotSupported" in error_names(bodies[0])
        with show_in_findings(seen):
            got = f"{kind_of(bodies[0]) if bodies else 'nothing'} with status {status}"
            expect.check(named and status in legal, f"NOT_SUPPORTED with 406 for {kind}", got)
    expect.applicable(not all(offered.values()), "every format is offered")


@rules("refused TRA-HTTP-10, read_as_it_is TRA-HTTP-11")
def test_another_major_version_is_refused(subject: Subject, requirement: str) -> None:
    """A request for version 2 is NOT_SUPPORTED, and a request for version 1.3 is served."""
    one, two = (call_version(subject, version) for version in ("v1.3", "v2.0"))
    bodies = [body_of(require_no_delay(require_answer(seen))) for seen in (one, two)]
    served = [looks_like_success(body) for body in bodies]
    if requirement == "TRA-HTTP-11" and served == [True, True]:
        raise NotApplicable("the adapter does not read the header X-Adapter-Protocol")
    if requirement == "TRA-HTTP-11":
        with show_in_findings(one):
            expect.check(served[0], "version 1.3 to be served", kind_of(bodies[0]), PROTOCOL_HEADER)
    with show_in_findings(two):
        expect.check("NotSupported" in error_names(bodies[1]), "NOT_SUPPORTED for version 2.0", kind_of(bodies[1]))


def call_version(subject: Subject, version: str) -> RawExchange:
    """Send a call that names a version of the protocol."""
    headers = {PROTOCOL_HEADER: f"{subject.component}/{version}"}
    return send_once(subject, f"version {version}", RawRequest(subject.envelope("capabilities"), headers=headers))


def type_and_status(seen: RawExchange) -> str:
    """Describe the content type and the status of an answer."""
    kind = seen.answer.content_type
    return f"{describe(kind) if kind else 'none'} with status {seen.answer.status}"


def body_of(seen: RawExchange) -> Any:
    """Return the value of a unary body, compressed or not, or None if it is not JSON."""
    body = seen.answer.body
    return parse_leniently(unzip(body) if body.startswith(GZIP_MAGIC) else body)


def call_with_other_type(subject: Subject) -> RawExchange:
    """Send an envelope with a content type that is not JSON."""
    request = RawRequest(subject.envelope("capabilities"), content_type=OTHER_TYPE)
    return send_once(subject, "content type", request, everywhere=True)


def unzip(body: bytes) -> bytes:
    """Return the decompressed body of one or more gzip members; empty if it is not gzip."""
    found = b""
    while body:
        reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            found += reader.decompress(body, MAX_UNZIPPED_BYTES + 1 - len(found))
        except zlib.error:
            break
        if len(found) > MAX_UNZIPPED_BYTES:
            raise NotAssessed(Obstacle.LARGE_BODY, number=MAX_UNZIPPED_BYTES // 2**20)
        body = reader.unused_data
    return found
