"""The lint: all rules in order, including the rules that follow references between files."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from pytest_corpus.authoring.lint import documents
from pytest_corpus.authoring.schema_rules import RuleCollector, generate_variants
from pytest_corpus.authoring.tree import LintFinding, Tree, compare_with_table, find_root
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.operations import OPERATIONS
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, SCHEMAS, SchemaFile
from pytest_corpus.text.values import escape_key
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE, SchemaRegistry


def check_references(tree: Tree) -> Iterator[LintFinding]:
    """Find references to a document outside of the tree, or to a pointer without a schema."""
    for reference in tree.references:
        pointer = f"{reference.pointer}/$ref"
        if reference.target is None:
            yield LintFinding(reference.file, "ref", f"{reference.ref} is not a schema of this tree", pointer)
        elif reference.target in tree.documents and not reference.found:
            yield LintFinding(reference.file, "ref", f"{reference.ref} leads to no schema in that file", pointer)


def check_cycles(tree: Tree) -> Iterator[LintFinding]:
    """Find circles of references: between files, and between schemas within one file. Report each circle once."""
    between = _group_edges((one.file, one.target) for one in tree.references if one.target and one.target != one.file)
    for circle in _find_circles(between):
        yield LintFinding(circle[0], "cycle", f"refers to itself: {' -> '.join((*circle, circle[0]))}")
    for file in tree.documents:
        inside = {one.pointer: one for one in tree.references if one.file == one.target == file and one.found}
        pairs = ((start, end) for start, one in inside.items() for end in inside if _is_inside(end, one.target_pointer))
        for circle in _find_circles(_group_edges(pairs)):
            targets = [inside[pointer].target_pointer or "/" for pointer in circle]
            yield LintFinding(
                file, "cycle", f"lies in itself: {' -> '.join((*targets, targets[0]))}", f"{circle[0]}/$ref"
            )


def _is_inside(pointer: str, around: str) -> bool:
    return f"{pointer}/".startswith(f"{around}/")


def _group_edges(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, None]]:
    edges: dict[str, dict[str, None]] = {}
    for start, end in pairs:
        edges.setdefault(start, {})[end] = None
    return edges


def _find_circles(edges: Mapping[str, Mapping[str, None]]) -> Iterator[list[str]]:
    """Yield the shortest circle through each node that is not in an earlier circle."""
    reported: set[str] = set()
    for start in edges:
        if start in reported:
            continue
        ways = [[start, end] for end in edges[start]]
        seen: set[str] = set()
        for way in ways:  # grows while it is walked
            if way[-1] == start:
                reported.update(way)
                yield way[:-1]
                break
            if way[-1] not in seen:
                seen.add(way[-1])
                ways += [[*way, end] for end in edges.get(way[-1], ())]


def check_unused_definitions(tree: Tree) -> Iterator[LintFinding]:
    """Find unused definitions. A definition to which only unused definitions refer is also unused."""
    if not tree.is_complete:
        return
    defined = {
        (one.file, f"{one.pointer}/$defs/{escape_key(name)}")
        for one in tree.located_schemas
        if isinstance(one.schema.get("$defs"), dict)
        for name in one.schema["$defs"]
    }
    used: set[tuple[str, str]] = set()
    waiting = [one for one in tree.references if not _surrounding_definitions(one.file, one.pointer, defined)]
    rest = [one for one in tree.references if one not in waiting]
    while waiting:
        for one in waiting:
            used |= _surrounding_definitions(one.target or "", one.target_pointer, defined)
        waiting = [one for one in rest if _surrounding_definitions(one.file, one.pointer, defined) <= used]
        rest = [one for one in rest if one not in waiting]
    for file, pointer in sorted(defined - used):
        yield LintFinding(file, "dangling", "is used nowhere: refer to it, or remove it", pointer)


def _surrounding_definitions(file: str, pointer: str, defined: Set[tuple[str, str]]) -> set[tuple[str, str]]:
    parts = pointer.split("/")
    return {(file, "/".join(parts[:end])) for end in range(len(parts) + 1)} & defined


def check_unused_files(tree: Tree) -> Iterator[LintFinding]:
    """Find files that no operation and no golden needs, directly or through references."""
    if not tree.is_complete:
        return
    asked = {BY_NAME[name].file(edition) for name, edition in _needed_schemas()}
    protocol = {file for schema in SCHEMAS for file in schema.files}
    asked |= tree.documents.keys() - protocol  # files that a user added need no operation of the protocol
    edges = _group_edges((one.file, one.target) for one in tree.references if one.target)
    reached, waiting = set(asked), list(asked)
    while waiting:
        for file in edges.get(waiting.pop(), ()):
            if file not in reached:
                reached.add(file)
                waiting.append(file)
    for file in tree.documents.keys() - reached:
        yield LintFinding(
            file, "reachable", "belongs to no operation and no golden, and nothing that does refers to it"
        )


def _needed_schemas() -> Iterator[tuple[str, str]]:
    """Yield each (schema, edition) that an operation or a golden names."""
    for operation in OPERATIONS:
        for name in (operation.request, operation.answer, operation.payload):
            if name:
                yield from ((name, edition) for edition in BY_NAME[name].editions)
    for golden in GOLDENS:
        yield from golden.checks()
        yield from golden.checks(last_line=True)


def check_editions(tree: Tree) -> Iterator[LintFinding]:
    """Find references to a file that is missing in an edition in which the referring file is valid.

    A file is valid in its own edition and in later editions until a newer file replaces it. If a later edition replaces
    a type, the files that refer to the type also need a new version.
    """
    serves: dict[str, list[str]] = defaultdict(list)
    for schema in tree.schemas:
        for edition in schema.editions:
            serves[schema.file(edition)].append(edition)
    for one in tree.references:
        if one.target is None:
            continue
        others = [edition for edition in serves[one.file] if edition not in serves[one.target]]
        if others:
            message = f"{one.target} is not the file of edition {others[0]}, to which this one belongs"
            yield LintFinding(one.file, "edition", message, f"{one.pointer}/$ref")


def check_compatibility(tree: Tree) -> Iterator[LintFinding]:
    """Find rules of a later edition that refuse a value which the previous edition accepts.

    The values are generated from the older schema, so each finding has an example. A stricter rule that refuses none of
    the generated values is not found.
    """
    if not _can_generate_values(tree):
        return  # other rules report the broken schemas
    registry = SchemaRegistry(tree.root)
    collector = RuleCollector(lambda uri: tree.documents[uri.removeprefix(BASE_URI)])
    unique: dict[LintFinding, None] = {}
    for schema in tree.schemas:
        for elder, newer in zip(schema.own, schema.own[1:], strict=False):
            instances = list(generate_variants(collector, {"$ref": BASE_URI + schema.file(elder)}))
            unique |= dict.fromkeys(_find_narrowing(registry, schema, elder, newer, instances))
    yield from unique


def _can_generate_values(tree: Tree) -> bool:
    """True if values can be generated: every file is readable and satisfies the rules that the generation needs."""
    rules = (
        documents.check_document_ids,
        documents.check_metaschema,
        documents.check_patterns,
        check_references,
        check_cycles,
    )
    return tree.is_complete and not any(True for rule in rules for _ in rule(tree))


def _find_narrowing(
    registry: SchemaRegistry, schema: SchemaFile, elder: str, newer: str, instances: list[Any]
) -> Iterator[LintFinding]:
    for instance in instances:
        if not registry.is_valid(schema.name, instance, elder) or registry.is_valid(schema.name, instance, newer):
            continue
        for problem in registry.problems(schema.name, instance, newer):
            file, _, pointer = problem.location.partition("#")
            message = f"refuses what edition {elder} accepts: {problem}"
            yield LintFinding(file or schema.file(newer), "widens", message, pointer)


@dataclass(frozen=True, slots=True)
class LintRule:
    """A lint rule: its name, its demand (`text`), the sentence it is based on (`source`), and its function."""

    name: str
    text: str
    source: str
    check: Callable[[Tree], Iterator[LintFinding]]


def _check_table(rule: str, tree: Tree) -> Iterator[LintFinding]:
    found = compare_with_table(tree.listed, tree.files, "the table pytest_corpus/spec/schemas.py")
    return (finding for finding in found if finding.rule == rule)


def _report_unreadable(rule: str, tree: Tree) -> Iterator[LintFinding]:
    return (LintFinding(file, rule, message) for file, (name, message) in tree.faults.items() if name == rule)


RULES: Final = {
    row[0]: LintRule(*row)
    for row in (
        ("missing", "every file of the table exists", "SCHEMA 2.1, 7.3; R40, R41", partial(_check_table, "missing")),
        ("orphaned", "every file is in the table, or a schema of one's own", "SCHEMA 6.1, 7.3; R41",
         partial(_check_table, "orphaned")),
        ("size", "a schema has at most 5 MB", "SCHEMA 8.3, 12.E", partial(_report_unreadable, "size")),
        ("json", "a file is one JSON object in UTF-8, no key twice", "SCHEMA 8.1; RFC 8259",
         partial(_report_unreadable, "json")),
        ("draft", "$schema names draft 2020-12", "SCHEMA 8.1, 12.E", documents.check_dialect),
        ("id", "$id is the base, the folder and the file name", "SCHEMA 2.3, 8.1", documents.check_document_ids),
        ("unique-id", "no $id appears twice", "SCHEMA 8.1, 12.E", documents.check_unique_ids),
        ("metaschema", "a schema meets the metaschema", "SCHEMA 8.1", documents.check_metaschema),
        ("keyword", "no keyword is misspelt or of an older draft, for validators pass over it",
         "SCHEMA 8.1, 12.A; JSON Schema 2020-12, 6.5", documents.check_keywords),
        ("pattern", "a pattern says the same to every engine", "SCHEMA 8.1", documents.check_patterns),
        ("enum", "an enumeration repeats no value", "SCHEMA 8.1", documents.check_enums),
        ("naming", "titles, properties and definitions are named alike", "SCHEMA 2.3", documents.check_names),
        ("ref", "a $ref leads to a schema of this tree", "SCHEMA 8.1, 12.B", check_references),
        ("cycle", "references form no cycle", "SCHEMA 2.2, 12.B", check_cycles),
        ("dangling", "every definition is used", "SCHEMA 8.1", check_unused_definitions),
        ("reachable", "every schema is that of an operation or a golden, or part of one", "SCHEMA 2.2, 11.1; R42",
         check_unused_files),
        ("edition", "a file refers to the files of each edition it stands for", "SCHEMA 10.1; R3, R57",
         check_editions),
        ("widens", "a later edition accepts what the one before accepts", "SCHEMA 10.1; R42", check_compatibility),
    )
}  # fmt: skip
"""Every rule by its name, cheapest first."""


def lint(root: Path | str | None = None, *, rules: Iterable[str] = tuple(RULES)) -> list[LintFinding]:
    """Return the findings about a tree of schemas, in the order of its files.

    Args:
        root: the ``schemas/`` folder; by default the folder in ``CORPUS_SCHEMAS_ROOT``, or else the shipped one.
        rules: names of the rules to check.

    Raises:
        NotADirectoryError: the root is not a folder.
        KeyError: a rule is unknown.
    """
    tree = Tree(find_root(root, ROOT_VARIABLE, "schemas"))
    wanted = [RULES[name] for name in rules]
    found = [finding for rule in wanted for finding in rule.check(tree)]
    order = {file: number for number, file in enumerate(_files(tree))}
    return sorted(found, key=lambda finding: order.get(finding.file, -1))


def files(root: Path | str | None = None) -> tuple[str, ...]:
    """Return the files in the table, then other files in the folder, as relative paths. Raises NotADirectoryError."""
    return _files(Tree(find_root(root, ROOT_VARIABLE, "schemas")))


def _files(tree: Tree) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*tree.listed, *tree.files)))
