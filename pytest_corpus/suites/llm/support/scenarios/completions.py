"""Requests for completions that several chapters send, and checks of the answers."""

import json
from collections.abc import Mapping
from functools import partial
from itertools import pairwise, permutations
from typing import Any

from pytest_corpus.adapter.facts import to_whole_number
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached, remembered_by_all
from pytest_corpus.kit.component import expect_audited
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import NotApplicable, NotAssessed
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.errors import PERMANENT
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.llm.support.answers import completion_tokens
from pytest_corpus.suites.llm.support.capabilities import MINIMUM, MOST_MODELS
from pytest_corpus.suites.llm.support.component import LLM
from pytest_corpus.suites.llm.support.requests import user_message


def similar_conversations(llm: LLM, text: str, kind: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return two different conversations that resemble each other; `kind` names the resemblance."""
    start = [user_message(text)]
    pairs = {
        "last_message": (llm.conversation(text, "ok", "a"), llm.conversation(text, "ok", "b")),
        "shorter": (llm.conversation(text, "ok", "a"), start),
        "order": (llm.conversation(text, "ok", "a"), llm.conversation("a", "ok", text)),
        "joined": (llm.conversation(f"{text} a", "b", "c"), llm.conversation(f"{text} ", "ab", "c")),
        "role": ([*start, user_message("a")], [{"role": "assistant", "content": text}, user_message("a")]),
        "name": (start, [{**user_message(text), "name": "bob"}]),
        "letter_case": (start, [user_message(text.swapcase())]),
        "spaces": (start, [user_message(f"{text[0]} {text[1:]}")]),
        "far_end": ([user_message(f"{text} {'w ' * 60}a")], [user_message(f"{text} {'w ' * 60}b")]),
        "normal_form": ([user_message(f"{text} caf\u00e9")], [user_message(f"{text} cafe\u0301")]),
    }
    return pairs[kind]


def takes_conversations(llm: LLM) -> bool:
    """False if capabilities deny roles. Then the adapter may refuse several messages."""
    return llm.capabilities.flag("supports_roles") is not False


def can_use_tools(llm: LLM) -> bool:
    """True if tools are claimed for the model of plain requests."""
    return llm.offers_tools is True and llm.model in (None, *llm.models_with("supports_tools"))


def accepted_arguments(llm: LLM, name: str, operation: str = "complete") -> dict[str, Any]:
    """Return an optional argument, or all of them for "all". Raises NotApplicable if they are not accepted (R117)."""
    values = llm.optional_arguments()
    if name == "all":
        every = {each: value for each, value in values.items() if llm.accepts_argument(each, operation)}
        if not llm.accepts(operation, **every):
            raise NotApplicable("a request with all optional arguments is refused permanently")
        return every
    expect.applicable(
        llm.accepts_argument(name, operation), f"capabilities deny {name}, or the adapter refuses it permanently"
    )
    return {name: values[name]}


def call_with_accepted_arguments(llm: LLM, name: str, operation: str) -> Reply | StreamReply:
    """Send all accepted arguments together; if that call fails, send the argument of this name alone."""
    given = accepted_arguments(llm, name, operation)
    every = {each: value for each, value in llm.optional_arguments().items() if llm.accepts_argument(each, operation)}
    together = llm.ask_once(operation, **every)
    return llm.ask_once(operation, **given) if together.is_error else together


TURNS = 99
"""A long prompt is divided into this many messages; the last ten do not fill the window. The number is odd, so
that the user speaks last."""


def requests_beyond_window(llm: LLM, where: str) -> list[dict[str, Any]]:
    """Return requests whose prompt exceeds the window of the plain model or of other models; `where` names the case."""
    text = llm.too_long_text()
    if where == "system_message":
        expect.applicable(llm.accepts_argument("system_message"), "system_message is not offered")
        return [{"system_message": text}]
    if where == "max_tokens":
        expect.applicable(llm.accepts_argument("max_tokens"), "max_tokens is not offered")
        return [{"messages": [user_message(text)], "max_tokens": llm.limit(1)}]
    if where in ("first_message", "answer", "all_messages"):
        expect.applicable(takes_conversations(llm), "capabilities deny supports_roles")
    if where == "first_message":
        return [{"messages": llm.conversation(text, "ok", "hi")}]
    if where == "answer":
        return [{"messages": llm.conversation("hi", text, "hi")}]
    if where == "all_messages":
        words = f"{text} {text}".split()
        turns = min(TURNS, len(words) - 1)  # odd: the number of words is even
        ends = [len(words) * number // turns for number in range(turns + 1)]
        return [{"messages": llm.conversation(*(" ".join(words[start:end]) for start, end in pairwise(ends)))}]
    if where == "other_models":
        windows = {model: llm.capabilities.context_window(model) for model in llm.models() if model != llm.model}
        same = [model for model, window in windows.items() if window == llm.window()]
        smaller = sorted((window, model) for model, window in windows.items() if window and window < llm.window())
        others = [*(model for _, model in smaller[:1]), *same][: MOST_MODELS - 1]
        expect.applicable(others, "no other model has a window of this length or less")
        return [{"messages": [user_message(llm.too_long_text(model))], "model": model} for model in others]
    return [{"messages": [user_message(text)]}]


def cold_arguments(llm: LLM, operation: str = "complete") -> dict[str, Any]:
    """Return the arguments of a plain completion at the lowest temperature, so that an adapter may cache the answer."""
    low = llm.range_of("temperature")[0]
    taken = llm.accepts_argument("temperature", operation) and llm.accepts(operation, temperature=low)
    return llm.requests.args(**({"temperature": low} if taken else {}))


@reading_separately()
@remembered_by_all
def ignores_stop_sequences(llm: LLM) -> bool:
    """True if the adapter ignores stop sequences, which R117 allows: a long text contains its stop sequence."""
    letters = [letter for letter in long_text(llm) if letter.isalpha()]
    usual = sorted(dict.fromkeys(letters), key=letters.count)[-3:]
    text = long_text(llm, stop_sequences=usual) if usual else ""
    return any(letter in text for letter in usual)


def long_text(llm: LLM, **changed: Any) -> str:
    """Return a new long text, or an empty string if the model does not write one."""
    result = llm.call("complete", {**llm.requests.long("complete"), **changed}).result
    return str(result.get("text") or "") if isinstance(result, Mapping) else ""


@remembered_by_all
def long_completion(llm: LLM, **changed: Any) -> Reply:
    """Ask for a long text with some arguments changed, once a run."""
    return llm.call("complete", {**llm.requests.long("complete"), **changed})


def text_and_reason(llm: LLM, **changed: Any) -> tuple[str, str]:
    """Return the text and the finish reason of a long completion."""
    llm.require("complete")
    reply = long_completion(llm, **changed)
    llm.require_fit(reply)
    require_completion(llm, reply)
    return reply.result["text"], reply.result["finish_reason"]


MORE = ("two", "three", "four")
"""The numbers of sentences that prompts ask for, to get completions of different lengths."""


def find_uncut(llm: LLM, reply: Reply, **given: Any) -> Reply | None:
    """Return a completion with the finish reason "length" that is shorter than another completion, or None.

    It must be shorter in each unit that a model may limit. `reply` and some new completions are compared.
    """
    replies = [reply]
    for number in MORE:
        prompt = user_message(f"Write {number} sentences about the sea. {llm.unique()}")
        replies.append(llm.complete(messages=[prompt], **given))
        llm.require_fit(replies[-1])
        require_completion(llm, replies[-1])
    for one, other in permutations(replies, 2):
        pairs = zip(_lengths_of(one.result), _lengths_of(other.result), strict=True)
        if one.result["finish_reason"] == "length" and all(length < longer for length, longer in pairs):
            return one
    return None


def _lengths_of(result: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the length of a completion in tokens, characters, bytes and words."""
    text = str(result["text"])
    tokens = completion_tokens(result["usage"]) or 0
    return tokens, len(text), len(text.encode(errors="surrogatepass")), len(text.split())


def expect_at_most(llm: LLM, limit: int, **others: Any) -> None:
    """Check that a long completion has at most `limit` tokens, or the minimum of the provider."""
    limit = llm.limit(limit)
    given = {name: value for name, value in others.items() if value is not None}
    reply = long_completion(llm, **{**given, "max_tokens": limit})
    llm.require_fit(reply)
    result = expect.success(reply, "a completion")
    with expect.resting_on("LLM-COMPLETE-1"):
        expect.check(isinstance(result, Mapping), "an object", describe_word(result), "result")
    expect.applicable(not result.get("tool_calls"), "a tool is called")
    expect_within_limit(llm, limit or MINIMUM, reply, result.get("usage"), None if others else result.get("text"))


def expect_within_limit(llm: LLM, limit: int, reply: Reply | StreamReply, usage: Any, text: Any) -> None:
    """Check that an answer has at most `limit` tokens, by its usage or else by the adapter's own count."""
    key = "usage_so_far" if isinstance(reply, StreamReply) else "usage"
    spent = completion_tokens(usage)
    most = f"at most {limit} token{'s' * (limit != 1)}"
    if spent is not None:
        expect.check(spent <= limit, most, f"{spent}", f"{key}.completion_tokens", on=[reply])
    if isinstance(text, str) and text and llm.works("count_tokens"):
        # A text alone may have more tokens than after a prompt, because tokens can join both.
        counted = llm.count(text)
        expect.check(counted <= 2 * limit + 8, most, f"a text of {counted}", "text", on=[reply])
    elif spent is None:
        raise NotAssessed(Obstacle.NO_STREAM_USAGE if isinstance(reply, StreamReply) else Obstacle.NO_USAGE)


def require_overrun(llm: LLM, result: Any) -> None:
    """Raise NotAssessed if a prompt was accepted and nothing shows that it exceeds the window."""
    if result is None or llm.works("count_tokens"):
        return
    usage = result.get("usage") if isinstance(result, Mapping) else None
    spent = to_whole_number(usage.get("prompt_tokens")) if isinstance(usage, Mapping) else None
    if spent is None or spent <= llm.window(result.get("model")):
        raise NotAssessed(Obstacle.NO_COUNT)


def require_refused_prompt(llm: LLM, reply: Reply) -> None:
    """Raise Undecided if `complete` does not refuse a prompt that exceeds the window."""
    expect.readable(reply)
    require_overrun(llm, reply.result if reply.is_success else None)
    with expect.resting_on("LLM-CONTEXT-1"):
        expect.refusal(reply, "BadRequest")


def expect_own_answer(
    llm: LLM,
    first: dict[str, Any],
    second: dict[str, Any],
    first_ctx: dict[str, Any] | None = None,
    second_ctx: dict[str, Any] | None = None,
    *,
    operation: str = "complete",
    binding: bool = True,
    shares_first: bool = False,
) -> None:
    """Check that the second of two requests reaches the provider after the first was answered.

    Args:
        shares_first: True if another test made the first request, so it is not made again.

    Raises:
        NotApplicable: `binding` is false, and a request is refused permanently, as an LLM may do (R53, R117).
    """
    llm.faults.provider_op(operation)
    if llm.has_small_limit:
        raise NotAssessed(Obstacle.WINDOW_FOR_NEW, tokens=llm.window())
    replies = []
    for request, ctx in ((first, first_ctx), (second, second_ctx)):
        ask = partial(llm.invoke, operation, request, ctx)
        key = ("cached", operation, json.dumps([request, ctx]))
        reply = cached(llm, key, ask) if shares_first and request is first else ask()
        if not binding and reply.is_a(*PERMANENT):
            raise NotApplicable("messages in this order, or these arguments together, are refused permanently")
        llm.require_fit(reply)
        expect.works(reply, "an answer")
        replies.append(reply)
    asked = reply.exchange.observed.reached_provider
    got = "an answer to another request, and no call of the provider"
    expect.check(asked > 0, "the request's own answer", got, on=replies)


def require_completion(llm: LLM, reply: Reply) -> None:
    """Check that the completion is valid under its schema; an invalid one may lack members that the test reads."""
    expect.success(reply, "a completion")
    with expect.resting_on("LLM-COMPLETE-1"):
        expect_audited("LLM-COMPLETE-1", reply, llm)
