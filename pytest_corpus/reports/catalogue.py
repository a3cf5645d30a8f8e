"""The requirements and rulings as text, with example messages from the goldens.

A ruling (`docs/rulings.md`) decides a question that the protocol's documents leave open.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from textwrap import fill, indent
from types import MappingProxyType
from typing import Any

from pytest_corpus import resources
from pytest_corpus.reports.pages.markdown import format_json
from pytest_corpus.spec.arguments import RULES, AtLeastOne
from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.goldens import Golden, answer_golden, request_golden
from pytest_corpus.spec.illustrations import NAMED, details_of, error_of, operation_of
from pytest_corpus.spec.operations import Operation
from pytest_corpus.spec.requirements import Requirement, catalogue

RULING_ID = re.compile(r"R[0-9]+")


@dataclass(frozen=True, slots=True)
class Ruling:
    """A ruling: its id (such as ``R20``), its title, its section, and its paragraphs as Markdown."""

    id: str
    title: str
    section: str
    paragraphs: tuple[str, ...]


@cache
def read_rulings() -> MappingProxyType[str, Ruling]:
    """Return all rulings by id, in the order of the page. Raises FileNotFoundError if the page is not installed."""
    found: dict[str, Ruling] = {}
    page = resources.document("rulings.md").read_text("utf-8")
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        section, *entries = re.split(r"^### ", part, flags=re.MULTILINE)
        for entry in entries:
            head, _, body = entry.partition("\n")
            name, _, title = head.partition(" ")
            paragraphs = [" ".join(text.split()) for text in body.split("\n\n")]
            found[name] = Ruling(name, title, section.splitlines()[0], tuple(filter(None, paragraphs)))
    return MappingProxyType(found)


def rulings_of(entry: Requirement) -> tuple[Ruling, ...]:
    """Return the rulings that are a source of a requirement."""
    return tuple(read_rulings()[source] for source in entry.source if RULING_ID.fullmatch(source))


def requirements_of_ruling(ruling: Ruling) -> tuple[str, ...]:
    """Return the ids of the requirements whose source is this ruling."""
    return tuple(entry.id for entry in catalogue().values() if ruling.id in entry.source)


@dataclass(frozen=True, slots=True)
class Example:
    """An example message, or the frames of a stream, with a title."""

    title: str
    messages: tuple[Any, ...]


def make_examples(entry: Requirement) -> tuple[Example, ...]:
    """Return examples for a requirement: a minimal request, a correct answer, and the reported metrics.

    If the sentence names an error, the answer is a correct error envelope, otherwise a success. Only a requirement on
    metrics gets an example of metrics.

    Raises:
        FileNotFoundError: the goldens are not installed.
    """
    operation = operation_of(entry.chapter, entry.text, entry.components[0])
    (message,) = _read_messages(request_golden(operation.op))
    named = {*re.findall(r"`([a-z_]+)", f"{entry.text} {entry.hint}"), *NAMED.get(entry.chapter, ())}
    request = Example(f"a plain request of {operation.op}", (_prune(message, operation, named),))
    if entry.components == WIRE:
        return (request,)
    error = error_of(entry.chapter, entry.text)
    metrics = (
        [_metrics_example(entry, operation, error.name if error else "OK")] if entry.chapter.endswith("-OBS") else []
    )
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
    return request, Example("a good answer to it", _read_messages(answer_golden(operation.op))), *metrics


def _prune(message: Any, operation: Operation, named: set[str]) -> Any:
    """Return a request without the optional arguments and context members that the requirement does not mention."""
    from pytest_corpus.reports.pages.schema_words import describe_schema

    _, keys = describe_schema(operation.request, "args")
    one_of = [rule.keys for rule in RULES.get(operation.op, ()) if isinstance(rule, AtLeastOne)]
    required = {key.path for key in keys if key.required}.union(*one_of)
    args = {name: value for name, value in message["args"].items() if name in required | named}
    ctx = {name: value for name, value in message.get("ctx", {}).items() if name in named}
    return {**message, "ctx": ctx, "args": args or message["args"]}


def _metrics_example(entry: Requirement, operation: Operation, code: str) -> Example:
    """Return the arguments of the metrics call that a requirement is about."""
    op = operation.op.partition(".")[2]
    if "count" in entry.text:
        counted = {"component": operation.component, "name": "count_stream_final_outcome", "value": 1}
        return Example(f"{COUNTER}, once, when the stream ends", ({**counted, "extra": {"op": op, "code": code}},))
    seen = {"component": operation.component, "op": op, "ms": 412.7, "ok": code == "OK", "code": code}
    extra = {"tenant_hash": "9f2c61d04be7", "deadline_bucket": "ge_60s"}
    return Example(f"{OBSERVE}, once, when the call ends", ({**seen, "extra": extra},))


COUNTER, OBSERVE = "the keyword arguments of metrics.counter", "the keyword arguments of metrics.observe"


def _read_messages(golden: Golden) -> tuple[Any, ...]:
    """Return the documents of a golden. If its file is missing, the documents are generated from the schemas."""
    path = resources.folder("golden") / golden.file
    if path.is_file():
        text = path.read_text("utf-8")
    else:
        from pytest_corpus.authoring.goldens.maker import make_golden

        text = make_golden(golden)
    return tuple(map(json.loads, text.splitlines())) if golden.is_stream else (json.loads(text),)


MARGIN = " " * 14


def select_requirements(
    globs: Sequence[str] = (), components: Sequence[str] = (), levels: Sequence[str] = ()
) -> tuple[Requirement, ...]:
    """Return the requirements that match a glob, a component and a level; an empty filter matches everything."""
    return tuple(
        entry
        for entry in catalogue().values()
        if (not globs or any(fnmatchcase(entry.id, glob.strip().upper()) for glob in globs))
        and (not components or set(components).intersection(entry.components))
        and (not levels or entry.level.lower() in levels)
    )


def list_entries(entries: Iterable[Requirement] | None = None) -> str:
    """Return a text with one line per requirement: id, level, sentence."""
    shown = tuple(catalogue().values() if entries is None else entries)
    width = max((len(entry.id) for entry in shown), default=0)
    lines = [f"{entry.id:<{width}}  {entry.level:<6}  {entry.text}" for entry in shown]
    return "\n".join([*lines, f"{len(lines)} requirement{'' if len(lines) == 1 else 's'}"])


def explain(wanted: str) -> str | None:
    """Return everything about a requirement or ruling as text; None if the id is unknown."""
    asked = wanted.strip().upper()
    if asked in catalogue():
        return describe_requirement(catalogue()[asked])
    return describe_ruling(read_rulings()[asked]) if asked in read_rulings() else None


def unknown_id_message(wanted: str) -> str:
    """Return the message for an unknown id, with the most similar ids."""
    asked = wanted.strip().upper()
    kind = "ruling" if RULING_ID.fullmatch(asked) else "requirement"
    known = list(read_rulings() if kind == "ruling" else catalogue())
    near = get_close_matches(asked, known, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "the list shows them all"
    return f"there is no {kind} {wanted!r}; {hint}"


def describe_requirement(entry: Requirement) -> str:
    """Return a text of a few lines about a requirement, with its rulings and an example."""
    lines = [f"{entry.id} ({entry.level})", fill(entry.text, 100, initial_indent="  ", subsequent_indent="  ")]
    lines.append(f"  source:     {', '.join(entry.source)}")
    lines.append(f"  components: {', '.join(entry.components)}")
    if entry.needs:
        lines.append(f"  needs:      {', '.join(entry.needs)}")
    if entry.hint:
        lines.append(
            fill(entry.hint, 100, initial_indent="  hint:       ", subsequent_indent=MARGIN, break_on_hyphens=False)
        )
    for ruling in rulings_of(entry):
        lines += ["", f"  {ruling.id} {ruling.title}", _paragraphs(ruling)]
    for example in make_examples(entry):
        lines += ["", f"  {example.title}:", *(indent(format_json(message), "    ") for message in example.messages)]
    declared = "--corpus-client=..." if entry.components == WIRE else "--corpus-adapter=..."
    lines += ["", f"  run it:     pytest {declared} --corpus-requirement={entry.id}"]
    return "\n".join(lines)


def describe_ruling(ruling: Ruling) -> str:
    """Return a text of a few lines about a ruling, with the requirements that are based on it."""
    resting = ", ".join(requirements_of_ruling(ruling)) or "no requirement names it"
    asked = fill(resting, 100, initial_indent="  asked by:   ", subsequent_indent=MARGIN, break_on_hyphens=False)
    return "\n".join([f"{ruling.id} {ruling.title} ({ruling.section})", _paragraphs(ruling), asked])


def _paragraphs(ruling: Ruling) -> str:
    return "\n".join(
        fill(text, 100, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False, break_long_words=False)
        for text in ruling.paragraphs
    )
