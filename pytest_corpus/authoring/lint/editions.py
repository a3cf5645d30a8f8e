"""Lint rules that compare editions; `pytest_corpus.schema_lint` lists them."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pytest_corpus.authoring.findings import Finding
from pytest_corpus.authoring.folding import Folder
from pytest_corpus.authoring.instances import variants
from pytest_corpus.authoring.lint import documents as lint_documents
from pytest_corpus.authoring.lint import references
from pytest_corpus.authoring.tree import Tree
from pytest_corpus.spec.schemas import BASE_URI, SchemaFile
from pytest_corpus.validation.schema.registry import SchemaRegistry


def mixed(tree: Tree) -> Iterator[Finding]:
    """References to a file that is not that of an edition which the referring file stands for.

    A file stands for the edition that it was made for and for each later one that has no file of its own, so one
    that rests on a type which a later edition replaces needs a successor itself.
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
            yield Finding(one.file, "edition", message, f"{one.pointer}/$ref")


def widens(tree: Tree) -> Iterator[Finding]:
    """Rules of a later edition that refuse an instance that the edition before accepts.

    The instances are made of the elder schema (`instances`), so each finding has its witness; a narrowing that
    none of them meets is not found.
    """
    if not _is_sound(tree):
        return  # what is broken has its own finding
    registry = SchemaRegistry(tree.root)
    folder = Folder(lambda uri: tree.documents[uri.removeprefix(BASE_URI)])
    unique: dict[Finding, None] = {}
    for schema in tree.schemas:
        for elder, newer in zip(schema.own, schema.own[1:], strict=False):
            instances = list(variants(folder, {"$ref": BASE_URI + schema.file(elder)}))
            unique |= dict.fromkeys(_narrowed(registry, schema, elder, newer, instances))
    yield from unique


def _is_sound(tree: Tree) -> bool:
    documents = (lint_documents.place, lint_documents.metaschema, lint_documents.patterns)
    rules = (*documents, references.resolves, references.cycles)
    return tree.complete and not any(True for rule in rules for _ in rule(tree))


def _narrowed(
    registry: SchemaRegistry, schema: SchemaFile, elder: str, newer: str, instances: list[Any]
) -> Iterator[Finding]:
    for instance in instances:
        if not registry.is_valid(schema.name, instance, elder) or registry.is_valid(schema.name, instance, newer):
            continue
        for problem in registry.problems(schema.name, instance, newer):
            file, _, pointer = problem.location.partition("#")
            message = f"refuses what edition {elder} accepts: {problem}"
            yield Finding(file or schema.file(newer), "widens", message, pointer)
