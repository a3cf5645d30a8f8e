"""Nothing secret leaves: content, tenants, keys, ids, texts of the provider (SPECIFICATION 15; R21, R59)."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import remembered
from pytest_corpus.kit.component import Subject, holds
from pytest_corpus.kit.fixtures import rules
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Request, canary
from pytest_corpus.suites.shared.claims.context import FAILURES, in_process, provider_failures, with_canaries_in_context

SHORT = 7
"""The length of a text that is shorter than the beginning that counts as a leak."""


class IdPrivacy:
    """Ids of items stay out of messages."""

    @pytest.mark.requirement("COM-LEAK-9")
    def test_no_ids_of_items_in_messages(self, subject: Subject) -> None:
        """A message that refuses an item does not name it."""
        subject.require(subject.principal)
        for request in subject.requests.with_ids(canary(24)):
            if subject.works(request.op):
                reply = subject.carry_out(request)
                expect.readable(reply)
                holds("COM-LEAK-9", reply, subject)


class Privacy:
    """Nothing that a request holds reappears in errors, metrics or logs."""

    @rules("errors COM-LEAK-1, metrics COM-LEAK-2, logs COM-LEAK-3")
    def test_no_content_leaves(self, subject: Subject, requirement: str) -> None:
        """Good and refused requests are explained, reported and logged without their content."""
        subject.require(subject.principal)
        for reply in (*answers_to_canaries(subject), *answers_to_canaries(subject, refused=True)):
            if requirement == "COM-LEAK-1":
                expect.readable(reply)
            holds(requirement, reply, subject)

    @rules(
        "tenant COM-LEAK-4, key_in_errors_and_metrics COM-LEAK-5, key_in_logs COM-LEAK-10, attributes COM-LEAK-8, "
        "ids_in_messages COM-LEAK-9, ids_in_labels COM-OBS-14"
    )
    def test_nothing_of_a_context_leaves(self, subject: Subject, requirement: str) -> None:
        """No error, metric or log record of any operation contains a member of the context, whatever the outcome."""
        for reply in with_canaries_in_context(subject):
            holds(requirement, reply, subject)

    @pytest.mark.requirement("COM-LEAK-4")
    def test_no_tenant_in_a_refusal_of_the_provider(self, subject: Subject) -> None:
        """A rate limit names its throttling scope without the raw tenant id."""
        has_provider = "provider" in subject.client.hooks
        found = provider_failures(subject, "rate_limited") if has_provider else with_canaries_in_context(subject)
        for reply in found:
            holds("COM-LEAK-4", reply, subject)

    @pytest.mark.requirement("COM-LEAK-6")
    @pytest.mark.parametrize("kind", FAILURES)
    def test_no_text_of_the_provider_anywhere(self, subject: Subject, kind: str) -> None:
        """No answer, metric or log record contains the message of a failing provider."""
        for reply in provider_failures(subject, kind):
            expect.readable(reply)
            holds("COM-LEAK-6", reply, subject)

    @pytest.mark.requirement("COM-LEAK-7")
    def test_no_content_in_debug_records(self, subject: Subject) -> None:
        """With debug logging switched on, content stays out of the records too."""
        expect.assessable(in_process(subject), "debug logging cannot be switched on outside this process")
        subject.require(subject.principal)
        replies = [*answers_to_canaries(subject), *answers_to_canaries(subject, refused=True)]
        replies += with_canaries_in_context(subject)
        if "provider" in subject.client.hooks:
            replies += provider_failures(subject, "unexpected")
        for reply in replies:
            holds("COM-LEAK-7", reply, subject)


def shortened(requests: list[Request]) -> Iterator[Request]:
    """The first request with content in it, with a canary of seven letters: a short text is content too."""
    for request in requests:
        text, short = json.dumps(request.args), canary(SHORT)
        if request.canaries["content"] in text:
            args = json.loads(text.replace(request.canaries["content"], short))
            yield replace(request, args=args, canaries={"content": short})
            return


@remembered
def answers_to_canaries(subject: Subject, *, refused: bool = False) -> list[Reply | StreamReply]:
    """Answers to requests that carry secrets; `refused` ones are wrong in some way."""
    requests = subject.requests.with_canaries(refused=refused)
    if not refused:
        requests += shortened(requests)
    return [subject.carry_out(each, debug_logs=in_process(subject)) for each in requests if subject.works(each.op)]
