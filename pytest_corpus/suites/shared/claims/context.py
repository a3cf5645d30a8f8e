"""Tests of the operation context, telemetry and privacy (SPECIFICATION 6.1, 6.4, 13, 15; BC 6.8)."""

import hashlib
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import pytest

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.turns import call_side_by_side
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, invoke_expired, invoke_plain, remembered_by_all
from pytest_corpus.kit.audit import leaks, telemetry
from pytest_corpus.kit.component import Subject, expect_audited
from pytest_corpus.kit.faults import call_with_fault
from pytest_corpus.kit.fixtures import core, operations_for_case, rules
from pytest_corpus.kit.outcomes import Blocked, NotApplicable
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import HOUR_MS, canary, deadline_in, new_trace
from pytest_corpus.spec.errors import BY_KIND, PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.shared.claims.envelopes import call_with_wrong_types, refusals

FAILURES = [fault.kind for fault in BY_KIND.values() if fault.canonical and fault.kind != "hang"]
"""The kinds of faults that a provider can raise."""

PASSING = [kind for kind in FAILURES if BY_KIND[kind].canonical != "AuthError"]
"""The faults that must not affect later calls. Refused credentials may: an adapter may refuse all later calls (R52)."""

PLAIN_DIGESTS = ("sha256", "sha1", "md5", "sha512", "blake2b", "sha3_256")

UNLABELLED = "calls are not labelled with `tenant_hash` (R122)"

TOGETHER_MS = 60
"""The delay of the provider while calls of two tenants overlap."""

LONGER = 80
"""The ids of the two tenants differ in length by this many characters."""

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

_WRONG_VALUES: dict[str, tuple[Any, ...]] = {
    "request_id": (7,),
    "idempotency_key": (["k"],),
    "deadline_ms": ("soon", {}),
    "traceparent": (7,),
    "tenant": (7, ["a"]),
    "attrs": ([], "x"),
}
WRONG_CONTEXT = tuple((key, value) for key, values in _WRONG_VALUES.items() for value in values)

UNKNOWN: dict[str, dict[str, Any]] = {
    "scalar": {"vendor_hint": 1},
    "cache_hints": {"cache_scope": "tenant", "cache_tags": ["a"]},
    "nested": {"x-trace": {"a": [None]}, "": True},
}
"""Context keys that no document defines."""

UNKNOWN_ARGUMENT: dict[str, Any] = {"vendor_hint": {"a": 1}}
"""An argument that no document defines."""

AHEAD_MS = 20_000
"""The least time left in a deadline that the adapter must pass on. This time is longer than an adapter's own limit
for its provider, so the test finds an adapter that replaces the deadline by its limit."""

LONGEST: dict[str, Any] = {
    "request_id": "req~1.a_b:" + "x" * 246,
    "idempotency_key": "clé 1: " + "k" * 249,
    "deadline_ms": 4_102_444_800_000,
    "tenant": "Żółw & 東京 / " + "t" * 244,
}
"""Extreme values that SCHEMA 3.2 allows: the longest texts, unusual scripts, a distant deadline."""

CACHE_SCOPES: dict[str, dict[str, Any]] = {
    **{scope: {"cache_scope": scope} for scope in ("global", "session")},
    "global_in_attrs": {"attrs": {"cache_scope": "global"}},
}
"""Contexts that name a cache scope. No scope may weaken the isolation of tenants (R55)."""

ENDS = ("finished", "refused", "expired", "failed")
"""The ways in which a stream can end."""

REFUSED_BY = {"missing_args": "COM-WIRE-6", "expired": "COM-DEADLINE-1", "wrong_context": "COM-CTX-2"}
"""Maps the mistake in a bad request to the requirement that such a request is refused."""


