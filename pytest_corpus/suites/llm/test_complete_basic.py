"""Completions and their parameters (BEHAVIORAL_CONFORMANCE 5.3; SPECIFICATION 8.3; SCHEMA 4.1.2)."""

from typing import Any

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, context_with_key, plain_call
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.fixtures import core, deciding, rules, subject
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.requests import deadline_in
from pytest_corpus.kit.vocabulary import texts
from pytest_corpus.spec.errors import FILTERED, PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.llm.support.answers import completion_tokens
from pytest_corpus.suites.llm.support.capabilities import MOST_MODELS, OPTIONAL, exceeds_unstated_window
from pytest_corpus.suites.llm.support.component import LLM, SCRIPTS, llm
from pytest_corpus.suites.llm.support.requests import WEATHER, user_message
from pytest_corpus.suites.llm.support.scenarios import completions
from pytest_corpus.suites.shared.claims import replays
from pytest_corpus.suites.shared.claims.capabilities import TestModels
from pytest_corpus.suites.shared.claims.context import CACHE_SCOPES, context_with_cache_scope
from pytest_corpus.suites.shared.claims.replays import TestAnswerReplays
from pytest_corpus.suites.shared.contexts import new_key_context, new_tenant_context, similar_tenant_contexts

BEGUN = {
    **dict.fromkeys(("last_message", "shorter", "order"), "turns"),
    **dict.fromkeys(("name", "letter_case", "spaces"), "one"),
}
"""Maps a kind of similar conversation to the name of the conversation that is cached first."""

ALIKE = (*BEGUN, "joined", "role", "far_end", "normal_form")
"""All kinds of similar conversations."""

CUT = 3
"""A text counts as cut off if a text without `max_tokens` is at least this many times as long."""

ROOM = 64
"""A `max_tokens` that a short answer does not use up."""

MOST_WORDS, LONG = 64, 100
"""A number above the number of words in the vocabulary. Words of `LONG` or more characters are left out."""

RULES = "Answer in plain words. Be brief and friendly. Never mention the weather, the news or the time of day."
"""A long system message."""


@core("LLM-COMPLETE-1")
def test_a_plain_request_is_completed(llm: LLM) -> None:
    """One user message is answered with a completion that is valid under its schema."""
    reply = plain_call(llm, "complete")
    expect_audited("LLM-COMPLETE-1", reply, llm, claim="a completion of a plain request")


@deciding("operation", complete="LLM-COMPLETE-1", stream="LLM-STREAM-1")
def test_a_prompt_in_any_script_is_answered(llm: LLM, operation: str) -> None:
    """`complete` and `stream` accept letters, marks and signs of any script, and unusual words.

    A content filter may refuse words that look like an attack (ERRORS 6.1).
    """
    llm.require(operation)
    every = " ".join([SCRIPTS, *(word for word in texts(MOST_WORDS) if len(word) < LONG)])
    prompts = (every, " ".join([SCRIPTS, *texts(4)]), SCRIPTS)
    reply = llm.ask(operation, messages=[user_message(next(filter(llm.can_take_text, prompts), SCRIPTS))])
    if reply.is_a(*FILTERED) or exceeds_unstated_window(llm, reply):
        reply = llm.ask(operation, messages=[user_message(SCRIPTS)])
    llm.require_fit(reply)
    expect.works(reply, "an answer to a prompt in several scripts")


@rules("schema LLM-COMPLETE-1, streamed LLM-STREAM-1, terminal COM-STREAM-6")
def test_an_answer_without_room_for_text_is_of_the_schema(llm: LLM, requirement: str) -> None:
    """If `max_tokens` 0 is not refused, the answer is valid under its schema, and a stream ends."""
    operation = "complete" if requirement == "LLM-COMPLETE-1" else "stream"
    llm.require(operation)
    reply = llm.ask_once(operation, max_tokens=0)
    expect.either(reply, *PERMANENT)
    expect_audited(requirement, reply, llm)


