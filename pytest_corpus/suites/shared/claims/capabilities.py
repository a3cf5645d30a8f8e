"""Tests of the form and truth of capabilities, models and health (SPECIFICATION 4.2.6, 6.2, 7.6; R13, R35, R132)."""

import itertools
import math
import re
from collections.abc import Mapping
from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import invoke_plain, plain_call
from pytest_corpus.kit.component import Subject, expect_audited
from pytest_corpus.kit.faults import MAX_PROVIDER_RETRIES
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.judgement import look_at_capabilities
from pytest_corpus.kit.outcomes import Blocked, Keys, NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.capabilities import FACTS, KEYS, READ_AFTER_WRITE, REQUIRED, SECTIONS, STRONG
from pytest_corpus.spec.errors import UNKNOWN_MODEL
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import operations_of, protocol_of
from pytest_corpus.spec.words import EXTENSION_KEYS, HEALTH_STATES
from pytest_corpus.suites.shared.claims.tokens import ListedModels

NAMESPACED = re.compile(r"[^:./][:./].")
"""Matches an extension key with a namespace: ``vendor:name``, ``vendor.name`` or ``vendor/name`` (R71)."""


class TestConsistency:
    """Reads after writes."""

    @pytest.mark.requirement("COM-READ-1")
    def test_strong_consistency_is_true(self, subject: Subject) -> None:
        """If strong consistency is claimed, the first read after a plain write or delete shows the effect."""
        claims = [value for _, value in subject.capabilities.extensions(*READ_AFTER_WRITE)]
        if not any(isinstance(value, str) and value.lower() == STRONG for value in claims):
            raise NotApplicable("strong consistency of reads after writes is not claimed")
        with subject.settling.reading_at_once():
            for shows in subject.settling.trials():
                seen = shows()
                if seen is not None:
                    expect.check(seen, "a write that is visible at once", "a write that is not visible yet")


