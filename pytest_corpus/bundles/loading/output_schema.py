"""The JSON Schema that answers must satisfy, in the draft that its `$schema` names (R43). Each `$ref` must stay in the
folder of the bundle (R82).
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, reduce
from graphlib import CycleError, TopologicalSorter
from operator import getitem
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag

from referencing import Registry
from referencing.exceptions import NoSuchAnchor, Unresolvable
from referencing.jsonschema import DRAFT202012, specification_with

from pytest_corpus.bundles.errors import BundleError, BundleProblem
from pytest_corpus.bundles.loading.files import display_path, read_text, resolve_inside
from pytest_corpus.text.strict_json import parse

DRAFTS = {
    "http://json-schema.org/draft-04/schema": "draft 4",
    "http://json-schema.org/draft-06/schema": "draft 6",
    "http://json-schema.org/draft-07/schema": "draft 7",
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
}

_BASE = "file:///corpus-bundle/"
"""The base URI of references; no such folder exists."""

_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")


@dataclass(frozen=True)
class SchemaViolation:
    """A violation of a schema: the path in the answer, the path in the schema, and the validator's message."""

    path: tuple[str | int, ...]
    rule: str
    message: str


@dataclass(frozen=True, eq=False)
class OutputSchema:
    """A valid output schema: its document, the documents that it refers to by URI, and its own URI."""

    document: Any
    others: Mapping[str, Any]
    uri: str

    @cached_property
    def _validator(self) -> Any:
        import jsonschema_rs

        def retrieve(uri: str) -> Any:
            return self.others[urldefrag(uri)[0]]

        return jsonschema_rs.validator_for(self.document, validate_formats=False, retriever=retrieve, base_uri=self.uri)

    def violations(self, value: Any) -> list[SchemaViolation]:
        """Return the violations of the schema in a value, at most ten."""
        if self._validator.is_valid(value):
            return []
        found = []
        for error in self._validator.iter_errors(value):
            rule = "/".join(str(part) for part in error.schema_path)
            found.append(SchemaViolation(tuple(error.instance_path), rule, str(error.message)))
            if len(found) == 10:
                break
        return found


def read_schema(folder: Path, given: str) -> OutputSchema:
    """Read a schema and the files it refers to. Raises BundleError for an invalid file, ValueError for the path."""
    path = resolve_inside(folder, given)
    document = _read_json(path)
    draft = _draft_of(path, document)
    uri = _BASE + quote(path.relative_to(folder).as_posix())
    references = _ReferenceChecker(folder, path, draft)
    try:
        references.check(document, uri)
    except BundleError:
        raise
    except Exception as error:  # noqa: BLE001 - following references fails in many ways if a keyword has an invalid value
        _check_validity(folder, path, OutputSchema(document, {}, uri))  # raises a better error for an invalid schema
        said = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
        raise BundleError(
            BundleProblem(display_path(path), f"is not a valid JSON Schema: what it refers to is none ({said})")
        ) from None
    schema = OutputSchema(document, references.documents, uri)
    _check_validity(folder, path, schema)
    return schema


def _read_json(path: Path) -> Any:
    value, flaw = parse(read_text(path).encode())
    if flaw is not None:
        raise BundleError(
            BundleProblem(display_path(path), f"is not valid JSON: {str(flaw).removeprefix('is not JSON: ')}")
        )
    return value


def _draft_of(path: Path, document: Any) -> Any:
    """Return the draft that a schema names, by default the newest draft."""
    if not isinstance(document, dict | bool):
        raise BundleError(
            BundleProblem(display_path(path), "is not a JSON Schema: it is neither an object nor true or false")
        )
    named = document.get("$schema") if isinstance(document, dict) else None
    if named is None:
        return DRAFT202012
    if not isinstance(named, str) or named.rstrip("#") not in DRAFTS:
        said = f"$schema names {str(named)[:80]!r}, which is not a known draft; use {', '.join(DRAFTS.values())}"
        raise BundleError(BundleProblem(display_path(path), said))
    return specification_with(named)