@pytest.mark.core
@rules("finish_reason LLM-COMPLETE-2, totals LLM-COMPLETE-3, tool_calls LLM-COMPLETE-9, tokens LLM-COMPLETE-10")
@pytest.mark.parametrize("changed", [{}, {"max_tokens": 1}, {"max_tokens": 64}], ids=["plain", "cut", "ample"])
def test_a_completion_of_any_length_keeps_the_rule(llm: LLM, changed: dict[str, Any], requirement: str) -> None:
    """A completion has a documented finish reason, the tool call if the reason names one, and a usage that adds up."""
    llm.require("complete")
    reply = llm.complete_once(**{name: llm.limit(value) for name, value in changed.items()})
    llm.require_fit(reply)
    completions.require_completion(llm, reply)
    expect_audited(requirement, reply, llm)


@core("LLM-COMPLETE-4")
@pytest.mark.parametrize(
    ("limit", "others"),
    [(1, "alone"), (0, "alone"), (2, "all_arguments"), (2, "temperature"), (2, "tools"), (2, "every_model")],
)
def test_max_tokens_is_honoured(llm: LLM, limit: int, others: str) -> None:
    """A completion has at most `max_tokens` tokens, for each listed model and with other arguments."""
    llm.require("complete")
    if others == "every_model":
        for model in llm.models_able_to("complete"):
            completions.expect_at_most(llm, limit, model=model)
        return
    given: dict[str, Any] = {}
    if others == "temperature":
        given = {"temperature": completions.cold_arguments(llm).get("temperature")}
    elif others == "tools":
        usable = completions.can_use_tools(llm) and not llm.has_small_limit
        expect.applicable(usable, "tools are not claimed for this model, or the window is small")
        given = {"tools": [WEATHER]}
    elif others == "all_arguments":
        given = completions.accepted_arguments(llm, "all")
    completions.expect_at_most(llm, limit, **given)


@pytest.mark.requirement("LLM-COMPLETE-8")
def test_a_completion_that_was_cut_says_so(llm: LLM) -> None:
    """If two values of `max_tokens` cut a long text off, at least one completion has the finish reason "length"."""
    limits = sorted({llm.limit(1), llm.limit(2)})
    whole_text = completions.text_and_reason(llm)[0]
    cut = [completions.text_and_reason(llm, max_tokens=limit) for limit in limits]
    if not all(text and CUT * len(text) <= len(whole_text) for text, _ in cut):
        raise NotApplicable("a completion without `max_tokens` is not much longer than one with it")
    reasons = [reason for _, reason in cut]
    expect.check("length" in reasons, "length", found=reasons[0], path="result.finish_reason")


@pytest.mark.requirement("LLM-COMPLETE-8")
def test_a_completion_with_room_left_was_not_cut(llm: LLM) -> None:
    """A text that is far below its limits and shorter than other texts does not have the finish reason "length"."""
    llm.require("complete")
    limit = llm.limit(ROOM)
    reply = llm.complete_once(max_tokens=limit)
    llm.require_fit(reply)
    completions.require_completion(llm, reply)
    usage = reply.result["usage"]
    spent, total = completion_tokens(usage), usage["total_tokens"]
    if spent is None or 2 * spent > limit or 2 * total > (llm.capabilities.context_window(llm.model) or 2 * total):
        raise NotApplicable(
            "the completion uses more than half of `max_tokens` or of the window, or states no token count"
        )
    reason = reply.result["finish_reason"]
    if reason == "length":
        uncut = completions.find_uncut(llm, reply, max_tokens=limit)
        reply = expect.applicable(uncut, "the model may have a lower maximum than `max_tokens`")
    expected = "a reason other than length"
    expect.check(reason != "length", expected, found=reason, path="result.finish_reason", on=[reply])


@pytest.mark.requirement("LLM-COMPLETE-11")
@pytest.mark.parametrize("way", ["argument", "message"])
def test_a_system_message_is_counted(llm: LLM, way: str) -> None:
    """A long system message increases `usage.prompt_tokens`."""
    llm.require("complete")
    if llm.capabilities.flag("supports_system_message") is not True or llm.has_small_limit:
        raise NotApplicable("system messages are not claimed, or the window is small")
    given: dict[str, Any] = {"system_message": RULES}
    if way == "message":
        given = {"messages": [{"role": "system", "content": RULES}, user_message("hi")]}
        expect.applicable(llm.capabilities.flag("supports_roles") is True, "roles are not claimed")
    without, reply = llm.complete_once(), llm.complete_once(**given)
    for each in (without, reply):
        completions.require_completion(llm, each)
    sizes = [each.result["usage"]["prompt_tokens"] for each in (without, reply)]
    expect.check(sizes[1] > sizes[0], f"more than {sizes[0]} tokens", f"{sizes[1]}", "result.usage.prompt_tokens")