class TestCapabilities:
    """The document that `capabilities` returns."""

    @core("COM-CAP-1")
    def test_capabilities_answer_with_an_object(self, subject: Subject) -> None:
        """`capabilities` without arguments is a success whose result is an object."""
        reply = plain_call(subject, "capabilities")
        expect_audited("COM-CAP-1", reply, subject, claim="capabilities")

    @core("COM-CAP-2")
    def test_server_version_and_protocol_are_stated(self, subject: Subject) -> None:
        """The three required keys are non-empty strings."""
        look_at_capabilities(subject.capabilities)
        for key in REQUIRED:
            value = subject.capabilities.document.get(key)
            expect.check(isinstance(value, str) and value, "a non-empty string", describe_word(value), f"result.{key}")

    @core("COM-CAP-3")
    def test_the_protocol_is_the_components(self, subject: Subject) -> None:
        """`protocol` names this component and version 1.0."""
        look_at_capabilities(subject.capabilities)
        wanted = protocol_of(subject.component)
        stated = subject.capabilities.document.get("protocol")
        if not isinstance(stated, str) or not stated:
            raise Blocked("COM-CAP-2", "no protocol is stated")
        expect.check(stated == wanted, wanted, found=stated, path="result.protocol")

    @pytest.mark.requirement("COM-CAP-4")
    def test_facts_have_their_types(self, subject: Subject) -> None:
        """Documented flags are booleans, limits are finite numbers, listings are lists of strings."""
        look_at_capabilities(subject.capabilities)
        for section in SECTIONS:
            value = subject.capabilities.document.get(section)
            expect.check(
                value is None or isinstance(value, dict), "an object", describe_word(value), f"result.{section}"
            )
        for fact in FACTS:
            if subject.component not in fact.components or fact.kind == "text":
                continue
            for path, value in subject.capabilities.stated_places(fact.name):
                fits = {
                    "flag": isinstance(value, bool),
                    "limit": isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
                    "names": isinstance(value, list) and all(isinstance(item, str) for item in value),
                }[fact.kind]
                kind = {"flag": "a boolean", "limit": "a number", "names": "a list of strings"}[fact.kind]
                expect.check(fits, kind, found=value, path=f"result.{path}")

    @pytest.mark.requirement("COM-CAP-5")
    def test_extension_keys_are_namespaced(self, subject: Subject) -> None:
        """Each key under `extensions` has a namespace or is a documented key."""
        look_at_capabilities(subject.capabilities)
        extensions = subject.capabilities.document.get("extensions")
        if not isinstance(extensions, dict) or not extensions:
            raise NotApplicable("there are no extensions")
        bare = [key for key in extensions if not NAMESPACED.search(key) and key not in EXTENSION_KEYS]
        expect.check(not bare, "vendor:name", f"{len(bare)} keys without a namespace", "result.extensions")

    @pytest.mark.requirement("COM-CAP-10")
    def test_new_keys_stand_under_extensions(self, subject: Subject) -> None:
        """The top level, `features` and `limits` have documented keys only."""
        look_at_capabilities(subject.capabilities)
        document = subject.capabilities.document
        for section in ("", *SECTIONS):
            holder = document.get(section) if section else document
            new = [key for key in holder if key not in KEYS] if isinstance(holder, dict) else []
            expect.check(not new, "new keys under `extensions`", found=Keys(new), path=f"result.{section}".rstrip("."))

    @pytest.mark.requirement("COM-CAP-11")
    @pytest.mark.parametrize("name", ["concurrency", "rate_limit_qps"])
    def test_limits_of_load_are_stated(self, subject: Subject, name: str) -> None:
        """Capabilities state how many calls are accepted at once and per second."""
        look_at_capabilities(subject.capabilities)
        expect.check(subject.capabilities.raw(name) is not None, "a number", "no number", f"result.limits.{name}")

    @pytest.mark.requirement("COM-CAP-6")
    def test_an_operation_that_is_not_denied_works(self, subject: Subject) -> None:
        """Every operation that capabilities do not deny answers a plain request."""
        tried, broken = False, None
        for operation in operations_of(subject.component):
            claimed = subject.prerequisites.claim_of(operation.name)
            if operation.capability is None or claimed is False:
                continue
            if operation.streaming and not subject.client.instance.has_stream(subject.component):
                continue
            reply = invoke_plain(subject, operation.name)
            if claimed is None and reply.is_a("NotSupported"):
                continue
            if excuse := subject.prerequisites.reason_not_to_judge(operation.name, reply):
                if isinstance(excuse, NotApplicable):
                    continue
                raise excuse
            tried = True
            expect.readable(reply)
            flag = next(
                (place for place, _ in subject.capabilities.stated_places(operation.capability)), operation.capability
            )
            if reply.is_error and operation.works != "COM-CAP-6" and not reply.is_a("NotSupported"):
                broken = broken or Blocked(operation.works, str(reply), judged_on=(reply.exchange,))
                continue
            what = f"{operation.op}, which {flag} {'claims' if claimed else 'does not deny'}"
            expect.check(not reply.is_error, f"{what}, to work", str(reply))
        if broken:
            raise broken
        expect.applicable(tried, "every operation that capabilities can deny is denied or not offered")

    @rules("refused COM-CAP-7, not_working COM-CAP-8")
    def test_an_operation_that_is_denied_is_not_supported(self, subject: Subject, requirement: str) -> None:
        """An operation that capabilities deny answers NOT_SUPPORTED and does not work."""
        denied = subject.prerequisites.denied_operations()
        expect.applicable(denied, "capabilities deny no operation")
        for name in denied:
            reply = invoke_plain(subject, name)
            fails = not expect.either(reply, "NotSupported") if requirement == "COM-CAP-7" else reply.is_error
            expect.readable(reply)
            expect.check(fails or requirement == "COM-CAP-7", "NOT_SUPPORTED, as capabilities say", str(reply))


class TestStreamingClaim:
    """The streaming entry point."""

    @pytest.mark.requirement("COM-CAP-9")
    def test_claimed_streaming_has_its_door(self, subject: Subject) -> None:
        """If `supports_streaming` is true, there is a `handle_stream`."""
        expect.applicable(subject.capabilities.flag("supports_streaming") is True, "streaming is not claimed")
        expect.check(subject.client.instance.has_stream(subject.component), "a handle_stream", "no handle_stream")


MOST_LISTED = 20
"""The suite calls at most this many listed models; a catalogue may have hundreds."""