def _check_validity(folder: Path, path: Path, schema: OutputSchema) -> None:
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema.document)
        schema.violations(None)
    except jsonschema_rs.ValidationError as error:
        said = f", at {'/'.join(map(str, error.instance_path)) or '(root)'}: {error.message[:300]}"
        for place, other in schema.others.items():  # the error may be in a file that the schema refers to
            with suppress(LookupError, TypeError):
                if reduce(getitem, error.instance_path, other) == error.instance:
                    path = resolve_inside(folder, unquote(place.removeprefix(_BASE)))
                    break
    except Exception as error:  # noqa: BLE001 - the validator raises what its drafts and patterns need
        said = f": {(str(error).strip().splitlines() or [type(error).__name__])[0][:300]}"
    else:
        return
    raise BundleError(BundleProblem(display_path(path), f"is not a valid JSON Schema{said}"))


class _ReferenceChecker:
    """Follows every `$ref` of a schema. Each must lead to a schema inside the folder; endless loops are refused."""

    def __init__(self, folder: Path, path: Path, draft: Any) -> None:
        self._folder, self._file, self._draft = folder, display_path(path), draft
        self.documents: dict[str, Any] = {}
        self._edges: dict[int, list[int]] = {}

    def check(self, document: Any, uri: str) -> None:
        self.documents[uri] = document
        registry: Registry[Any] = Registry(retrieve=self._retrieve)  # type: ignore[call-arg]
        schema = self._draft.create_resource(document)
        self._follow_references(schema, registry.with_resource(uri, schema).resolver(uri))
        edges = {
            node: [id(each) for each in targets if isinstance(each, dict)] for node, targets in self._edges.items()
        }
        try:
            TopologicalSorter(edges).prepare()
        except CycleError:
            raise BundleError(
                BundleProblem(self._file, "holds a $ref that leads back to itself without an end")
            ) from None

    def _retrieve(self, uri: str) -> Any:
        if uri not in self.documents:
            if not uri.startswith(_BASE):
                raise ValueError("leaves the folder of the bundle; copy what it refers to into it")
            self.documents[uri] = _read_json(resolve_inside(self._folder, unquote(uri.removeprefix(_BASE))))
        return self._draft.create_resource(self.documents[uri])

    def _follow_references(self, schema: Any, resolver: Any) -> None:
        node = schema.contents
        if not isinstance(node, dict) or id(node) in self._edges:
            return
        resolver = resolver.in_subresource(schema)
        targets = self._edges[id(node)] = list(_in_place_subschemas(node))
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(reference := node.get(key), str):
                found = self._lookup(reference, resolver)
                targets.append(found.contents)
                self._follow_references(self._draft.create_resource(found.contents), found.resolver)
        for each in schema.subresources():
            self._follow_references(each, resolver)

    def _lookup(self, reference: str, resolver: Any) -> Any:
        try:
            return resolver.lookup(reference)
        except Unresolvable as error:
            cause = error.__cause__ and error.__cause__.__cause__  # what `_retrieve` raised
            if isinstance(cause, BundleError):
                raise cause from None
            nowhere = "names an anchor that is not there" if isinstance(error, NoSuchAnchor) else "leads nowhere"
            raise BundleError(BundleProblem(self._file, f"$ref {reference[:100]!r} {cause or nowhere}")) from None


def _in_place_subschemas(node: dict[str, Any]) -> Iterator[Any]:
    """Yield the subschemas that apply to the same value as their schema."""
    yield from (node[key] for key in _IN_PLACE if key in node)
    for key in _IN_PLACE_LISTS:
        if isinstance(node.get(key), list):
            yield from node[key]
    for key in ("dependentSchemas", "dependencies"):
        if isinstance(node.get(key), dict):
            yield from node[key].values()