@pytest.mark.requirement("LLM-COMPLETE-5")
def test_the_result_names_the_model_asked_for(llm: LLM) -> None:
    """If a request names a listed model, so does the result."""
    llm.require("complete")
    for model in llm.models()[:MOST_MODELS]:
        reply = llm.complete_once(model=model)
        with expect.resting_on("LLM-MODEL-1"):
            result = expect.success(reply, "a completion by every listed model")
        expect.check(
            result.get("model") == model, "the requested model", found=result.get("model"), path="result.model"
        )


@pytest.mark.requirement("LLM-COMPLETE-6")
@pytest.mark.parametrize("name", [*OPTIONAL, "all"])
def test_optional_arguments_are_accepted(llm: LLM, name: str) -> None:
    """Valid optional arguments are accepted, alone and together; unclaimed ones may be refused permanently."""
    llm.require("complete")
    reply = completions.call_with_accepted_arguments(llm, name, "complete")
    llm.require_fit(reply)
    expect.works(reply, f"{name} to be accepted")


@pytest.mark.requirement("LLM-COMPLETE-7")
@pytest.mark.parametrize("name", ["complete", "stream", "count_tokens"])
def test_the_model_may_be_left_out(llm: LLM, name: str) -> None:
    """A request without `model` uses a default model."""
    llm.require(name)
    args = llm.requests.minimal(name)
    args.pop("model", None)
    expect.works(llm.invoke(name, args), f"{name} to work without `model`")


@pytest.mark.requirement("LLM-CONTEXT-1")
@pytest.mark.parametrize("where", [
    "message", "first_message", "answer", "all_messages", "system_message", "max_tokens", "other_models",
])  # fmt: skip
def test_a_prompt_beyond_the_window_is_refused(llm: LLM, where: str) -> None:
    """A prompt that exceeds the stated context length is refused, even if only one part of it is long."""
    llm.require("complete")
    for request in completions.requests_beyond_window(llm, where):
        reply = llm.complete_once(**request)
        completions.require_overrun(llm, reply.result if reply.is_success else None)
        expect.refusal(reply, "BadRequest")


@pytest.mark.requirement("LLM-CONTEXT-4")
def test_a_prompt_well_within_the_window_is_accepted(llm: LLM) -> None:
    """A prompt of less than half the stated context length is completed."""
    llm.require("complete")
    reply = llm.complete(messages=[user_message(llm.half_window_text())], max_tokens=llm.limit(1))
    expect.success(reply, "a completion of a prompt that fits the window")


@rules("numbers LLM-CONTEXT-3, model LLM-CONTEXT-5")
@pytest.mark.parametrize("where", ["message", "max_tokens"])
def test_a_prompt_beyond_the_window_is_explained(llm: LLM, where: str, requirement: str) -> None:
    """A prompt beyond the window is refused as PromptTooLong; `details` state the limit, the length and the model."""
    llm.require("complete")
    reply = llm.complete_once(**completions.requests_beyond_window(llm, where)[0])
    completions.require_refused_prompt(llm, reply)
    if requirement == "LLM-CONTEXT-5":
        given = reply.details.get("model")
        known = isinstance(given, str) and given in (llm.capabilities.models or (given,))
        expect.check(known, "the name of the model", found=given, path="details.model")
        return
    expect.refusal(reply, "PromptTooLong")
    for key in ("max_context_length", "provided_tokens"):
        expect.check(isinstance(reply.details.get(key), int), "a number of tokens", "no number", f"details.{key}")


@pytest.mark.requirement("LLM-CACHE-1")
def test_other_messages_are_another_request(llm: LLM) -> None:
    """At temperature 0, new messages are not answered from the cache."""
    completions.expect_own_answer(
        llm, *({**completions.cold_arguments(llm), "messages": [user_message(llm.unique())]} for _ in range(2))
    )