class TestModels:
    """The models of the principal operation, which is `complete` or `embed`."""

    @core("LLM-MODEL-1", "EMB-MODEL-1")
    def test_every_listed_model_works(self, subject: ListedModels) -> None:
        """Each listed model answers a plain request, and the first one answers a second request too."""
        name = subject.principal
        subject.require(name)
        for number, model in enumerate(subject.models()[:MOST_LISTED]):
            expect.works(subject.ask_model_once(name, model), "an answer of every listed model")
            if not number:
                expect.works(
                    subject.call(name, {**subject.requests.distinct(name), "model": model}),
                    "a second answer of the first listed model",
                )

    @core("LLM-MODEL-2", "EMB-MODEL-2")
    def test_an_unknown_model_is_refused(self, subject: ListedModels) -> None:
        """A model that is not listed is refused permanently, even if a listed model has answered the same request."""
        subject.require(subject.principal)
        for model in subject.unknown_models():
            expect.refusal(invoke_with_model(subject, subject.principal, model), *UNKNOWN_MODEL)

    @pytest.mark.requirement("LLM-MODEL-4", "EMB-MODEL-5")
    def test_the_refusal_of_an_unknown_model_names_it(self, subject: ListedModels) -> None:
        """`details.model` is the model that the request named."""
        subject.require(subject.principal)
        model = subject.unknown_model()
        reply = invoke_with_model(subject, subject.principal, model)
        with expect.resting_on(subject.unknown):
            expect.refusal(reply, *UNKNOWN_MODEL)
        named = reply.details.get("model")
        expect.check(named == model, "the requested model", "another model, or none", "details.model")

    @core("LLM-MODEL-3", "EMB-MODEL-4")
    def test_an_unknown_model_does_not_stream(self, subject: ListedModels) -> None:
        """A model that is not listed is refused permanently."""
        subject.require(subject.principal_stream, subject.principal)
        for model in subject.unknown_models():
            expect.refusal(invoke_with_model(subject, subject.principal_stream, model), *UNKNOWN_MODEL)

    @pytest.mark.requirement("LLM-STREAM-5", "EMB-STREAM-5")
    def test_every_listed_model_streams(self, subject: ListedModels) -> None:
        """Each listed model streams the answer to a plain request."""
        for stream in streams_of_models(subject):
            expect.finished(stream, "a stream by every listed model")

    @pytest.mark.requirement("LLM-STREAM-7", "EMB-STREAM-6")
    def test_a_chunk_names_the_model_asked_for(self, subject: ListedModels) -> None:
        """If a chunk, or an embedding in the chunk, names a model, this is the requested model."""
        for stream in streams_of_models(subject):
            chunks = expect.finished(stream, "a stream by every listed model").chunks
            inner = [chunk["embeddings"] for chunk in chunks if isinstance(chunk.get("embeddings"), list)]
            naming = [each for each in (*chunks, *itertools.chain(*inner)) if isinstance(each, Mapping)]
            named = [each["model"] for each in naming if each.get("model") is not None]
            expect.applicable(named, "no model is named")
            others = [each for each in named if each != stream.exchange.request["args"]["model"]]
            expect.check(not others, "the requested model", f"{len(others)} other models", "chunk.model")


class TestModelLabels:
    """Models as labels of metrics."""

    @pytest.mark.requirement("COM-OBS-13")
    def test_an_unknown_model_is_no_label(self, subject: ListedModels) -> None:
        """The name of an unlisted model does not become a label of any operation."""
        model = subject.unknown_model()
        hidden = {"model": model.rpartition("-")[2]}
        names = [name for name in subject.working_operations() if "model" in subject.requests.minimal(name)]
        replies = [invoke_with_model(subject, name, model, secrets=hidden) for name in names]
        expect.applicable(replies, "no operation that names a model is offered and works")
        for reply in replies:
            expect_audited("COM-OBS-13", reply, subject)


def invoke_with_model(subject: ListedModels, name: str, model: str, **options: Any) -> Reply | StreamReply:
    """Send a plain request of an operation to this model."""
    return subject.invoke(name, {**subject.requests.minimal(name), "model": model}, **options)


def streams_of_models(subject: ListedModels) -> list[StreamReply]:
    """Return one stream for each listed model that streams; each is requested once a run."""
    name = subject.principal_stream
    subject.require(name)
    subject.models()
    found = [subject.ask_model_once(name, model) for model in subject.models_able_to(name)]
    return [stream for stream in found if isinstance(stream, StreamReply)]


RETRYABLE = ("ResourceExhausted", "TransientNetwork", "Unavailable")
DOWN = ("unavailable", "network", "overloaded")


