"""The JSON Schema of answers, under the draft that its own `$schema` names (R43); `$ref` stays in the folder (R82)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urljoin

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.bundles.loading.files import inside, shown, text_of
from pytest_corpus.text.strict_json import read

DRAFTS = {
    "http://json-schema.org/draft-04/schema": "draft 4",
    "http://json-schema.org/draft-06/schema": "draft 6",
    "http://json-schema.org/draft-07/schema": "draft 7",
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
}

_BASE = "file:///corpus-bundle/"
"""Where references are resolved: no real place."""

_IN_PLACE = ("not", "if", "then", "else")
_IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
_DATA = ("const", "enum", "default", "examples")


@dataclass(frozen=True)
class Violation:
    """Where an answer breaks its schema: the path in the answer, the place in the schema, the validator's words."""

    path: tuple[str | int, ...]
    rule: str
    message: str


@dataclass(frozen=True, eq=False)
class OutputSchema:
    """A schema that was found to be sound."""

    document: Any
    others: Mapping[str, Any]
    uri: str

    @cached_property
    def _validator(self) -> Any:
        import jsonschema_rs

        def retrieve(uri: str) -> Any:
            return self.others[urldefrag(uri)[0]]

        return jsonschema_rs.validator_for(self.document, validate_formats=False, retriever=retrieve, base_uri=self.uri)

    def violations(self, value: Any) -> list[Violation]:
        """What of a value breaks the schema, at most ten places; none where it is valid."""
        if self._validator.is_valid(value):
            return []
        found = []
        for error in self._validator.iter_errors(value):
            rule = "/".join(str(part) for part in error.schema_path)
            found.append(Violation(tuple(error.instance_path), rule, str(error.message)))
            if len(found) == 10:
                break
        return found


def read_schema(folder: Path, given: str) -> OutputSchema:
    """A schema of a bundle, and the files that it refers to.

    Raises:
        BundleError: it is not a valid JSON Schema; ValueError: the path leads nowhere (the end of a sentence).
    """
    path = inside(folder, given)
    loader = _Loader(folder)
    document = loader.load(path)
    _check_draft(path, document)
    uri = _BASE + quote(path.relative_to(folder).as_posix())
    loader.known[uri] = document
    _References(loader, path, uri).check(document)
    schema = OutputSchema(document, loader.known, uri)
    _check_meaning(path, schema)
    return schema


def _check_draft(path: Path, document: Any) -> None:
    if not isinstance(document, dict | bool):
        raise BundleError(Problem(shown(path), "is not a JSON Schema: it is neither an object nor true or false"))
    named = document.get("$schema") if isinstance(document, dict) else None
    if named is not None and (not isinstance(named, str) or named.rstrip("#") not in DRAFTS):
        known = ", ".join(DRAFTS.values())
        raise BundleError(
            Problem(shown(path), f"$schema names {str(named)[:80]!r}, which is not a known draft; use {known}")
        )


def _check_meaning(path: Path, schema: OutputSchema) -> None:
    import jsonschema_rs

    try:
        jsonschema_rs.meta.validate(schema.document)
    except jsonschema_rs.ValidationError as error:
        place = "/".join(map(str, error.instance_path)) or "(root)"
        raise BundleError(
            Problem(shown(path), f"is not a valid JSON Schema, at {place}: {error.message[:300]}")
        ) from None
    except Exception as error:  # noqa: BLE001 - the validator raises what its drafts and patterns need
        raise BundleError(Problem(shown(path), f"is not a valid JSON Schema: {_first_line(error)}")) from None
    try:
        schema.violations(None)
    except Exception as error:  # noqa: BLE001 - likewise
        raise BundleError(Problem(shown(path), f"is not a valid JSON Schema: {_first_line(error)}")) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