@pytest.mark.requirement("LLM-CACHE-1")
@pytest.mark.parametrize(
    ("operation", "kind"), [*(("complete", kind) for kind in ALIKE), ("stream", "last_message"), ("stream", "role")]
)
def test_messages_that_resemble_each_other_are_other_messages(llm: LLM, operation: str, kind: str) -> None:
    """Messages get their own answer if they differ from cached ones only in a letter, the end, the order or a role."""
    begun = BEGUN.get(kind)
    text = cached(llm, ("prompt", begun, operation), llm.unique) if begun else llm.unique()
    one, other = completions.similar_conversations(llm, text, kind)
    messages = [{**completions.cold_arguments(llm, operation), "messages": each} for each in (one, other)]
    binding = kind not in ("role", "normal_form") and completions.takes_conversations(llm)
    completions.expect_own_answer(llm, *messages, operation=operation, binding=binding, shares_first=bool(begun))


@pytest.mark.requirement("LLM-CACHE-1")
def test_a_repeated_request_is_answered_like_the_first(llm: LLM) -> None:
    """A repeated request, which may be answered from the cache, gets a valid completion too."""
    llm.require("complete")
    expect.applicable(llm.capabilities.claims_caching, "caching is not claimed")
    args = {**completions.cold_arguments(llm), "messages": [user_message(llm.unique())]}
    for _ in range(2):
        reply = llm.call("complete", args)
        llm.require_fit(reply)
        expect_audited("LLM-COMPLETE-1", reply, llm, claim="a completion")


@pytest.mark.requirement("COM-DEADLINE-1")
def test_an_expired_request_is_refused_however_often_it_was_answered(llm: LLM) -> None:
    """An expired request is refused even if the cache has its answer."""
    llm.require("complete")
    args = {**completions.cold_arguments(llm), "messages": [user_message(llm.unique())]}
    llm.call("complete", args)
    reply = llm.call("complete", args, {"deadline_ms": deadline_in(-60_000)})
    expect.refusal(reply, "DeadlineExceeded")


@pytest.mark.requirement("LLM-CACHE-2")
@pytest.mark.parametrize("name", ["model", "tools", "tool_choice", *OPTIONAL])
def test_other_arguments_are_another_request(llm: LLM, name: str) -> None:
    """At temperature 0, a request that differs in one argument is not answered from the cache."""
    llm.require("complete")
    text = cached(llm, "a cached prompt", llm.unique)
    args = {**completions.cold_arguments(llm), "messages": [user_message(text)]}
    if name == "model":
        others = [model for model in llm.models() if model != args["model"]]
        expect.applicable(others, "fewer than two models are listed")
        changed = {**args, "model": others[0]}
    elif name in ("tools", "tool_choice"):
        expect.applicable(llm.settings.edition != "1.0.0", "edition 1.0.0 has no place for tool calls in a completion")
        chosen = llm.capabilities.flag("supports_tool_choice") is True or name == "tools"
        if not completions.can_use_tools(llm) or not chosen:
            raise NotApplicable(f"{name} is not claimed for this model")
        args.pop("max_tokens", None)  # a limit could cut a tool call off
        if name == "tool_choice":
            args = {**args, "tools": [WEATHER], "tool_choice": "none"}
        changed = {**args, "tools": [WEATHER], **({"tool_choice": "required"} if name == "tool_choice" else {})}
    else:
        given = completions.accepted_arguments(llm, name)
        changed = {**args, **({name: llm.other_limit("complete")} if name == "max_tokens" else given)}
        expect.applicable(
            name != "stop_sequences" or not completions.ignores_stop_sequences(llm), "stop_sequences are ignored"
        )
    completions.expect_own_answer(llm, args, changed, shares_first=name != "tool_choice", binding=name not in OPTIONAL)


@pytest.mark.requirement("LLM-CACHE-3")
@pytest.mark.parametrize("operation", ["complete", "stream"])
def test_a_sampled_completion_is_not_cached(llm: LLM, operation: str) -> None:
    """At the highest temperature, a repeated request calls the provider again."""
    expect.applicable(llm.accepts_argument("temperature"), "temperature is not offered")
    high = llm.range_of("temperature")[1]
    expect.applicable(llm.accepts(operation, temperature=high), f"a temperature of {high:g} is refused permanently")
    args = {**llm.requests.args(temperature=high), "messages": [user_message(llm.unique())]}
    completions.expect_own_answer(llm, args, args, operation=operation)