class TestHealth:
    """The answers of `health`, both in normal operation and while the backend is down."""

    @core("COM-HEALTH-1")
    def test_health_answers(self, subject: Subject) -> None:
        """`health` returns an object, or an error for a backend that is down."""
        reply = plain_call(subject, "health")
        expect.either(reply, *RETRYABLE)
        expect_audited("COM-HEALTH-1", reply, subject)

    @pytest.mark.requirement("COM-HEALTH-2")
    def test_a_report_says_how_things_are(self, subject: Subject) -> None:
        """A report has a boolean `ok`, a documented `status`, a `server` and a `version`."""
        report = self.report(plain_call(subject, "health"))
        expect.check(isinstance(report.get("ok"), bool), "a boolean", describe_word(report.get("ok")), "result.ok")
        expect.check(
            report.get("status") in HEALTH_STATES,
            " or ".join(HEALTH_STATES),
            "another status, or none",
            "result.status",
        )
        for key in ("server", "version"):
            value = report.get(key)
            expect.check(isinstance(value, str) and value, "a non-empty string", describe_word(value), f"result.{key}")

    @pytest.mark.requirement("COM-HEALTH-3")
    def test_a_bad_report_gives_a_reason(self, subject: Subject) -> None:
        """A report with the status degraded or down gives a `reason`."""
        bad = [report for report in self.reports(subject) if report.get("status") in HEALTH_STATES[1:]]
        expect.applicable(bad, "no report was degraded or down")
        for report in bad:
            expect.check(report.get("reason"), "a reason", "no reason", "result.reason")

    @pytest.mark.requirement("COM-HEALTH-4")
    @pytest.mark.parametrize("kind", DOWN)
    def test_health_answers_while_the_provider_is_down(self, subject: Subject, kind: str) -> None:
        """While the provider fails, `health` returns a report or a retryable error."""
        expect.either(self.call_with_provider_down(subject, kind), *RETRYABLE)

    @pytest.mark.requirement("COM-HEALTH-5")
    def test_health_tells_that_the_provider_is_down(self, subject: Subject) -> None:
        """While the provider fails, no report has `ok` true together with the status ok."""
        fresh = subject.fresh()
        plan = fresh.client.provider.plan("unavailable", times=MAX_PROVIDER_RETRIES)
        reply = fresh.call("health")
        fresh.faults.require_fired(plan)
        expect.either(reply, *RETRYABLE)
        if reply.is_success and isinstance(reply.result, dict):
            fine = reply.result.get("ok") is True and reply.result.get("status", "ok") == "ok"
            expect.check(not fine, "a report of a problem", "a report without a problem")

    @pytest.mark.requirement("COM-HEALTH-11")
    def test_a_report_does_not_contradict_itself(self, subject: Subject) -> None:
        """`ok` is not false if the status is ok, and not true if the status is down."""
        stated = [(report.get("ok"), report.get("status")) for report in self.reports(subject)]
        stated = [(ok, status) for ok, status in stated if isinstance(ok, bool) and status in HEALTH_STATES]
        expect.applicable(stated, "no report has both `ok` and `status`")
        for ok, status in stated:
            contradiction = (ok, status) in ((False, "ok"), (True, "down"))
            expect.check(not contradiction, f"`ok` {status != 'down'} with status {status}", f"{ok}", "result.ok")

    def reports(self, subject: Subject) -> list[dict[str, object]]:
        """Return a plain report, and (if faults can be planned) a report that was made while the provider fails."""
        found = [self.report(plain_call(subject, "health"))]
        if "provider" in subject.client.hooks:
            down = self.call_with_provider_down(subject)
            found += [down.result] if down.is_success and isinstance(down.result, dict) else []
        return found

    @staticmethod
    def call_with_provider_down(subject: Subject, kind: str = "unavailable") -> Reply:
        """Call `health` while every call of the provider fails."""
        fresh = subject.fresh()
        fresh.client.provider.plan(kind, times=MAX_PROVIDER_RETRIES)
        return fresh.call("health")

    @staticmethod
    def report(reply: Reply) -> dict[str, object]:
        """Return the report in an answer. Raises Blocked if the report is not an object."""
        expect.assessable(not reply.is_error, Obstacle.BACKEND_DOWN)
        result = expect.success(reply, "a health report")
        if not isinstance(result, dict):
            raise Blocked("COM-HEALTH-1", "the report is not an object", judged_on=(reply.exchange,))
        return result
