"""The rules of the lint, and a tree of schema files held to them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from pytest_corpus.authoring.findings import Finding, drift, root_of
from pytest_corpus.authoring.lint import documents, references
from pytest_corpus.authoring.tree import Tree
from pytest_corpus.validation.schema.registry import ROOT_VARIABLE


@dataclass(frozen=True, slots=True)
class LintRule:
    """One rule: its name, what it asks for, the sentence behind it, and the check of a tree."""

    name: str
    text: str
    source: str
    check: Callable[[Tree], Iterator[Finding]]


def _drift(rule: str, tree: Tree) -> Iterator[Finding]:
    found = drift(tree.listed, tree.files, "the table pytest_corpus/spec/schemas.py")
    return (finding for finding in found if finding.rule == rule)


def _faults(rule: str, tree: Tree) -> Iterator[Finding]:
    return (Finding(file, rule, message) for file, (name, message) in tree.faults.items() if name == rule)


RULES: Final = {
    row[0]: LintRule(*row)
    for row in (
        ("missing", "every file of the table exists", "SCHEMA 2.1, 7.3; R40, R41", partial(_drift, "missing")),
        ("orphaned", "every file is in the table, or a schema of one's own", "SCHEMA 6.1, 7.3; R41",
         partial(_drift, "orphaned")),
        ("size", "a schema has at most 5 MB", "SCHEMA 8.3, 12.E", partial(_faults, "size")),
        ("json", "a file is one JSON object in UTF-8, no key twice", "SCHEMA 8.1; RFC 8259", partial(_faults, "json")),
        ("draft", "$schema names draft 2020-12", "SCHEMA 8.1, 12.E", documents.draft),
        ("id", "$id is the base, the folder and the file name", "SCHEMA 2.3, 8.1", documents.place),
        ("unique-id", "no $id appears twice", "SCHEMA 8.1, 12.E", documents.unique_ids),
        ("metaschema", "a schema meets the metaschema", "SCHEMA 8.1", documents.metaschema),
        ("keyword", "no keyword is misspelt or of an older draft, for validators pass over it",
         "SCHEMA 8.1, 12.A; JSON Schema 2020-12, 6.5", documents.keywords),
        ("pattern", "a pattern says the same to every engine", "SCHEMA 8.1", documents.patterns),
        ("enum", "an enumeration repeats no value", "SCHEMA 8.1", documents.enums),
        ("naming", "titles, properties and definitions are named alike", "SCHEMA 2.3", documents.naming),
        ("ref", "a $ref leads to a schema of this tree", "SCHEMA 8.1, 12.B", references.resolves),
        ("cycle", "references form no cycle", "SCHEMA 2.2, 12.B", references.cycles),
        ("dangling", "every definition is used", "SCHEMA 8.1", references.dangling),
        ("reachable", "every schema is that of an operation or a golden, or part of one", "SCHEMA 2.2, 11.1; R42",
         references.reachable),
        ("edition", "a file refers to the files of each edition it stands for", "SCHEMA 10.1; R3, R57",
         references.mixed),
        ("widens", "a later edition accepts what the one before accepts", "SCHEMA 10.1; R42", references.widens),
    )
}  # fmt: skip
"""Every rule by its name, cheapest first."""


def lint(root: Path | str | None = None, *, rules: Iterable[str] = tuple(RULES)) -> list[Finding]:
    """The findings about a tree of schemas, in the order of its files.

    Args:
        root: the ``schemas/`` folder; by default that of ``CORPUS_SCHEMAS_ROOT``, or else the shipped one.
        rules: names of the rules to check.

    Raises:
        NotADirectoryError: the root is not a folder.
        KeyError: there is no such rule.
    """
    tree = Tree(root_of(root, ROOT_VARIABLE, "schemas"))
    wanted = [RULES[name] for name in rules]
    found = [finding for rule in wanted for finding in rule.check(tree)]
    order = {file: number for number, file in enumerate(_files(tree))}
    return sorted(found, key=lambda finding: order.get(finding.file, -1))


def files(root: Path | str | None = None) -> tuple[str, ...]:
    """The files of the table, then those that only the folder has, relative to the root. Raises NotADirectoryError."""
    return _files(Tree(root_of(root, ROOT_VARIABLE, "schemas")))


def _files(tree: Tree) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*tree.listed, *tree.files)))
