"""Capabilities: their shape and their truth (SPECIFICATION 6.2; BEHAVIORAL_CONFORMANCE 5)."""

import math
import re

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import plain, plain_call
from pytest_corpus.kit.component import Subject, holds
from pytest_corpus.kit.fixtures import core, rules
from pytest_corpus.kit.outcomes import Blocked, Keys, NotApplicable
from pytest_corpus.redaction import word
from pytest_corpus.spec.capabilities import FACTS, KEYS, READ_AFTER_WRITE, REQUIRED, SECTIONS, STRONG
from pytest_corpus.spec.operations import operations_of, protocol_of
from pytest_corpus.spec.words import EXTENSION_KEYS

NAMESPACED = re.compile(r"[^:./][:./].")
"""A key of an extension with a namespace: ``vendor:name``, ``vendor.name`` or ``vendor/name`` (R71)."""


class Consistency:
    """When what was written can be read."""

    @pytest.mark.requirement("COM-READ-1")
    def test_strong_consistency_is_true(self, subject: Subject) -> None:
        """A plain write, and a plain delete, show in the first look at them, where that is claimed."""
        claims = [value for _, value in subject.capabilities.extensions(*READ_AFTER_WRITE)]
        if not any(isinstance(value, str) and value.lower() == STRONG for value in claims):
            raise NotApplicable("strong consistency of reads after writes is not claimed")
        with subject.settling.at_once():
            for shows in subject.settling.trials():
                seen = shows()
                if seen is not None:
                    expect.that(seen, "a write that shows at once", "one that does not show yet")


class Capabilities:
    """The contents of capabilities, and their truth."""

    @core("COM-CAP-1")
    def test_capabilities_answer_with_an_object(self, subject: Subject) -> None:
        """`capabilities` without arguments is a success whose result is an object."""
        reply = plain_call(subject, "capabilities")
        holds("COM-CAP-1", reply, subject, claim="capabilities")

    @core("COM-CAP-2")
    def test_server_version_and_protocol_are_stated(self, subject: Subject) -> None:
        """The three required keys are non-empty strings."""
        for key in REQUIRED:
            value = subject.capabilities.document.get(key)
            expect.that(isinstance(value, str) and value, "a non-empty string", word(value), f"result.{key}")

    @core("COM-CAP-3")
    def test_the_protocol_is_the_components(self, subject: Subject) -> None:
        """`protocol` names the component and version 1.0."""
        wanted = protocol_of(subject.component)
        stated = subject.capabilities.document.get("protocol")
        if not isinstance(stated, str) or not stated:
            raise Blocked("COM-CAP-2", "no protocol is stated")
        expect.that(stated == wanted, wanted, found=stated, path="result.protocol")

    @pytest.mark.requirement("COM-CAP-4")
    def test_facts_have_their_types(self, subject: Subject) -> None:
        """Documented flags are booleans, limits are finite numbers, listings are lists of strings."""
        for section in SECTIONS:
            value = subject.capabilities.document.get(section)
            expect.that(value is None or isinstance(value, dict), "an object", word(value), f"result.{section}")
        for fact in FACTS:
            if subject.component not in fact.components or fact.kind == "text":
                continue
            for path, value in subject.capabilities.stated(fact.name):
                fits = {
                    "flag": isinstance(value, bool),
                    "limit": isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value),
                    "names": isinstance(value, list) and all(isinstance(item, str) for item in value),
                }[fact.kind]
                kind = {"flag": "a boolean", "limit": "a number", "names": "a list of strings"}[fact.kind]
                expect.that(fits, kind, found=value, path=f"result.{path}")

    @pytest.mark.requirement("COM-CAP-5")
    def test_extension_keys_are_namespaced(self, subject: Subject) -> None:
        """Each key under `extensions` begins with a namespace, or stands in the documents."""
        extensions = subject.capabilities.document.get("extensions")
        if not isinstance(extensions, dict) or not extensions:
            raise NotApplicable("there are no extensions")
        bare = [key for key in extensions if not NAMESPACED.search(key) and key not in EXTENSION_KEYS]
        expect.that(not bare, "vendor:name", f"{len(bare)} keys without a namespace", "result.extensions")

    @pytest.mark.requirement("COM-CAP-10")
    def test_new_keys_stand_under_extensions(self, subject: Subject) -> None:
        """At the top, in `features` and in `limits` stand no keys but those that the documents name."""
        document = subject.capabilities.document
        for section in ("", *SECTIONS):
            holder = document.get(section) if section else document
            new = [key for key in holder if key not in KEYS] if isinstance(holder, dict) else []
            expect.that(not new, "new keys under `extensions`", found=Keys(new), path=f"result.{section}".rstrip("."))

    @pytest.mark.requirement("COM-CAP-11")
    @pytest.mark.parametrize("name", ["concurrency", "rate_limit_qps"])
    def test_limits_of_load_are_stated(self, subject: Subject, name: str) -> None:
        """Capabilities say how many calls are taken at once, and in a second."""
        expect.that(subject.capabilities.raw(name) is not None, "a number", "none", f"result.limits.{name}")

    @pytest.mark.requirement("COM-CAP-6")
    def test_an_operation_that_is_not_denied_works(self, subject: Subject) -> None:
        """Every operation that a capability switches on answers a plain request."""
        tried = False
        for operation in operations_of(subject.component):
            claimed = subject.prerequisites.claimed(operation.name)
            if operation.capability is None or claimed is False:
                continue
            if operation.streaming and not subject.client.streams(subject.component):
                continue
            reply = plain(subject, operation.name)
            if claimed is None and reply.is_a("NotSupported"):
                continue
            if excuse := subject.prerequisites.excuse(operation.name, reply):
                if isinstance(excuse, NotApplicable):
                    continue
                raise excuse
            tried = True
            expect.readable(reply)
            flag = next((place for place, _ in subject.capabilities.stated(operation.capability)), operation.capability)
            what = f"{operation.op}, which {flag} {'claims' if claimed else 'does not deny'}"
            expect.that(not reply.is_error, f"{what}, to work", str(reply))
        expect.applicable(tried, "every operation that can be denied is denied, or not offered")

    @rules("refused COM-CAP-7, not_working COM-CAP-8")
    def test_an_operation_that_is_denied_is_not_supported(self, subject: Subject, requirement: str) -> None:
        """An operation that a capability switches off answers NOT_SUPPORTED, and does not work."""
        denied = subject.prerequisites.denied()
        expect.applicable(denied, "capabilities deny no operation")
        for name in denied:
            reply = plain(subject, name)
            fails = not expect.either(reply, "NotSupported") if requirement == "COM-CAP-7" else reply.is_error
            expect.readable(reply)
            expect.that(fails or requirement == "COM-CAP-7", "NOT_SUPPORTED, as capabilities say", str(reply))


class StreamingClaim:
    """The streaming entry point."""

    @pytest.mark.requirement("COM-CAP-9")
    def test_claimed_streaming_has_its_door(self, subject: Subject) -> None:
        """If `supports_streaming` is true, there is a `handle_stream`."""
        expect.applicable(subject.capabilities.flag("supports_streaming") is True, "streaming is not claimed")
        expect.that(subject.client.streams(subject.component), "a handle_stream", "none")
