"""Reads answers leniently. One defect of an envelope must not hide the rest of the envelope."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter.exchange import Exchange, looks_like_error, looks_like_success
from pytest_corpus.kit.judgement import look_at
from pytest_corpus.redaction import describe_word, kind_of, list_keys
from pytest_corpus.spec.errors import BY_CODE, TAXONOMY, code_of, is_a

LONGEST_HINT_MS = 1e12
"""The largest accepted hint. Larger hints are replaced by it, because they may be too large to compute with."""


def error_names(body: Any) -> tuple[str, ...]:
    """Return the classes that an error envelope names in `error` and `code`, in any letter case."""
    if not isinstance(body, dict) or not body:
        return ()
    names = []
    if isinstance(error := body.get("error"), str):
        names += [error] if error in TAXONOMY else [e.name for e in (BY_CODE.get(code_of(error)),) if e]
    if isinstance(code := body.get("code"), str) and (known := BY_CODE.get(code.upper())):
        names.append(known.name)
    return tuple(dict.fromkeys(names))


def describe(body: Any) -> str:
    """Describe an answer in a few words without content: its kind, code and class."""
    if not isinstance(body, dict):
        return kind_of(body) if body is not None else "nothing"
    if looks_like_error(body):
        code, error = body.get("code"), body.get("error")
        return f"the error {describe_word(error)} / {describe_word(code)}"
    if "chunk" in body:
        return "a stream frame"
    return "a success" if "result" in body else f"an object with {list_keys('the key', body)}"


def failed_items(result: Any) -> list[Mapping[str, Any]]:
    """Return the items or steps that a result reports as failed, in any documented form (R14).

    If a result has `success: false` and names no item, the result itself is the failed item.
    """
    if not isinstance(result, Mapping):
        return []
    found: list[Mapping[str, Any]] = []
    for key in ("failures", "failed_texts", "results"):
        items = result.get(key)
        for item in items if isinstance(items, list) else ():
            if isinstance(item, Mapping) and (key != "results" or item.get("ok") is False):
                found.append(item)
    return found or [result] * (result.get("success") is False)


class AnyReply:
    """An answer of either kind. Reading any part of the answer notes that a test reads its exchange."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    @property
    def exchange(self) -> Exchange:
        """The call, with its frames and all its observations."""
        look_at(self._exchange)
        return self._exchange

    @property
    def error(self) -> Mapping[str, Any]:
        """The error envelope; empty if the answer has none."""
        raise NotImplementedError

    @property
    def is_error(self) -> bool:
        """True if the answer is an error envelope, or a stream that ends with one."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """The error classes that the error envelope names."""
        return error_names(self.error)

    @property
    def details(self) -> Mapping[str, Any]:
        """The `details` of the error; empty if it has none."""
        details = self.error.get("details")
        return details if isinstance(details, Mapping) else {}

    def is_a(self, *families: str) -> bool:
        """True if the answer is an error of one of the classes or their subtypes."""
        return self.is_error and any(is_a(name, family) for name in self.names for family in families)


class Reply(AnyReply):
    """The answer to a unary call. If it has several pages, `together` is the envelope that combines them."""

    def __init__(self, exchange: Exchange, together: Mapping[str, Any] | None = None) -> None:
        super().__init__(exchange)
        self._together = together

    @property
    def body(self) -> Any:
        """The answer as it arrived, or None."""
        frames = self.exchange.frames
        return self._together or (frames[-1].body if frames else None)

    @property
    def error(self) -> Mapping[str, Any]:
        return self.body if self.is_error else {}

    @property
    def is_error(self) -> bool:
        return looks_like_error(self.body)

    @property
    def is_success(self) -> bool:
        return looks_like_success(self.body)

    @property
    def result(self) -> Any:
        """The `result` of a success, or None."""
        return self.body["result"] if self.is_success else None

    @property
    def failed_items(self) -> list[Mapping[str, Any]]:
        """The items or steps of a success that are reported as failed."""
        return failed_items(self.result)

    @property
    def is_carried_out(self) -> bool:
        """True if the answer is a success that reports no failed item."""
        return self.is_success and not self.failed_items

    def fails_as(self, *families: str) -> bool:
        """True if the request, or one of its items or steps, is refused with one of the classes (R14)."""
        named = (name for item in self.failed_items for name in error_names(item))
        return self.is_a(*families) or any(is_a(name, family) for name in named for family in families)

    def __str__(self) -> str:
        fault = self.exchange.fault
        return f"no answer ({fault.kind}: {fault})" if fault else describe(self.body)


class StreamReply(AnyReply):
    """All frames of a stream."""

    @property
    def bodies(self) -> list[Any]:
        """The frames as they arrived."""
        return [frame.body for frame in self.exchange.frames]

    @property
    def error(self) -> Mapping[str, Any]:
        return self.errors[0] if self.errors else {}

    @property
    def chunks(self) -> list[Mapping[str, Any]]:
        """The chunks of all success frames, in order."""
        found = [body.get("chunk") for body in self.bodies if isinstance(body, dict) and not looks_like_error(body)]
        return [chunk for chunk in found if isinstance(chunk, Mapping)]

    @property
    def errors(self) -> list[Mapping[str, Any]]:
        """All error envelopes among the frames."""
        return [body for body in self.bodies if looks_like_error(body)]

    @property
    def is_error(self) -> bool:
        return bool(self.errors)

    @property
    def is_finished(self) -> bool:
        """True if the stream ended with a final chunk and without an error."""
        return not self.errors and any(chunk.get("is_final") is True for chunk in self.chunks)

    def __str__(self) -> str:
        fault = self.exchange.fault
        frames = "1 frame" if len(self.bodies) == 1 else f"{len(self.bodies)} frames"
        if fault and fault.kind == "cut_off":
            return f"a stream that was cut off: {fault.text}"
        if fault:
            return f"a stream of {frames} that broke off ({fault.kind}: {fault})"
        if self.errors:
            return f"a stream that ends with {describe(self.errors[0])}"
        return f"a stream of {frames} {'with' if self.is_finished else 'without'} a final chunk"


def hint_s(reply: AnyReply) -> float | None:
    """Return the seconds after which an answer asks for a retry, or None."""
    hints = (reply.error.get("retry_after_ms"), reply.details.get("suggested_backoff_ms"))
    given = [hint for hint in hints if isinstance(hint, (int, float)) and not isinstance(hint, bool)]
    return min(given[0], LONGEST_HINT_MS) / 1000 if given and given[0] >= 0 else None
