"""Examples of a requirement: a plain request and a good answer, from the golden messages."""

import json
from dataclasses import dataclass
from typing import Any

from pytest_corpus import resources
from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.goldens import Golden, answer_golden, request_golden
from pytest_corpus.spec.illustrations import details_of, error_of, operation_of
from pytest_corpus.spec.operations import Operation
from pytest_corpus.spec.requirements import Requirement

WIDTH = 96


@dataclass(frozen=True, slots=True)
class Example:
    """One example: its title, and the message or the frames of a stream."""

    title: str
    messages: tuple[Any, ...]


def examples(entry: Requirement) -> tuple[Example, ...]:
    """A plain request of the operation by which a requirement is shown, a good answer, and what metrics are told.

    If the sentence names an error, the answer is that error as it should look, otherwise a success. A requirement on
    metrics has the arguments of the call that it is about.

    Raises:
        FileNotFoundError: the installation carries no goldens.
    """
    operation = operation_of(entry.chapter, entry.text, entry.components[0])
    request = Example(f"a plain request of {operation.op}", _messages(request_golden(operation.op)))
    if entry.components == WIRE:
        return (request,)
    error = error_of(entry.chapter, entry.text)
    metrics = [_metrics(entry, operation, error.name if error else "OK")] if entry.chapter.endswith("-OBS") else []
    if error:
        envelope = {
            "ok": False,
            "code": error.code,
            "error": error.name,
            "message": "what is wrong and where, without any value of the request",
            "retry_after_ms": 500 if error.retry == "yes" else None,
            "details": details_of(entry.text, error),
            "ms": 1.5,
        }
        return request, Example(f"a good answer where {error.name} is meant", (envelope,)), *metrics
    return request, Example("a good answer to it", _messages(answer_golden(operation.op))), *metrics


def _metrics(entry: Requirement, operation: Operation, code: str) -> Example:
    """The arguments of the call of metrics that a requirement is about."""
    op = operation.op.partition(".")[2]
    if "count" in entry.text:
        counted = {"component": operation.component, "name": "count_stream_final_outcome", "value": 1}
        return Example(f"{COUNTER}, once, when the stream ends", ({**counted, "extra": {"op": op, "code": code}},))
    seen = {"component": operation.component, "op": op, "ms": 412.7, "ok": code == "OK", "code": code}
    extra = {"tenant_hash": "9f2c61d04be7", "deadline_bucket": "ge_60s"}
    return Example(f"{OBSERVE}, once, when the call ends", ({**seen, "extra": extra},))


COUNTER, OBSERVE = "the keyword arguments of metrics.counter", "the keyword arguments of metrics.observe"


def laid_out(value: Any, indent: int = 0) -> str:
    """JSON for a reader: a value that fits on one line is written on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    margin = " " * (indent + 2)
    if isinstance(value, list):
        inside = [margin + laid_out(item, indent + 2) for item in value]
        return "[\n" + ",\n".join(inside) + "\n" + " " * indent + "]"
    inside = [f"{margin}{json.dumps(key)}: {laid_out(item, indent + 2)}" for key, item in value.items()]
    return "{\n" + ",\n".join(inside) + "\n" + " " * indent + "}"


def _messages(golden: Golden) -> tuple[Any, ...]:
    """The documents of a golden, generated from its schemas if it has no file."""
    path = resources.folder("golden") / golden.file
    if path.is_file():
        text = path.read_text("utf-8")
    else:
        from pytest_corpus.authoring.goldens.maker import made

        text = made(golden)
    return tuple(map(json.loads, text.splitlines())) if golden.is_stream else (json.loads(text),)
