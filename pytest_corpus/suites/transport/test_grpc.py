"""gRPC: one message for each frame (SPECIFICATION 4.2.4.4; ERRORS 3.2; R89)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.fixtures import core, subject
from pytest_corpus.kit.reply import error_names
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.transports import GRPC_ENVELOPE
from pytest_corpus.suites.transport import exchanges

OK = "OK"


@core("TRA-GRPC-1")
def test_each_message_is_one_frame(subject: Subject) -> None:
    """Each message is a `Frame` whose `json` is one JSON object."""
    for seen in exchanges.plain_exchanges(subject):
        exchanges.expect_frames(seen, messages(seen), "message")
        exchanges.require_answer(seen)


@pytest.mark.requirement("TRA-GRPC-2")
def test_nothing_follows_the_terminal_message_of_a_stream(subject: Subject) -> None:
    """Only the last message of a stream has a terminal frame."""
    seen = exchanges.require_answer(exchanges.stream(subject))
    found = messages(seen)
    expect.assessable(found, Obstacle.NO_MESSAGE)
    with expect.resting_on("TRA-GRPC-1"):
        exchanges.expect_frames(seen, found, "message")
    exchanges.expect_terminal_last(seen, list(map(exchanges.parse_leniently, found)), "message")


@pytest.mark.requirement("TRA-GRPC-3")
def test_a_status_is_the_one_of_its_class(subject: Subject) -> None:
    """The status of an error is OK, or the status in ERRORS 3.2 for the error's class."""
    for seen in exchanges.refusals(subject):
        answer = exchanges.require_answer(seen).answer
        envelope = answer.trailing.get(GRPC_ENVELOPE)
        names = error_names(exchanges.parse_leniently(envelope)) if isinstance(envelope, bytes) else ()
        wanted = [code for name in names for code in TAXONOMY[name].grpc]
        if answer.code == OK or names:
            with exchanges.show_in_findings(seen):
                text = f"OK or {' or '.join(wanted)}" if wanted else OK
                expect.check(answer.code in (OK, *wanted), text, answer.code, "status")


def messages(seen: exchanges.RawExchange) -> list[bytes]:
    """Return the JSON of each message; empty for a message that is not a `Frame`."""
    return [exchanges.unpack_message(piece.data) for piece in seen.answer.pieces]
