"""Instances for property-based tests: mutations of a seed, and instances made from a schema."""

import copy
import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from pytest_corpus import resources
from pytest_corpus.authoring.schema_rules import RuleCollector, generate_variants
from pytest_corpus.spec.schemas import OWN_FOLDERS
from pytest_corpus.text.problems import to_plain_json
from pytest_corpus.validation.schema.files import spell_out_dots, transform

Path = tuple[str | int, ...]

FINITE: dict[str, Any] = {"allow_nan": False, "allow_infinity": False}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(**FINITE),
    st.sampled_from((-1, 0, 1, 1.0, -0.5, 2**70, 1e308, "", "OK", "STREAMING", "llm.stream", "a\n", "stop")),
    st.text(st.characters(codec="utf-8"), max_size=8),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("id", "text", "tokens", "x")), inner, max_size=3)
    ),
    max_leaves=6,
)


@cache
def documents() -> Mapping[str, dict[str, Any]]:
    """Every schema document of the protocol by its `$id`, as the files have it."""
    paths = sorted(resources.folder("schemas").rglob("*.json"))
    read = [json.loads(path.read_text()) for path in paths if path.parent.name not in OWN_FOLDERS]
    return {document["$id"]: document for document in read}


@cache
def _registry() -> Registry[Any]:
    def rewritten(pattern: str) -> str:  # at `$` Python also matches before a final newline
        pattern = spell_out_dots(pattern)
        return pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern

    def for_python(schema: dict[str, Any]) -> None:
        if isinstance(schema.get("pattern"), str):
            schema["pattern"] = rewritten(schema["pattern"])
        if isinstance(named := schema.get("patternProperties"), dict):
            schema["patternProperties"] = {rewritten(pattern): each for pattern, each in named.items()}

    found = {uri: transform(document, for_python) for uri, document in documents().items()}
    return Registry().with_resources((uri, DRAFT202012.create_resource(each)) for uri, each in found.items())


def second_opinion(instance: object, uri: str) -> bool:
    """True if an instance is valid as jsonschema reads the files, without the compiled validator."""
    value, faults = to_plain_json(instance, "")
    return not faults and bool(Draft202012Validator({"$ref": uri}, registry=_registry()).is_valid(value))


@st.composite
def mutated(draw: st.DrawFn, seed: Any, edits: int = 3) -> Any:
    """The seed with up to `edits` values replaced, nulled, removed or added."""
    root = [copy.deepcopy(seed)]
    keys = sorted({part for path in paths(seed) for part in path if isinstance(part, str)} | {"extra", "code"})
    for _ in range(draw(st.integers(1, edits))):
        path = draw(st.sampled_from([(0, *path) for path in paths(root[0])]))
        edit = draw(st.sampled_from(("replace", "null", "remove", "add")))
        holder: Any = root
        for part in path[:-1]:
            holder = holder[part]
        target = holder[path[-1]]
        if edit == "replace":
            holder[path[-1]] = draw(JSON)
        elif edit == "null":
            holder[path[-1]] = None
        elif edit == "remove" and len(path) > 1:
            del holder[path[-1]]
        elif isinstance(target, dict):
            target[draw(st.sampled_from(keys))] = draw(JSON)
        elif isinstance(target, list):
            target.append(draw(JSON))
    return root[0]


def paths(value: Any, here: Path = ()) -> Iterator[Path]:
    """The path of every value in a JSON value, its own first."""
    yield here
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from paths(item, (*here, key))


def with_every_text(value: Any, text: str) -> Any:
    """The value with this text instead of each of its own."""
    if isinstance(value, dict):
        return {key: with_every_text(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [with_every_text(item, text) for item in value]
    return text if isinstance(value, str) else value


@cache
def from_schema(uri: str) -> st.SearchStrategy[Any]:
    """Instances at the borders of the schema with an `$id`; a few that it refuses may be among them."""
    return st.sampled_from(list(generate_variants(RuleCollector(documents().__getitem__), {"$ref": uri})))
