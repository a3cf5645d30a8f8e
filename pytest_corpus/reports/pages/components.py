"""A guide for each component: its operations, arguments, results, capabilities, errors and requirements."""

import json
from collections import Counter
from collections.abc import Iterator

from pytest_corpus.authoring.goldens.maker import make_golden
from pytest_corpus.reports.pages.markdown import as_json, code, codes, paragraph, table
from pytest_corpus.reports.pages.schema_words import Key, describe
from pytest_corpus.spec.arguments import ALTERNATIVES, RULES, Choice, OneOf, Rule, Within
from pytest_corpus.spec.capabilities import FACTS, RANGED, REQUIRED, SAMPLING_RANGES, SECTIONS, Fact
from pytest_corpus.spec.components import ROWS, Component
from pytest_corpus.spec.dialects import DIALECTS, EDGE_LABEL, NODE_LABEL, PURPOSES
from pytest_corpus.spec.errors import TAXONOMY
from pytest_corpus.spec.goldens import GOLDENS, Golden, goldens_of
from pytest_corpus.spec.illustrations import operation_of
from pytest_corpus.spec.operations import BY_OP, Operation, operations_of, protocol_of
from pytest_corpus.spec.requirements import applicable, catalogue

KINDS = {"flag": "true or false", "limit": "a positive number", "names": "a list of names", "text": "a text"}

RANGE = "a list of two numbers: the lowest and the highest value that are taken"

EXTENSIONS = ("schema_version", "protocol", "provider_specific", "experimental_features")
"""Keys that every result that is an object may also have (R56); they are listed once."""


def pages() -> dict[str, str]:
    """Each guide by its path below docs/."""
    return {f"components/{row.name}.md": page(row) for row in ROWS}


def page(row: Component) -> str:
    """Return the guide of one component as Markdown."""
    return "\n".join(_page(row))


def _page(row: Component) -> Iterator[str]:
    operations = operations_of(row.name)
    yield f"# The {row.title} component\n"
    yield paragraph(
        f"What an adapter of the {row.title} component (`{protocol_of(row.name)}`) is asked for: {len(operations)} "
        "operations. How the suite reaches your adapter is in [Writing an adapter](../adapter-guide.md). "
    )
    yield "## Operations\n"
    yield table(("operation", "what it does", "stream", "writes", "offered"), map(_line, operations))
    yield paragraph(
        'A request is an envelope, `{"op": ..., "ctx": {...}, "args": {...}}`. A unary answer is `{"ok": true, "code": '
        '"OK", "ms": ..., "result": ...}`; a frame of a stream has `"code": "STREAMING"`, and `chunk` in the place of '
        "`result`. In the tables *required* means that the key must be there; of an optional key null counts as "
        "absent; `[]` stands for each item of an array. Types and bounds are those of schema version 1.1.0. Every "
        f"result that is an object may also carry {codes(EXTENSIONS)} (R56)."
    )
    for operation in operations:
        yield from _operation(operation)
    yield from _capabilities(row)
    if row.name == "graph":
        yield from _queries()
    yield from _errors(row)
    yield from _requirements(row)


def operation_page(op: str) -> str:
    """Return the guide of one operation as Markdown: arguments, result, errors, an example pair, its requirements."""
    operation = BY_OP[op]
    return "\n".join([*_operation(operation), *_operation_errors(operation), *_operation_requirements(operation)])


def _operation_errors(operation: Operation) -> Iterator[str]:
    allowed = [error.name for error in TAXONOMY.values() if operation.component in error.components]
    yield "### Errors\n"
    yield paragraph(f"{codes(allowed)}: {code(f'pytest-corpus docs {operation.component}')} shows their codes.")


def _operation_requirements(operation: Operation) -> Iterator[str]:
    component = operation.component
    own = [entry for entry in applicable(component) if entry.components == (component,)]
    shown = (entry for entry in own if operation_of(entry.chapter, entry.text, component) == operation)
    yield "### Requirements\n"
    yield table(("requirement", "level", "sentence"), ((entry.id, entry.level, entry.text) for entry in shown))


def _queries() -> Iterator[str]:
    yield "## Query languages\n"
    yield paragraph(
        "What a graph holds is read back with queries in the languages that `dialects` lists. The suite has probe "
        f"queries for {codes(DIALECTS)}, in several usual spellings each; the first that your adapter takes is used. "
        "For any other language, or if yours differs, name a JSON file with `--corpus-dialects=FILE` (ini: "
        "`corpus_dialects`): an object from language to an object from purpose to a text, or a list of texts to be "
        "tried."
    )
    yield as_json({"sparql": {"find": "SELECT ...", "broken": "SELECT WHERE ("}})
    yield table(("purpose", "asks for"), ((code(name), text) for name, text in PURPOSES.items()))
    yield paragraph(
        f"The nodes have the label `{NODE_LABEL}`, the edges `{EDGE_LABEL}`. What counts in a record is which "
        "`corpus_value` it holds, under whatever name. Without probe queries the requirements that rest on them are "
        "`not_assessed`; none is failed."
    )


def _line(operation: Operation) -> tuple[str, ...]:
    op, anchor = operation.op, operation.op.replace(".", "")
    offered = f"unless {code(operation.capability)} is false" if operation.capability else "always"
    return (
        f"[`{op}`](#{anchor})",
        operation.does,
        "yes" if operation.streaming else "",
        "yes" if operation.mutating else "",
        offered,
    )


