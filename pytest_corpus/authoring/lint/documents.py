"""Lint rules that check one schema at a time; `pytest_corpus.schema_lint` lists them."""

import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, Final

from pytest_corpus.authoring.tree import LintFinding, LocatedSchema, Tree
from pytest_corpus.spec.schemas import BASE_URI, DIALECT, PRINTED_NAMES
from pytest_corpus.text.values import escape_key

_OLD_KEYWORDS: Final = {
    "additionalItems": "items and prefixItems",
    "definitions": "$defs",
    "dependencies": "dependentRequired or dependentSchemas",
    "disallow": "not",
    "divisibleBy": "multipleOf",
    "extends": "allOf",
    "id": "$id",
    "$recursiveAnchor": "$dynamicAnchor",
    "$recursiveRef": "$dynamicRef",
}
"""Keywords of older drafts, and their replacements in draft 2020-12."""

_ENGINES_DIFFER: Final = re.compile(r"\$.|\\[dwsbDWSBAZzGpP]|\(\?(?:[a-zA-Z#>]|<[^=!])|\[\[|[*+?}][+]")
"""Parts of patterns that ECMA 262, Python and Rust read differently or not at all: ``$`` before the end, classes and
anchors by letter, groups with names or flags, sets in sets, possessive quantifiers."""


def check_dialect(tree: Tree) -> Iterator[LintFinding]:
    """Find documents whose ``$schema`` is not draft 2020-12."""
    for file, document in tree.documents.items():
        if document.get("$schema") != DIALECT:
            yield LintFinding(file, "draft", f"must be {DIALECT}", "/$schema")


def check_document_ids(tree: Tree) -> Iterator[LintFinding]:
    """Find documents whose ``$id`` does not match their folder and file name."""
    for file, document in tree.documents.items():
        if document.get("$id") != BASE_URI + file:
            yield LintFinding(file, "id", f"must be {BASE_URI + file}", "/$id")


def check_unique_ids(tree: Tree) -> Iterator[LintFinding]:
    """Find ids that occur twice, including the ids of schemas inside documents."""
    ids = [(one, one.schema["$id"]) for one in tree.located_schemas if isinstance(one.schema.get("$id"), str)]
    # A wrong $id of a document has a finding already, so the id that its file name demands is counted instead.
    known = [(one, one.base if one.pointer else BASE_URI + one.file) for one, _ in ids]
    count = Counter(uri for _, uri in known)
    for one, uri in known:
        if one.pointer and count[uri] > 1:
            yield LintFinding(one.file, "unique-id", f"{uri} is the $id of another schema too", f"{one.pointer}/$id")


def check_metaschema(tree: Tree) -> Iterator[LintFinding]:
    """Find documents that violate the metaschema of draft 2020-12. Report only the worst fault of each document."""
    import jsonschema_rs
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema.exceptions import best_match

    fast = jsonschema_rs.Draft202012Validator({"$ref": DIALECT})
    validator = Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=FormatChecker(()))
    for file, document in tree.documents.items():
        if fast.is_valid(document):
            continue
        error = best_match(validator.iter_errors(document))
        if error is not None:
            path = "".join(f"/{escape_key(str(part))}" for part in error.absolute_path)
            message = " ".join(error.message.split())
            said = message if len(message) <= 200 else f"breaks {error.validator} of the metaschema"
            yield LintFinding(file, "metaschema", said, path)


