"""Reads the files of a bundle: UTF-8, inside its folder (R84); YAML with the line of each value.

YAML files that expand to many values ("YAML bombs") are refused.
"""

import math
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from stat import S_ISREG
from typing import Any, NoReturn

from pytest_corpus.bundles.errors import BundleError, BundleProblem, import_library
from pytest_corpus.redaction import printable
from pytest_corpus.text import bounded


def display_path(path: Path) -> str:
    """Return a path for messages, relative to the working folder if it is inside."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def resolve_inside(folder: Path, given: str) -> Path:
    """Return the file in a bundle's folder that a path names. Raises ValueError, whose message follows "PATH:"."""
    if "\0" in given or not given.strip():
        raise ValueError(f"{printable(given)!r} is not a path; name a file in the folder of the bundle")
    if PurePosixPath(given).is_absolute() or PureWindowsPath(given).drive or given.startswith(("\\", "~")):
        raise ValueError(f"{given!r} is an absolute path; name a file in the folder of the bundle")
    path = folder / given
    root = os.path.realpath(folder)
    if os.path.commonpath([root, os.path.realpath(path)]) != root:
        raise ValueError(f"{given!r} leaves the folder of the bundle; copy the file into it")
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise ValueError(f"there is no file {given!r} in {display_path(folder)}") from None
    except OSError as error:
        raise ValueError(f"{given[:100]!r} cannot be read: {error.strerror}") from None
    if not S_ISREG(mode):
        raise ValueError(f"{given!r} is not a file")
    return path


def read_text(path: Path, most: int = bounded.LARGEST) -> str:
    """Read a text file without its byte order mark. Raises BundleError if it is unreadable, too large or not UTF-8."""
    name = display_path(path)
    try:
        data = bounded.read_contents(path, most)
    except bounded.FileRefused as error:
        raise BundleError(BundleProblem(name, error.why)) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BundleError(
            BundleProblem(name, f"is not UTF-8 at byte {error.start + 1}; save it as UTF-8", line)
        ) from None


MOST_VALUES = 20_000
"""The largest number of values in a file. The values behind a YAML alias count each time."""

DEEPEST = 50

TOO_DEEP = f"is nested deeper than {DEEPEST} levels"

LONGEST_NUMBER = 1000
"""The largest length of a number. There is a limit because parsing a number in base 60 takes quadratic time."""

LARGEST_YAML = 2**20
"""The size limit of a YAML file in bytes; prompts and data are in other files."""

NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")

Key = str | int


@dataclass
class SourceFile:
    """The content of a YAML file, and the line number of each value. The path to a value is its key."""

    file: str
    value: Any = None
    lines: dict[tuple[Key, ...], int] = field(default_factory=dict)

    def line(self, *path: Key) -> int:
        """Return the line of the value at a path, or of the closest value around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def problem_at(self, message: str, *path: Key) -> BundleProblem:
        """Return a problem that names the line of the value at a path."""
        return BundleProblem(self.file, message, self.line(*path))


def read_yaml(path: Path) -> SourceFile:
    """Read a YAML file. Raises BundleError if it is not valid YAML or contains values that JSON cannot represent."""
    yaml = import_library("yaml", display_path(path))
    source, line = SourceFile(display_path(path)), None
    text = read_text(path, LARGEST_YAML)
    try:
        loader = _make_loader(yaml, text, source.file)
        try:
            node = loader.get_single_node()
            if node is None:
                raise BundleError(BundleProblem(source.file, "is empty"))
            source.value = _NodeReader(yaml, loader, source).value(node, ())
            return source
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        said = "is not valid YAML: " + " ".join(part[:200] for part in (error.context, error.problem) if part)
        if error.context == "while scanning a block scalar" and "'='" in str(error.problem):
            said = 'is not valid YAML: an operator stands without quotes; write ">="'
    except yaml.YAMLError as error:
        said = f"is not valid YAML: {str(error).splitlines()[0][:200]}"
    except RecursionError:
        said = TOO_DEEP
    except (ValueError, OverflowError) as error:
        said = f"holds a value that cannot be read: {error}"
    raise BundleError(BundleProblem(source.file, said, line))


def _make_loader(yaml: Any, text: str, name: str) -> Any:
    """Return a YAML loader that limits nodes and depth while it parses, before it builds any value."""

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        made = deep = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            self.made += 1
            if self.made > 2 * MOST_VALUES:  # keys, too
                self.refuse(f"holds more than {MOST_VALUES:,} values")
            if self.deep > DEEPEST:
                self.refuse(TOO_DEEP)
            self.deep += 1
            node = super().compose_node(parent, index)
            self.deep -= 1
            return node

        def refuse(self, said: str) -> NoReturn:
            raise BundleError(BundleProblem(name, said, self.get_mark().line + 1))

    return Loader(text)


class _NodeReader:
    """Converts the nodes of one YAML document to values."""

    def __init__(self, yaml: Any, loader: Any, source: SourceFile) -> None:
        self._yaml, self._loader, self._source = yaml, loader, source
        self._count = 0

    def value(self, node: Any, path: tuple[Key, ...]) -> Any:
        self._source.lines.setdefault(path, node.start_mark.line + 1)
        self._count += 1
        if self._count > MOST_VALUES:
            self._fail(node, f"holds more than {MOST_VALUES:,} values; aliases count each time")
        if len(path) > DEEPEST:
            self._fail(node, TOO_DEEP)
        if isinstance(node, self._yaml.ScalarNode):
            return self._read_scalar(node)
        if node.tag not in ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map"):
            self._fail(node, f"holds the tag {node.tag[:100]!r}; a bundle holds plain values")
        if isinstance(node, self._yaml.SequenceNode):
            return [self.value(item, (*path, number)) for number, item in enumerate(node.value)]
        return self._read_mapping(node, path)

    def _read_scalar(self, node: Any) -> Any:
        if len(node.value) > LONGEST_NUMBER and node.tag in NUMBERS:
            self._fail(node, f"holds a number of more than {LONGEST_NUMBER:,} characters; quote it if it is a text")
        value = self._loader.construct_object(node)
        if isinstance(value, float) and not math.isfinite(value):
            self._fail(node, f"holds {node.value}, which is not a JSON number")
        return value

    def _read_mapping(self, node: Any, path: tuple[Key, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, item in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                self._fail(key_node, "merges another mapping, which a bundle does not; write its keys here")
            key = self._read_key(key_node)
            if key in found:
                self._fail(key_node, f"the key {key!r} appears twice; it is in line {first[key]} already")
            first[key] = key_node.start_mark.line + 1
            place = (*path, key)
            self._source.lines[place] = first[key]
            found[key] = self.value(item, place)
        return found

    def _read_key(self, node: Any) -> str:
        key = self._read_scalar(node) if isinstance(node, self._yaml.ScalarNode) else None
        if not isinstance(key, str):
            self._fail(node, f"{'this key' if key is None else repr(key)} is not text; quote the key")
        return str(key)

    def _fail(self, node: Any, message: str) -> None:
        raise BundleError(BundleProblem(self._source.file, message, node.start_mark.line + 1))
