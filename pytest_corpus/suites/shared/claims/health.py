"""Health reports (SPECIFICATION 7.6, 10.3; R35)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import plain_call
from pytest_corpus.kit.component import Subject, holds
from pytest_corpus.kit.faults import MAX_PROVIDER_RETRIES
from pytest_corpus.kit.fixtures import core
from pytest_corpus.kit.reply import Reply
from pytest_corpus.redaction import word
from pytest_corpus.spec.words import HEALTH_STATES

RETRYABLE = ("ResourceExhausted", "TransientNetwork", "Unavailable")
DOWN = ("unavailable", "network", "overloaded")


class Health:
    """The answers of `health` when all is well and when the backend is down."""

    @core("COM-HEALTH-1")
    def test_health_answers(self, subject: Subject) -> None:
        """`health` is a success whose result is an object, or says with an error that the backend is down."""
        reply = plain_call(subject, "health")
        expect.either(reply, *RETRYABLE)
        holds("COM-HEALTH-1", reply, subject)

    @pytest.mark.requirement("COM-HEALTH-2")
    def test_a_report_says_how_things_are(self, subject: Subject) -> None:
        """A report has a boolean `ok`, a known `status`, `server` and `version`."""
        report = self.report(plain_call(subject, "health"))
        expect.that(isinstance(report.get("ok"), bool), "a boolean", word(report.get("ok")), "result.ok")
        expect.that(
            report.get("status") in HEALTH_STATES, " or ".join(HEALTH_STATES), "something else", "result.status"
        )
        for key in ("server", "version"):
            value = report.get(key)
            expect.that(isinstance(value, str) and value, "a non-empty string", word(value), f"result.{key}")

    @pytest.mark.requirement("COM-HEALTH-3")
    def test_a_bad_report_gives_a_reason(self, subject: Subject) -> None:
        """A report of status degraded or down has a `reason`."""
        bad = [report for report in self.reports(subject) if report.get("status") in HEALTH_STATES[1:]]
        expect.applicable(bad, "no report was degraded or down")
        for report in bad:
            expect.that(report.get("reason"), "a reason", "none", "result.reason")

    @pytest.mark.requirement("COM-HEALTH-4")
    @pytest.mark.parametrize("kind", DOWN)
    def test_health_answers_while_the_provider_is_down(self, subject: Subject, kind: str) -> None:
        """A failing provider makes `health` a report or a retryable error, never a crash."""
        expect.either(self.with_provider_down(subject, kind), *RETRYABLE)

    @pytest.mark.requirement("COM-HEALTH-5")
    def test_health_tells_that_the_provider_is_down(self, subject: Subject) -> None:
        """A report made while the provider fails is not `ok` true with status ok."""
        fresh = subject.fresh()
        plan = fresh.client.provider.plan("unavailable", times=MAX_PROVIDER_RETRIES)
        reply = fresh.call("health")
        fresh.faults.fired(plan)
        expect.either(reply, *RETRYABLE)
        if reply.is_success and isinstance(reply.result, dict):
            fine = reply.result.get("ok") is True and reply.result.get("status", "ok") == "ok"
            expect.that(not fine, "a report that something is wrong", "a report that all is well")

    @pytest.mark.requirement("COM-HEALTH-11")
    def test_a_report_does_not_contradict_itself(self, subject: Subject) -> None:
        """`ok` is not false together with status ok, nor true together with status down."""
        stated = [(report.get("ok"), report.get("status")) for report in self.reports(subject)]
        stated = [(ok, status) for ok, status in stated if isinstance(ok, bool) and status in HEALTH_STATES]
        expect.applicable(stated, "no report has both `ok` and `status`")
        for ok, status in stated:
            contradiction = (ok, status) in ((False, "ok"), (True, "down"))
            expect.that(not contradiction, f"`ok` {status != 'down'} with status {status}", f"{ok}", "result.ok")

    def reports(self, subject: Subject) -> list[dict[str, object]]:
        """A plain report, and one that is made while the provider fails, if there is one."""
        found = [self.report(plain_call(subject, "health"))]
        if "provider" in subject.client.hooks:
            down = self.with_provider_down(subject)
            found += [down.result] if down.is_success and isinstance(down.result, dict) else []
        return found

    @staticmethod
    def with_provider_down(subject: Subject, kind: str = "unavailable") -> Reply:
        """The answer of `health` while every call of the provider fails."""
        fresh = subject.fresh()
        fresh.client.provider.plan(kind, times=MAX_PROVIDER_RETRIES)
        return fresh.call("health")

    @staticmethod
    def report(reply: Reply) -> dict[str, object]:
        """The report, where there is one."""
        expect.assessable(not reply.is_error, "the backend is down: health answers with an error")
        result = expect.success(reply, "a health report")
        return result if isinstance(result, dict) else {}