@pytest.mark.requirement("COM-CACHE-1")
@pytest.mark.parametrize("operation", ["complete", "stream"])
def test_a_cached_answer_stays_with_its_tenant(llm: LLM, operation: str) -> None:
    """The same request of a tenant with a similar name is not answered from the cache."""
    args = {**completions.cold_arguments(llm, operation), "messages": [user_message(llm.unique())]}
    for number in (0, 1) if operation == "complete" else (2,):
        completions.expect_own_answer(llm, args, args, *similar_tenant_contexts(llm, number), operation=operation)


@pytest.mark.requirement("COM-CACHE-2")
@pytest.mark.parametrize(
    ("operation", "scope"), [*(("complete", scope) for scope in CACHE_SCOPES), ("stream", "global")]
)
def test_a_cache_scope_does_not_share_answers(llm: LLM, operation: str, scope: str) -> None:
    """Two tenants do not get each other's answers, whatever cache scope they name."""
    args = {**completions.cold_arguments(llm, operation), "messages": [user_message(llm.unique())]}
    contexts = [{**new_tenant_context(), **context_with_cache_scope(llm, scope)} for _ in range(2)]
    completions.expect_own_answer(llm, args, args, *contexts, operation=operation)


@pytest.mark.requirement("COM-IDEM-1")
def test_an_idempotency_key_does_not_mix_up_requests(llm: LLM) -> None:
    """Two prompts under one key get their own counts and completions."""
    ctx = new_key_context(**new_tenant_context())
    llm.require("complete")
    requests = llm.requests.distinct_requests()[:2]
    answers = [llm.requests.fingerprint(llm.send({**request, "ctx": ctx})) for request in requests]
    if answers[0] == answers[1] and len({llm.requests.fingerprint(llm.send(request)) for request in requests}) == 1:
        raise NotAssessed(Obstacle.NOT_DISTINGUISHED)
    expect.check(answers[0] != answers[1], "each request's own answer", "the answer to the other request")


@pytest.mark.requirement("COM-IDEM-1")
@pytest.mark.parametrize("operation", ["complete", "stream"])
def test_an_idempotency_key_does_not_hide_a_changed_argument(llm: LLM, operation: str) -> None:
    """Requests under one key that differ in prompt, `max_tokens`, system message or operation get their own answers."""
    expect.applicable("provider" in llm.client.hooks, "the provider hook is missing; another test compares the answers")
    ctx = new_key_context(**new_tenant_context())
    limit = llm.limit(8, operation)
    args = llm.requests.args(messages=[user_message(llm.unique())], max_tokens=limit)
    changes: list[dict[str, Any]] = [{"max_tokens": limit + 1}, {"messages": [user_message(llm.unique())]}]
    if operation == "complete" and llm.accepts_argument("system_message"):
        changes.append({"system_message": llm.unique()})
    for changed in changes:
        completions.expect_own_answer(llm, args, {**args, **changed}, ctx, ctx, operation=operation, shares_first=True)
    if operation == "complete" and llm.works("count_tokens"):
        counted = {**llm.requests.minimal("count_tokens"), "text": llm.unique()}
        count = llm.tokens_of(expect.success(llm.call("count_tokens", counted), "a token count"))
        again = llm.tokens_of(expect.success(llm.call("count_tokens", counted, ctx), "a token count"))
        expect.check(count == again, "the count of the text", "another count, or no count")


@pytest.mark.requirement("COM-IDEM-2")
def test_an_idempotency_key_belongs_to_its_tenant(llm: LLM) -> None:
    """The same request under the same key of another tenant calls the provider again."""
    key, args = new_key_context(), llm.requests.args(messages=[user_message(llm.unique())])
    one, other = ({**key, **tenant} for tenant in similar_tenant_contexts(llm, 1))
    completions.expect_own_answer(llm, args, args, one, other)


@pytest.mark.requirement("LLM-IDEM-1")
def test_a_replay_is_answered_as_the_first_call(llm: LLM) -> None:
    """The same request under the same key gets the same answer, even after another request."""
    llm.require("complete")
    ctx = new_key_context(**new_tenant_context())
    args = llm.requests.args(messages=[user_message(llm.unique())])
    first = llm.call("complete", args, context_with_key(ctx))
    expect.success(first, "a completion under an idempotency key")
    llm.complete(messages=[user_message(llm.unique())])
    replays.expect_same_result(first, llm.call("complete", args, context_with_key(ctx)))
