"""A guide for each component: its operations, arguments, results, capabilities, errors and requirements."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_corpus.authoring.goldens.maker import make_golden
from pytest_corpus.reports.pages.markdown import as_json, code, codes, paragraph, table
from pytest_corpus.reports.pages.schema_words import Key, describe_schema
from pytest_corpus.reports.text import template_environment
from pytest_corpus.spec.arguments import ALTERNATIVES, RULES, AtLeastOne, Choice, Rule, Within
from pytest_corpus.spec.capabilities import FACTS, RANGED, REQUIRED, SAMPLING_RANGES, SECTIONS, Fact
from pytest_corpus.spec.components import ROWS, Component
from pytest_corpus.spec.dialects import DIALECTS, EDGE_LABEL, NODE_LABEL, PURPOSES
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.goldens import GOLDENS, Golden, goldens_of
from pytest_corpus.spec.illustrations import operation_of
from pytest_corpus.spec.operations import BY_OP, Operation, operations_of, protocol_of
from pytest_corpus.spec.requirements import Requirement, applicable_requirements, catalogue

if TYPE_CHECKING:
    from jinja2 import Environment

KINDS = {"flag": "true or false", "limit": "a positive number", "names": "a list of names", "text": "a text"}

RANGE = "a list of two numbers: the lowest and the highest value that are taken"

EXTENSIONS = ("schema_version", "protocol", "provider_specific", "experimental_features")
"""The keys that every result may have if it is an object (R56); the guide lists them once."""

LEVELS = ("MUST", "SHOULD", "MAY")


def render_pages() -> dict[str, str]:
    """Return each guide as Markdown, by its path below docs/."""
    return {f"components/{row.name}.md": render_page(row) for row in ROWS}


@cache
def _environment() -> Environment:
    """Return the environment of the templates, with the functions that they call for an operation."""
    found = template_environment(Path(__file__).parent / "templates")
    found.filters.update(code=code, codes=codes, paragraph=paragraph, as_json=as_json)
    found.globals.update(
        table=table,
        arguments_of=lambda operation: _key_rows(describe_schema(operation.request, "args")[1]),
        rules_of=_rules,
        result_of=_result,
        examples_of=_examples,
        basic_requirements_of=_basic_requirements,
    )
    return found


def render_page(row: Component) -> str:
    """Return the guide of one component as Markdown."""
    allowed = [error for error in TAXONOMY.values() if row.name in error.components]
    capabilities = [_fact_row(row.name, fact) for fact in FACTS if row.name in fact.components]
    if row.name == "llm":
        capabilities += [(code(f"sampling.{key}"), RANGE, "", ", ".join(RANGED)) for key in SAMPLING_RANGES.values()]
    entries = applicable_requirements(row.name)
    chapters: dict[str, Counter[str]] = {}
    for entry in entries:
        chapters.setdefault(entry.chapter, Counter())[entry.level] += 1
    text = (
        _environment()
        .get_template("component.md")
        .render(
            row=row,
            protocol=protocol_of(row.name),
            operations=operations_of(row.name),
            overview=map(_operation_row, operations_of(row.name)),
            extensions=EXTENSIONS,
            sections=SECTIONS,
            capabilities=capabilities,
            dialects=DIALECTS,
            purposes=[(code(name), text) for name, text in PURPOSES.items()],
            node_label=NODE_LABEL,
            edge_label=EDGE_LABEL,
            errors=[
                (code(each.name), code(each.code), code(each.parent), each.retry, " or ".join(map(str, each.http)))
                for each in allowed
            ],
            error=_golden_message(next(golden for golden in GOLDENS if golden.schema == f"{row.name}.envelope.error")),
            requirements=entries,
            chapters=[
                (
                    f"**{name}**<!-- ../requirements/{name.lower()}.md -->",
                    *(str(found[level] or "") for level in LEVELS),
                )
                for name, found in chapters.items()
            ],
        )
    )
    return str(text)


def render_operation(op: str) -> str:
    """Return the guide of one operation as Markdown: arguments, result, errors, an example, its requirements."""
    operation = BY_OP[op]
    component = operation.component
    own = [entry for entry in applicable_requirements(component) if entry.components == (component,)]
    text = (
        _environment()
        .get_template("operation_page.md")
        .render(
            operation=operation,
            errors=[error.name for error in TAXONOMY.values() if component in error.components],
            requirements=[
                (entry.id, entry.level, entry.text)
                for entry in own
                if operation_of(entry.chapter, entry.text, component) == operation
            ],
        )
    )
    return str(text)


def _operation_row(operation: Operation) -> tuple[str, ...]:
    op, anchor = operation.op, operation.op.replace(".", "")
    offered = f"unless {code(operation.capability)} is false" if operation.capability else "always"
    return (
        f"[`{op}`](#{anchor})",
        operation.does,
        "yes" if operation.streaming else "",
        "yes" if operation.mutating else "",
        offered,
    )


def _key_rows(keys: list[Key]) -> list[tuple[str, ...]]:
    return [(code(key.path), key.type, "yes" if key.required else "", key.meaning) for key in keys]


def _result(operation: Operation) -> tuple[str, list[tuple[str, ...]]]:
    """Return the type of a result, and the rows of its keys."""
    kind, keys = describe_schema(operation.answer, "chunk" if operation.streaming else "result")
    return kind, _key_rows([key for key in keys if key.path.rpartition(".")[2] not in EXTENSIONS or key.required])


def _rules(operation: Operation) -> Iterator[str]:
    """Yield the rules for arguments that no schema expresses, one sentence each."""
    yield from map(_rule_text, RULES.get(operation.op, ()))
    if other := ALTERNATIVES.get(operation.op):
        yield f"{code(other.other)} may stand in the place of {code(other.key)} (SCHEMA 6.3)"


def _rule_text(rule: Rule) -> str:
    if isinstance(rule, AtLeastOne):
        words = f"{codes(rule.keys, ' or ')} must be given"
    elif isinstance(rule, Within):
        low = f"above {rule.low:g}" if rule.above else f"at least {rule.low:g}"
        high = "" if rule.high is None else f" and at most {rule.high:g}"
        words = f"{code(rule.key)} is {low}{high}"
    elif isinstance(rule, Choice):
        words = f"{code(_path_text(rule.path))} is {codes(rule.choices, ' or ')}"
    else:
        words = f"{code(_path_text(rule.path))} holds at least one number, all of them finite"
    return f"{words} ({rule.source})"


def _path_text(path: tuple[str, ...]) -> str:
    return ".".join(path).replace(".*", "[]")


def _basic_requirements(operation: Operation) -> list[Requirement]:
    return [catalogue()[name] for name in dict.fromkeys((operation.works, operation.shaped))]


def _examples(operation: Operation) -> tuple[Any, Any]:
    """Return an example of a request and of its answer; the answer is a text with a line for each frame of a stream."""
    goldens = [golden for golden in goldens_of(operation.op) if "error" not in golden.file]
    component, name = operation.component, operation.name
    plain = Golden(
        f"{component}/{component}_{name}_request.json", f"{component}.envelope.request", also=(operation.request,)
    )
    request = _golden_message(next((golden for golden in goldens if golden.schema.endswith(".request")), plain))
    if operation.streaming:
        return request, make_golden(next(golden for golden in goldens if golden.is_stream)).strip()
    return request, _golden_message(next(golden for golden in goldens if golden.schema.endswith(".success")))


def _golden_message(golden: Golden) -> Any:
    return json.loads(make_golden(golden))


def _fact_row(component: str, fact: Fact) -> tuple[str, ...]:
    operations = [operation.op for operation in operations_of(component) if operation.capability == fact.name]
    needing = applicable_requirements(component) if fact.kind == "flag" else ()
    entries = [entry.id for entry in needing if fact.name in entry.needs]
    return (
        codes(fact.keys, " or "),
        KINDS[fact.kind],
        "yes" if fact.name in REQUIRED else "",
        "; ".join(filter(None, (codes(operations), ", ".join(entries)))),
    )
