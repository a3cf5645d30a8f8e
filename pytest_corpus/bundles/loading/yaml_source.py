"""YAML with the line of every value: plain values only, no key twice, and no bomb of aliases."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_corpus.bundles.errors import BundleError, Problem
from pytest_corpus.bundles.loading.files import shown, text_of
from pytest_corpus.bundles.optional_libraries import library

MOST_VALUES = 20_000
"""Values that a file may come to, those of aliases each time they are used."""

DEEPEST = 50

Key = str | int


@dataclass
class Source:
    """A file's value, and the line of each value in it."""

    file: str
    value: Any = None
    lines: dict[tuple[Key, ...], int] = field(default_factory=dict)

    def line(self, *path: Key) -> int:
        """The line of the value at a path, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def problem(self, message: str, *path: Key) -> Problem:
        """A problem of the value at a path."""
        return Problem(self.file, message, self.line(*path))


def read(path: Path) -> Source:
    """The value of a YAML file. Raises BundleError if it is not valid YAML or holds more than plain values."""
    yaml = library("yaml", shown(path))
    source, line = Source(shown(path)), None
    text = text_of(path)
    try:
        loader = yaml.SafeLoader(text)
        try:
            node = loader.get_single_node()
            if node is None:
                raise BundleError(Problem(source.file, "is empty"))
            source.value = _Reader(yaml, loader, source).value(node, ())
            return source
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        said = "is not valid YAML: " + " ".join(part for part in (error.context, error.problem) if part)
        if error.context == "while scanning a block scalar" and "'='" in str(error.problem):
            said = 'is not valid YAML: an operator stands without quotes; write ">="'
    except yaml.YAMLError as error:
        said = f"is not valid YAML: {str(error).splitlines()[0]}"
    except RecursionError:
        said = f"is nested deeper than {DEEPEST} levels"
    except (ValueError, OverflowError) as error:
        said = f"holds a value that cannot be read: {error}"
    raise BundleError(Problem(source.file, said, line))


class _Reader:
    """Makes values of the nodes of one document."""

    def __init__(self, yaml: Any, loader: Any, source: Source) -> None:
        self._yaml, self._loader, self._source = yaml, loader, source
        self._count = 0

    def value(self, node: Any, path: tuple[Key, ...]) -> Any:
        self._source.lines.setdefault(path, node.start_mark.line + 1)
        self._count += 1
        if self._count > MOST_VALUES:
            self._fail(node, f"holds more than {MOST_VALUES:,} values; aliases count each time")
        if len(path) > DEEPEST:
            self._fail(node, f"is nested deeper than {DEEPEST} levels")
        if isinstance(node, self._yaml.ScalarNode):
            return self._scalar(node)
        if node.tag not in ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"):
            self._fail(node, f"holds the tag {node.tag!r}; a bundle holds plain values")
        if isinstance(node, self._yaml.SequenceNode):
            return [self.value(item, (*path, number)) for number, item in enumerate(node.value)]
        return self._mapping(node, path)

    def _scalar(self, node: Any) -> Any:
        value = self._loader.construct_object(node)
        if isinstance(value, float) and not math.isfinite(value):
            self._fail(node, f"holds {node.value}, which is not a JSON number")
        return value

    def _mapping(self, node: Any, path: tuple[Key, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, item in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                self._fail(key_node, "merges another mapping, which a bundle does not; write its keys here")
            key = self._key(key_node)
            if key in found:
                self._fail(key_node, f"the key {key!r} appears twice; it is in line {first[key]} already")
            first[key] = key_node.start_mark.line + 1
            place = (*path, key)
            self._source.lines[place] = first[key]
            found[key] = self.value(item, place)
        return found

    def _key(self, node: Any) -> str:
        key = self._loader.construct_object(node) if isinstance(node, self._yaml.ScalarNode) else None
        if not isinstance(key, str):
            self._fail(node, f"{'this key' if key is None else repr(key)} is not text; quote the key")
        return str(key)

    def _fail(self, node: Any, message: str) -> None:
        raise BundleError(Problem(self._source.file, message, node.start_mark.line + 1))