class TestContext:
    """The documented members of `ctx`, and unknown ones."""

    @core("COM-CTX-1")
    @pytest.mark.parametrize("unknown", UNKNOWN.values(), ids=list(UNKNOWN))
    def test_unknown_context_keys_are_ignored(self, subject: Subject, unknown: dict[str, Any]) -> None:
        """Every operation works with undocumented keys in `ctx`, or refuses them in a run pinned to edition 1.0.0."""
        subject.require(subject.principal)
        for name in subject.working_operations():
            together = call_with_extras(subject, name)
            alone = together.is_error or subject.settings.edition == "1.0.0"
            reply = subject.invoke(name, ctx=unknown) if alone else together
            if refuses_unknown_keys(subject, reply):
                raise NotApplicable("edition 1.0.0 allows no unknown context keys, and the adapter refuses them")
            expect.works(reply, f"{name} to ignore unknown keys in ctx")

    @pytest.mark.requirement("COM-CTX-2")
    @pytest.mark.parametrize(("key", "value"), WRONG_CONTEXT, ids=str)
    def test_a_context_field_of_the_wrong_type_is_refused(self, subject: Subject, key: str, value: Any) -> None:
        """Every operation answers BAD_REQUEST if a documented field of `ctx` has the wrong type."""
        subject.require(subject.principal)
        case = WRONG_CONTEXT.index((key, value))
        for name in subject.working_operations(
            operations_for_case(subject.operations(), subject.principal, case, one_in=len(WRONG_CONTEXT) * 2 // 3)
        ):
            reply = subject.invoke(name, ctx={key: value})
            if name == "capabilities":
                expect.either(reply, "BadRequest")
            else:
                expect.refusal(reply, "BadRequest")

    @core("COM-CTX-3")
    @pytest.mark.parametrize(
        "key", ["request_id", "idempotency_key", "deadline_ms", "traceparent", "tenant", "attrs", "all"]
    )
    def test_every_documented_context_field_is_accepted(self, subject: Subject, key: str) -> None:
        """Every operation accepts each field of `ctx` with a valid value, alone and together with all others."""
        subject.require(subject.principal)
        names = [*subject.working_operations()]
        for name, (together, *_) in zip(
            names, call_side_by_side(partial(call_in_full_context, subject), names), strict=True
        ):
            alone = key != "all" and together.is_error
            ctx = {key: together.exchange.request["ctx"].get(key)}
            expect.works(subject.invoke(name, ctx=ctx) if alone else together, f"{name} to accept ctx.{key}")

    @pytest.mark.requirement("COM-CTX-3")
    @pytest.mark.parametrize("key", LONGEST)
    def test_the_longest_values_of_context_fields_are_accepted(self, subject: Subject, key: str) -> None:
        """Texts of 256 characters in several scripts and a deadline in the year 2100 are accepted.

        A tenant or an idempotency key may be refused permanently (R138).
        """
        subject.require(subject.principal)
        together = cached(
            subject, "longest values", partial(subject.invoke, subject.principal, ctx=LONGEST), common=True
        )
        alone = subject.invoke(subject.principal, ctx={key: LONGEST[key]}) if together.is_error else together
        if key in ("tenant", "idempotency_key"):
            expect.either(alone, *PERMANENT)
        else:
            expect.works(alone, f"any ctx.{key} that the schema allows")

    @pytest.mark.requirement("COM-CTX-4")
    def test_attributes_may_hold_any_json(self, subject: Subject) -> None:
        """`attrs` is opaque, so nested values of every JSON type are accepted."""
        attrs: dict[str, Any] = {"a": None, "b": [1, 2.5, {"c": "ü"}], "d.e": True, "f": {"g": {"h": []}}}
        subject.require(subject.principal)
        expect.works(subject.invoke(subject.principal, ctx={"attrs": attrs}), "attrs of any shape to be accepted")


class TestObservability:
    """Each call is observed once, with true labels."""

    @pytest.mark.core
    @rules(
        "success_observed_once COM-OBS-1, component COM-OBS-4, ok COM-OBS-5, code COM-OBS-6, milliseconds COM-OBS-7, "
        "interface COM-OBS-12, class_name COM-OBS-28"
    )
    def test_an_observation_keeps_the_rule(self, subject: Subject, requirement: str) -> None:
        """The observations of every unary operation, and of a refused call, keep each rule."""
        subject.require(subject.principal)
        replies = [
            invoke_plain(subject, name) for name in subject.working_operations(subject.operations(streaming=False))
        ]
        for reply in (*replies, call_with_wrong_types(subject, subject.principal)):
            expect_audited(requirement, reply, subject)

    @core("COM-OBS-2")
    @pytest.mark.parametrize("failing", ["wrong_types", "missing_args", "expired", "wrong_context"])
    def test_a_failure_is_observed_once(self, subject: Subject, failing: str) -> None:
        """Refused, malformed and expired calls are observed once each."""
        if failing == "wrong_context":
            reply = subject.call(subject.principal, ctx={"deadline_ms": "soon"})
        else:
            reply = dict(zip(("missing_args", "wrong_types", "expired"), refusals(subject)[1:], strict=True))[failing]
        expect.readable(reply)
        with expect.resting_on({**REFUSED_BY, "wrong_types": subject.wrong_type_requirement}[failing]):
            expect.check(reply.is_error, "a refusal", str(reply))
        expect_audited("COM-OBS-2", reply, subject)

    @pytest.mark.requirement("COM-OBS-8")
    def test_a_tenant_is_labelled_by_its_hash(self, subject: Subject) -> None:
        """Every operation that gets a tenant reports `tenant_hash`."""
        subject.require(subject.principal)
        for name in subject.working_operations():
            expect_audited("COM-OBS-8", call_in_full_context(subject, name)[0], subject)

    @pytest.mark.requirement("COM-OBS-9")
    def test_a_tenant_hash_tells_tenants_apart(self, subject: Subject) -> None:
        """A tenant has the same hash in each call, two tenants have different hashes, and no hash is the raw id."""
        subject.require(subject.principal)
        calls_of_one_tenant(subject)
        first, second = tenant_hashes(subject)
        expect.check(first == hashes_of_three_calls(subject)[1], "one hash for one tenant", "two")
        expect.check(first != second, "two hashes for two tenants", "one hash for both")

    @pytest.mark.requirement("COM-OBS-9")
    def test_a_tenant_hash_is_one_in_all_operations(self, subject: Subject) -> None:
        """All operations report the same hash for the same tenant, for every outcome."""
        found = set(filter(None, map(tenant_label, answers_in_full_context(subject))))
        expect.applicable(found, UNLABELLED)
        expect.check(len(found) == 1, "the hash of the tenant in every observation", "another hash")

    @pytest.mark.requirement("COM-OBS-9")
    def test_calls_at_the_same_time_keep_their_tenants_apart(self, subject: Subject) -> None:
        """Concurrent calls of two tenants report their own hash and their own deadline.

        The provider is slow, so that the calls overlap; only the first of them has a deadline.
        """
        tenants = two_tenants(subject)
        hashes = tenant_hashes(subject)
        wanted = sorted(hashes)
        name = subject.principal
        contexts: list[dict[str, Any]] = [{"tenant": tenant} for tenant in tenants]
        contexts[0]["deadline_ms"] = deadline_in(HOUR_MS)
        requests = [subject.envelope(name, subject.requests.distinct(name), ctx) for ctx in contexts]
        subject.client.provider.plan("slow", times=len(tenants), delay_ms=TOGETHER_MS)
        replies = [Reply(exchange) for exchange in subject.send_all(requests)]
        subject.client.provider.clear()
        expect.assessable(all(reply.is_success for reply in replies), Obstacle.NOT_ALL_AT_ONCE)
        seen = [one for reply in replies for one in telemetry.observations_of(reply.exchange)]
        if len(seen) != len(tenants):
            raise Blocked("COM-OBS-1", f"{len(seen)} observations of {len(tenants)} calls")
        found = sorted(str(one.extra.get("tenant_hash")) for one in seen)
        expect.check(found == wanted, "the hash of each tenant", "another hash")
        with expect.resting_on("COM-OBS-10"):
            with_bucket = [one.extra for one in seen if one.extra.get("deadline_bucket") is not None]
            limited = [str(extra.get("tenant_hash")) for extra in with_bucket]
            expect.check(
                limited == hashes[:1],
                "a deadline_bucket for the call with a deadline",
                "another bucket, or none",
                "extra",
            )

    @pytest.mark.requirement("COM-OBS-15")
    def test_a_tenant_hash_is_salted(self, subject: Subject) -> None:
        """The hash of a tenant does not begin like an unsalted digest of its id."""
        tenant, found = two_tenants(subject)[0], tenant_hashes(subject)[0].rpartition(":")[2].lower()
        plain = [hashlib.new(kind, tenant.encode(), usedforsecurity=False) for kind in PLAIN_DIGESTS]
        is_plain = any(digest.hexdigest().startswith(found[: leaks.GRAM]) for digest in plain)
        expect.check(not is_plain, "a salted hash", "the beginning of a plain digest", "extra.tenant_hash")

    @pytest.mark.requirement("COM-OBS-10")
    @pytest.mark.parametrize("left_ms", [None, HOUR_MS, -60_000], ids=["no_deadline", "ample", "expired"])
    def test_a_deadline_is_labelled_when_given(self, subject: Subject, left_ms: int | None) -> None:
        """`deadline_bucket` is reported if the call has a deadline, even an expired one, and only then."""
        subject.require(subject.principal)
        asked = {None: invoke_plain, HOUR_MS: call_with_ample_deadline}.get(left_ms, invoke_expired)
        replies = [asked(subject, name) for name in subject.working_operations()]
        for reply in replies:
            expect_audited("COM-OBS-10", reply, subject)


class TestStreamObservability:
    """Each stream has one observation and one final outcome."""

    @core("COM-OBS-3")
    @pytest.mark.parametrize("outcome", ENDS)
    def test_a_stream_is_observed_once(self, subject: Subject, outcome: str) -> None:
        """Finished, refused, expired and failing streams are observed once each."""
        expect_audited("COM-OBS-3", stream_with_outcome(subject, outcome), subject)

    @core("COM-OBS-11", "EMB-OBS-1")
    @pytest.mark.parametrize("outcome", ENDS)
    def test_the_outcome_of_a_stream_is_counted_once(self, subject: Subject, outcome: str) -> None:
        """Finished, refused, expired and failing streams count one final outcome each."""
        expect_audited(telemetry.count_requirement(subject.component), stream_with_outcome(subject, outcome), subject)


def stream_with_outcome(subject: Subject, outcome: str) -> Reply | StreamReply:
    """Return a stream that ends in one of the ways in `ENDS`."""
    name = subject.principal_stream
    subject.require(name)
    usual = {"finished": invoke_plain, "refused": call_with_wrong_types, "expired": invoke_expired}
    stream = failed_stream(subject) if outcome == "failed" else usual[outcome](subject, name)
    expect.readable(stream)
    return stream


def refuses_unknown_keys(subject: Subject, reply: Reply | StreamReply) -> bool:
    """True if unknown keys in `ctx` were refused, which a run pinned to edition 1.0.0 allows (R134)."""
    return subject.settings.edition == "1.0.0" and reply.is_a("BadRequest")


def context_with_cache_scope(subject: Subject, scope: str) -> dict[str, Any]:
    """Return a context that names a cache scope."""
    ctx = CACHE_SCOPES[scope]
    if (
        "attrs" not in ctx
        and subject.settings.edition
        and refuses_unknown_keys(subject, subject.invoke(subject.principal, ctx=ctx))
    ):
        raise NotApplicable("edition 1.0.0 allows no unknown context keys, and the adapter refuses cache_scope")
    return ctx


def tenant_hashes(subject: Subject) -> list[str]:
    """Return the hashes that the adapter reports for the two tenants."""
    subject.require(subject.principal)
    found, _, other = hashes_of_three_calls(subject)
    expect.applicable(found and other, UNLABELLED)
    expect.check(not {found, other} & set(two_tenants(subject)), "a hash of the tenant", "the raw tenant")
    return [found, other]


@remembered_by_all
def hashes_of_three_calls(subject: Subject) -> list[str]:
    """Return the hashes of three plain calls: two of one tenant, then one of another tenant.

    The first two hashes are read before the third call, because reports may come late and in any order.
    """
    first, again = map(tenant_label, calls_of_one_tenant(subject))
    return [first, again, tenant_label(subject.call(subject.principal, ctx={"tenant": two_tenants(subject)[1]}))]


@remembered_by_all
def calls_of_one_tenant(subject: Subject) -> list[Reply]:
    """Return the answers to two plain calls of the same tenant."""
    ctx = {"tenant": two_tenants(subject)[0]}
    return [subject.call(subject.principal, ctx=ctx) for _ in range(2)]


def two_tenants(subject: Subject) -> tuple[str, str]:
    """Return two tenants whose ids have different lengths, the same throughout the run."""
    found = cached(subject, "two tenants", lambda: (f"t{canary()}", f"t{canary()}{canary(LONGER)}"), common=True)
    subject.shared.tenants.update(found)
    return found


@remembered_by_all
def call_with_extras(subject: Subject, name: str) -> Reply | StreamReply:
    """Send a request with a trace, a deadline, unknown context keys and an unknown argument.

    One request serves the tests of all four additions. If it fails, each test sends a request with only its own
    addition. In a run pinned to edition 1.0.0, unknown context keys are left out, because they may be refused (R134).
    """
    every = {key: value for each in UNKNOWN.values() for key, value in each.items()}
    unknown = {} if subject.settings.edition == "1.0.0" else every
    ctx = {"traceparent": new_trace(), "deadline_ms": new_deadline(), **unknown}
    return subject.invoke(name, {**subject.requests.distinct(name), **UNKNOWN_ARGUMENT}, ctx)


def new_deadline() -> int:
    """Return a deadline that no other request has."""
    return deadline_in(AHEAD_MS + inputs.random_below(AHEAD_MS))


@remembered_by_all
def call_with_ample_deadline(subject: Subject, name: str) -> Reply | StreamReply:
    """Send a request with a full context and an hour left. If it fails, send it with only the deadline."""
    full = call_in_full_context(subject, name)[0]
    return subject.invoke(name, ctx={"deadline_ms": deadline_in(HOUR_MS)}) if full.is_error else full


def tenant_label(reply: Reply | StreamReply) -> str:
    """Return the tenant hash that a call reported, or an empty string (R122)."""
    expect.readable(reply)
    return str(telemetry.single_observation(reply.exchange).extra.get("tenant_hash") or "")


@remembered_by_all
def failed_stream(subject: Subject) -> StreamReply:
    """Return a stream whose provider failed before its first chunk."""
    name = subject.principal_stream
    if "provider" not in subject.client.hooks:
        subject.require(name)
        return subject.stream(name, subject.requests.wrong_types(name))
    return call_with_fault(
        subject, "unavailable", name, lambda fresh: fresh.stream(name, fresh.requests.long(name)), at_chunk=0
    )[1]


def answers_in_full_context(subject: Subject) -> list[Reply | StreamReply]:
    """Return the answers of all operations to valid, refused and expired requests with a full context."""
    subject.require(subject.principal)
    return [*chain(*call_side_by_side(partial(call_in_full_context, subject), subject.working_operations()))]


@remembered_by_all
def call_in_full_context(subject: Subject, name: str) -> list[Reply | StreamReply]:
    """Send a valid, a refused and an expired request with every context member.

    Each member that may be any text is a canary. Operations other than the principal one send either the refused or
    the expired request.
    """
    (tenant, _), note = two_tenants(subject), cached(subject, "note", lambda: canary(24), common=True)
    kinds, replies = [("minimal", HOUR_MS), ("wrong_types", HOUR_MS), ("minimal", -60_000)], []
    if name != subject.principal:
        del kinds[1 + subject.operations().index(name) % 2]
    for args, left_ms in kinds:
        key, identity, trace = canary(24), canary(24), inputs.random_hex(16)
        ctx = {
            "request_id": identity,
            "idempotency_key": key,
            "deadline_ms": deadline_in(left_ms),
            "traceparent": TRACE.replace(TRACE.split("-")[1], trace),
            "tenant": tenant,
            "attrs": {"note": note},
        }
        hidden = {"tenant": tenant, "idempotency key": key, "attribute": note}
        unique = {"request id": identity, "request id of the trace": trace}
        given = getattr(subject.requests, args)(name)
        replies.append(
            subject.invoke(name, given, ctx, secrets={**hidden, **unique}, debug_logs=can_log_debug(subject))
        )
    return replies


def can_log_debug(subject: Subject) -> bool:
    """True if the suite can switch debug logging on, because the adapter runs in this process (R74)."""
    return subject.client.declaration.in_process


def provider_failures(subject: Subject, kind: str) -> list[Reply | StreamReply]:
    """Return the answers of the principal operation and its stream while the provider fails."""
    stream = subject.principal_stream
    names = [subject.principal, *([stream] if stream and subject.works(stream) else [])]
    return [provider_failure(subject, name, kind) for name in names]


@remembered_by_all
def provider_failure(subject: Subject, name: str, kind: str) -> Reply | StreamReply:
    """Send a request full of canaries, with an hour left, while the provider fails."""

    def send(fresh: Subject) -> Reply | StreamReply:
        found = next(each for each in subject.requests.with_canaries(refused=False) if each.op == name)
        own = {"tenant": two_tenants(subject)[0], "idempotency key": canary(24)}
        ctx = {"deadline_ms": deadline_in(HOUR_MS), "tenant": own["tenant"], "idempotency_key": own["idempotency key"]}
        request = replace(found, ctx={**ctx, **found.ctx}, canaries={**found.canaries, **own})
        return fresh.carry_out(request, debug_logs=can_log_debug(subject))

    return call_with_fault(subject, kind, name, send)[1]