def _operation(operation: Operation) -> Iterator[str]:
    yield f"## {operation.op}\n"
    yield f"{operation.does}\n"
    _, arguments = describe(operation.request, "args")
    said = [_rule(rule) for rule in RULES.get(operation.op, ())]
    if operation.op in ALTERNATIVES:
        other = ALTERNATIVES[operation.op]
        said.append(f"{code(other.other)} may stand in the place of {code(other.key)} (SCHEMA 6.3)")
    if arguments or said:
        yield "### Arguments\n"
        yield table(("argument", "type", "required", "meaning and limits"), _rows(arguments))
        yield "".join(f"- {sentence}\n" for sentence in said)
    else:
        yield "It takes no arguments.\n"
    yield f"### {'Chunk' if operation.streaming else 'Result'}\n"
    kind, keys = describe(operation.answer, "chunk" if operation.streaming else "result")
    if keys := [key for key in keys if key.path.rpartition(".")[2] not in EXTENSIONS or key.required]:
        yield table(("key", "type", "required", "meaning and limits"), _rows(keys))
    else:
        yield f"Of type {kind}.\n"
    yield _request_arguments(operation)
    yield "### Example\n"
    yield from _example(operation)


def _rows(keys: list[Key]) -> Iterator[tuple[str, ...]]:
    for key in keys:
        yield code(key.path), key.type, "yes" if key.required else "", key.meaning


def _rule(rule: Rule) -> str:
    if isinstance(rule, OneOf):
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


def _request_arguments(operation: Operation) -> str:
    entries = catalogue()
    asked = dict.fromkeys((operation.works, operation.shaped))
    said = "\n".join(f"- {one}: {entries[one].text}" for one in asked)
    denied = f"Where `{operation.capability}` is false they are not applicable.\n" if operation.capability else ""
    return f"Asked first:\n\n{said}\n\n{denied}"


def _example(operation: Operation) -> Iterator[str]:
    goldens = [golden for golden in goldens_of(operation.op) if "error" not in golden.file]
    component, name = operation.component, operation.name
    plain = Golden(
        f"{component}/{component}_{name}_request.json", f"{component}.envelope.request", also=(operation.request,)
    )
    request = next((golden for golden in goldens if golden.schema.endswith(".request")), plain)
    yield as_json(json.loads(make_golden(request)))
    if operation.streaming:
        frames = next(golden for golden in goldens if golden.is_stream)
        yield f"Answered with a frame a line:\n\n```json\n{make_golden(frames).strip()}\n```\n"
    else:
        answer = next(golden for golden in goldens if golden.schema.endswith(".success"))
        yield f"Answered with:\n\n{as_json(json.loads(make_golden(answer)))}"


def _capabilities(row: Component) -> Iterator[str]:
    facts = [fact for fact in FACTS if row.name in fact.components]
    yield "## Capability keys\n"
    yield paragraph(
        f"What `{row.name}.capabilities` may state, at the top or inside {codes(SECTIONS, ' or ')}. What a flag denies "
        "is not tested, and its requirements are `not_applicable`; what it claims is tested; what no flag mentions is "
        "tried, and `NOT_SUPPORTED` is then a fair answer. Where a limit is not stated, none is assumed."
    )
    rows = [_fact(row.name, fact) for fact in facts]
    if row.name == "llm":
        rows += [(code(f"sampling.{key}"), RANGE, "", ", ".join(RANGED)) for key in SAMPLING_RANGES.values()]
    yield table(("key", "value", "required", "what rests on it"), rows)


def _fact(component: str, fact: Fact) -> tuple[str, ...]:
    operations = [operation.op for operation in operations_of(component) if operation.capability == fact.name]
    needing = applicable(component) if fact.kind == "flag" else ()
    entries = [entry.id for entry in needing if fact.name in entry.needs]
    return (
        codes(fact.keys, " or "),
        KINDS[fact.kind],
        "yes" if fact.name in REQUIRED else "",
        "; ".join(filter(None, (codes(operations), ", ".join(entries)))),
    )


def _errors(row: Component) -> Iterator[str]:
    yield "## Errors\n"
    yield paragraph(
        "What `error` may say in an error envelope of this component. A subtype is accepted wherever its class is. "
        "`code` is the same name in capitals (R7)."
    )
    allowed = [error for error in TAXONOMY.values() if row.name in error.components]
    yield table(
        ("error", "code", "a subtype of", "may be retried", "HTTP status"),
        (
            (code(each.name), code(each.code), code(each.parent), each.retry, " or ".join(map(str, each.http)))
            for each in allowed
        ),
    )
    example = next(golden for golden in GOLDENS if golden.schema == f"{row.name}.envelope.error")
    yield f"An example:\n\n{as_json(json.loads(make_golden(example)))}"


def _requirements(row: Component) -> Iterator[str]:
    entries = applicable(row.name)
    chapters: dict[str, Counter[str]] = {}
    for entry in entries:
        chapters.setdefault(entry.chapter, Counter())[entry.level] += 1
    yield "## Requirements\n"
    yield f"{len(entries)} requirements speak of this component, by chapter:\n"
    yield table(
        ("chapter", "MUST", "SHOULD", "MAY"),
        (
            (
                f"**{name}**<!-- ../requirements/{name.lower()}.md -->",
                *(str(levels[level] or "") for level in ("MUST", "SHOULD", "MAY")),
            )
            for name, levels in chapters.items()
        ),
    )