@cache
def _keywords() -> tuple[frozenset[str], frozenset[str]]:
    """Return every keyword of draft 2020-12, and the keywords that can influence a verdict."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    vocabularies = {uri: resource.contents for uri, resource in REGISTRY.items() if "/draft/2020-12/" in uri}
    known = {uri: set(document.get("properties", ())) for uri, document in vocabularies.items()}
    said = {key for uri, keys in known.items() if uri.endswith(("/meta-data", "/content")) for key in keys}
    every = frozenset().union(*known.values()) - _OLD_KEYWORDS.keys()
    return every, every - said


def check_keywords(tree: Tree) -> Iterator[LintFinding]:
    """Find misspelt and outdated keywords, which validators ignore. Other unknown keywords are annotations."""
    every, deciding = _keywords()
    for one in tree.located_schemas:
        for key in sorted(one.schema.keys() - every):
            near = () if key.startswith("x-") else get_close_matches(key, deciding, n=1, cutoff=0.8)
            if hint := _OLD_KEYWORDS.get(key) or next(iter(near), None):
                message = f"is not a keyword of draft 2020-12, so validators pass over it: did you mean {hint}?"
                yield LintFinding(one.file, "keyword", message, f"{one.pointer}/{escape_key(key)}")


def _patterns_of(one: LocatedSchema) -> Iterator[tuple[str, str]]:
    if isinstance(one.schema.get("pattern"), str):
        yield f"{one.pointer}/pattern", one.schema["pattern"]
    named = one.schema.get("patternProperties")
    for pattern in named if isinstance(named, dict) else ():
        yield f"{one.pointer}/patternProperties/{escape_key(pattern)}", pattern


def check_patterns(tree: Tree) -> Iterator[LintFinding]:
    """Find patterns that do not compile, or have different meanings in different engines."""
    for one in tree.located_schemas:
        for pointer, pattern in _patterns_of(one):
            if fault := _pattern_fault(pattern):
                yield LintFinding(one.file, "pattern", fault, pointer)


@cache
def _pattern_fault(pattern: str) -> str:
    import jsonschema_rs

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # FutureWarning: Python may change the meaning
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as fault:
        return f"does not compile in Python: {fault}"
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except ValueError:
        return "does not compile in the compiled validator, which reads ECMA 262"
    if found := _ENGINES_DIFFER.search(_replace_simple_parts(pattern)):
        return f"holds {found.group()}, which ECMA 262 and Python read differently: write what is meant in full"
    return ""


def _replace_simple_parts(pattern: str) -> str:
    """Return a pattern with ``_`` for escaped punctuation and simple character sets, which all engines read alike."""
    return re.sub(r"(?<!\[)\[(?:[^\]\[\\]|\\[^dwsDWSpP])*\]", "_", re.sub(r"\\[^A-Za-z0-9]", "_", pattern))


def check_enums(tree: Tree) -> Iterator[LintFinding]:
    """Find enumerations with a repeated value."""
    for one in tree.located_schemas:
        values = one.schema.get("enum")
        fingerprints = [_fingerprint(value) for value in values] if isinstance(values, list) else []
        if repeated := [index for index, value in enumerate(fingerprints) if value in fingerprints[:index]]:
            message = f"repeats a value at index {repeated[0]}: remove it"
            yield LintFinding(one.file, "enum", message, f"{one.pointer}/enum")


def _fingerprint(value: Any) -> str:
    """Return a text for a JSON value; two texts are equal if and only if the values are equal as JSON."""

    def unify_numbers(item: Any) -> Any:
        if isinstance(item, float) and item.is_integer():
            return int(item)
        if isinstance(item, dict):
            return {key: unify_numbers(inner) for key, inner in item.items()}
        return [unify_numbers(inner) for inner in item] if isinstance(item, list) else item

    return json.dumps(unify_numbers(value), sort_keys=True)


def check_names(tree: Tree) -> Iterator[LintFinding]:
    """Find documents without a title, definitions not in PascalCase, and properties not in snake_case."""
    for file, document in tree.documents.items():
        title = document.get("title")
        if not (isinstance(title, str) and title.strip()):
            yield LintFinding(file, "naming", "must be a descriptive title", "/title")
    for one in tree.located_schemas:
        for keyword, form, name_of in (
            ("$defs", r"[A-Z][A-Za-z0-9]*", "PascalCase"),
            ("properties", r"\$?[a-z][a-z0-9_]*", "snake_case"),
        ):
            named = one.schema.get(keyword)
            for name in named if isinstance(named, dict) else ():
                if not re.fullmatch(form, name) and name not in PRINTED_NAMES:
                    pointer = f"{one.pointer}/{keyword}/{escape_key(name)}"
                    yield LintFinding(one.file, "naming", f"must be named in {name_of}", pointer)