class _Loader:
    """Reads the schema files of a folder, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.known: dict[str, Any] = {}

    def load(self, path: Path) -> Any:
        value, flaw = read(text_of(path).encode())
        if flaw is not None:
            said = f"{flaw.path} {flaw.message}".strip()
            raise BundleError(Problem(shown(path), f"is not valid JSON: {said.removeprefix('is not JSON: ')}"))
        return value

    def document(self, uri: str) -> Any:
        """The document of a URI below the folder.

        Raises:
            ValueError: there is none, or it lies elsewhere; the end of a sentence.
        """
        if uri not in self.known:
            if not uri.startswith(_BASE):
                raise ValueError("leaves the folder of the bundle; copy what it refers to into it")
            self.known[uri] = self.load(inside(self._folder, unquote(uri.removeprefix(_BASE))))
        return self.known[uri]


class _References:
    """Follows every `$ref` of a schema: none may dangle, leave the folder, or lead back to itself in place."""

    def __init__(self, loader: _Loader, path: Path, uri: str) -> None:
        self._loader, self._file = loader, shown(path)
        self._ids: dict[str, Any] = {}
        self._edges: dict[int, list[Any]] = {}
        self._seen: dict[int, Any] = {}
        self._uri = uri

    def check(self, document: Any) -> None:
        self._note_ids(document, self._uri, top=True)
        self._walk(document, self._uri)
        self._refuse_circles()

    def _note_ids(self, node: Any, base: str, *, top: bool = False) -> None:
        if isinstance(node, dict):
            given = node.get("$id", node.get("id") if top else None)
            if isinstance(given, str):
                base = urljoin(base, given)
                self._ids.setdefault(urldefrag(base)[0], node)
                if "#" in given:
                    self._ids.setdefault(base, node)
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(node.get(key), str):
                    self._ids.setdefault(f"{urldefrag(base)[0]}#{node[key]}", node)
            for key, item in node.items():
                if key not in _DATA:
                    self._note_ids(item, base)
        elif isinstance(node, list):
            for item in node:
                self._note_ids(item, base)

    def _walk(self, node: Any, base: str) -> None:
        if isinstance(node, list):
            for item in node:
                self._walk(item, base)
        if not isinstance(node, dict) or id(node) in self._seen:
            return
        self._seen[id(node)] = node
        if isinstance(node.get("$id"), str):
            base = urljoin(base, node["$id"])
        self._edges[id(node)] = list(_in_place(node))
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            reference = node.get(key)
            if isinstance(reference, str):
                target, where = self._resolve(reference, base)
                self._edges[id(node)].append(target)
                self._walk(target, where)
        for key, item in node.items():
            if key not in _DATA:
                self._walk(item, base)

    def _resolve(self, reference: str, base: str) -> tuple[Any, str]:
        whole = urljoin(base, reference) if not reference.startswith("#") else urldefrag(base)[0] + reference
        uri, fragment = urldefrag(whole)
        if whole in self._ids:
            return self._ids[whole], uri
        try:
            document = self._ids[uri] if uri in self._ids else self._loader.document(uri)
            if uri not in self._ids:
                self._ids[uri] = document
                self._note_ids(document, uri, top=True)
            if whole in self._ids:
                return self._ids[whole], uri
            return _pointed(document, unquote(fragment)), uri
        except ValueError as error:
            raise BundleError(Problem(self._file, f"$ref {reference[:100]!r} {error}")) from None

    def _refuse_circles(self) -> None:
        done: set[int] = set()
        for start in self._edges:
            stack: list[tuple[int, Iterator[Any]]] = [(start, iter(self._edges[start]))]
            on_the_way = {start}
            while stack:
                here, targets = stack[-1]
                target = next((t for t in targets if isinstance(t, dict) and id(t) not in done), None)
                if target is None:
                    done.add(here)
                    on_the_way.discard(here)
                    stack.pop()
                elif id(target) in on_the_way:
                    raise BundleError(Problem(self._file, "holds a $ref that leads back to itself without an end"))
                else:
                    on_the_way.add(id(target))
                    stack.append((id(target), iter(self._edges.get(id(target), ()))))


def _in_place(node: dict[str, Any]) -> Iterator[Any]:
    """The schemas that a schema applies to the very same value."""
    yield from (node[key] for key in _IN_PLACE if key in node)
    for key in _IN_PLACE_LISTS:
        if isinstance(node.get(key), list):
            yield from node[key]
    for key in ("dependentSchemas", "dependencies"):
        if isinstance(node.get(key), dict):
            yield from node[key].values()


def _pointed(document: Any, pointer: str) -> Any:
    if pointer in ("", "/"):
        return document
    if not pointer.startswith("/"):
        raise ValueError("names an anchor that is not there")
    found = document
    for part in pointer[1:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            raise ValueError("leads nowhere")
    return found
