"""A strict JSON parser for bytes, with a fault for each way in which a document can be invalid.

If two JSON parsers could disagree about a document, it has a fault, even if Python's parser accepts it: NaN, a repeated
key, a lone surrogate, a number beyond the range of a double, excessive nesting (RFC 8259, RFC 7493).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import orjson

from pytest_corpus.spec.words import BOM
from pytest_corpus.text.bounded import MOST_DIGITS, ZEROS, has_long_digits, measure_depth
from pytest_corpus.text.problems import MAX_DEPTH, TOO_DEEP, json_problems, path_text

_COLON = re.compile(rb"\\u003[aA]")
_LONG_INTEGER = b"0" * 19  # an integer of 64 bits may have this many digits


class Fault(Enum):
    """The ways in which a document can be invalid."""

    UTF8 = "invalid UTF-8"
    SYNTAX = "no JSON"
    DUPLICATE_KEY = "a key that appears twice"
    DEPTH = "nested too deep"


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fault of a document, with its path as in `Problem.path` (empty for the whole document)."""

    fault: Fault
    message: str
    path: str = ""

    def __str__(self) -> str:
        return f"{self.path} {self.message}".strip()


def parse(data: bytes, *, closely: bool = True) -> tuple[Any, Flaw | None]:
    """Parse a JSON document; return its value, and its flaw or None.

    If there is a flaw, the value is the result of a lenient parser, or None; the last of repeated keys counts. If
    `closely` is False, repeated keys and deep nesting are not flaws of a readable document.
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return _find_flaw(data, f"is not JSON: {error.msg}")
    if not closely or (measure_depth(data) <= MAX_DEPTH and _has_every_key(data, orjson.dumps(value))):
        return value, None
    return _find_flaw(data, "")


def read_exactly(data: bytes) -> tuple[Any, Flaw | None]:
    """Parse a document like `parse`, but accept some flaws, because separate requirements forbid them.

    NaN, infinities and lone surrogates stay. Integers stay integers, but become infinite beyond the range of a double.
    The last of repeated keys counts. An unreadable document has the value None.
    """
    if (value := read_plainly(data)) is not NOT_PLAIN:
        return value, None
    try:
        if measure_depth(data) <= MAX_DEPTH:
            value = (_EXACT_LONG if has_long_digits(data) else _EXACT).decode(data.decode())
            return value, None if _keeps_every_key(data, value) else _duplicate_key(_LENIENT.decode(data.decode()))
    except ValueError:
        pass
    return None, _find_flaw(data, "is not JSON")[1]


NOT_PLAIN = object()


def read_plainly(data: bytes) -> Any:
    """Parse a flawless document like `read_exactly` if orjson returns the same value; otherwise return `NOT_PLAIN`.

    All numbers of the result are finite. orjson changes integers of more than 64 bits, and refuses NaN, numbers beyond
    the range of a double, and lone surrogates.
    """
    if measure_depth(data) > MAX_DEPTH or _LONG_INTEGER in data.translate(ZEROS):
        return NOT_PLAIN
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return NOT_PLAIN
    return value if _has_every_key(data, orjson.dumps(value)) else NOT_PLAIN


def _keeps_every_key(data: bytes, value: Any) -> bool:
    """True if a parsed value still has every key of its text; False means that a key may be lost."""
    try:
        return _has_every_key(data, orjson.dumps(value))
    except TypeError:  # orjson writes neither lone surrogates nor integers of more than 64 bits
        return False


def are_flawless(documents: Sequence[bytes], values: list[Any]) -> bool:
    """True if `parse` would find no flaw in any of these documents; False means that a closer check is needed.

    `values` are the parsed documents.
    """
    for _ in range(_LEVELS_AROUND):
        values = [values]
    try:
        written = orjson.dumps(values)[_LEVELS_AROUND:-_LEVELS_AROUND]
    except TypeError:  # too deep
        return False
    if len(written) == sum(map(len, documents)) + len(documents) + 1 and written[1:-1] == b",".join(documents):
        return True
    return _has_every_key(b" ".join(documents), written)


# orjson refuses more than 254 levels, so with these levels around it refuses documents deeper than MAX_DEPTH.
_LEVELS_AROUND = 254 - MAX_DEPTH - 1


def _has_every_key(text: bytes, written: bytes) -> bool:
    """True if `written`, the JSON of the parsed value of `text`, has every key of `text`; False if a key may be lost.

    Outside of strings each colon follows a key; inside of strings colons are kept unless they were escaped. So a
    missing colon shows a repeated key.
    """
    return text.count(b":") == written.count(b":") and not (b"\\" in text and _COLON.search(text))


def write_json(value: object) -> bytes | None:
    """Return a value as JSON, with null for NaN; None if it cannot be written.

    Values of other types, integers of more than 64 bits and values that are nested too deeply cannot be written.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS)
    except TypeError:
        return None
    return text if measure_depth(text) <= MAX_DEPTH else None


_TOO_DEEP = Flaw(Fault.DEPTH, TOO_DEEP)


class _ObjectWithRepeatedKey(dict[str, Any]):
    key = ""


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    twice, seen = _ObjectWithRepeatedKey(plain), set[str]()
    twice.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return twice


def _parse_integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MOST_DIGITS else float(digits)


_LENIENT = json.JSONDecoder(object_pairs_hook=_build_object, parse_int=_parse_integer)
_EXACT = json.JSONDecoder()
_EXACT_LONG = json.JSONDecoder(parse_int=_parse_integer)


def describe_flaw(data: bytes, flaw: Flaw) -> str:
    """Describe a flaw of a document, with the place of a syntax error."""
    try:
        if flaw.path or flaw.fault not in (Fault.UTF8, Fault.SYNTAX) or not data.strip() or data.startswith(BOM):
            return str(flaw)
        data.decode()
        orjson.loads(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"is not UTF-8 at byte {error.start + 1}, in line {line}; save it as UTF-8"
    except orjson.JSONDecodeError as error:
        if "unexpected end" in error.msg:
            return f"ends in the middle of the JSON document, after {len(data)} bytes; is it cut off?"
        where = f"at line {error.lineno}, column {error.colno}" if error.colno else ""
        return f"is not JSON: {error.msg} {where}".rstrip()
    return str(flaw)


def _find_flaw(data: bytes, otherwise: str) -> tuple[Any, Flaw | None]:
    """Parse a document that may be invalid; `otherwise` is the error message of the fast parser, or empty."""
    flaw = None
    if data.startswith(BOM):
        flaw = Flaw(Fault.SYNTAX, "begins with a byte order mark, which JSON does not have")
        data = data[len(BOM) :]
    if not data.strip():
        return None, flaw or Flaw(Fault.SYNTAX, "is empty")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        flaw = flaw or Flaw(Fault.UTF8, f"is not UTF-8 at byte {error.start + 1}")
        text = data.decode(errors="replace")
    if measure_depth(data) > MAX_DEPTH:
        return None, flaw or _TOO_DEEP
    try:
        value = _LENIENT.decode(text)
    except (ValueError, RecursionError):
        return None, flaw or Flaw(Fault.SYNTAX, otherwise)
    if flaw is None and (problem := next(iter(json_problems(value)), None)):
        return value, Flaw(Fault.SYNTAX, problem.message, problem.path)
    return value, flaw or _duplicate_key(value) or (Flaw(Fault.SYNTAX, otherwise) if otherwise else None)


def _duplicate_key(value: object) -> Flaw | None:
    """Return a flaw for the first repeated key in a value that `_LENIENT` parsed, or None."""
    for path, twice in _find_repeated_keys(value, ()):
        return Flaw(Fault.DUPLICATE_KEY, "appears twice in one object", path_text((*path, twice)))
    return None


def _find_repeated_keys(value: object, path: tuple[object, ...]) -> Any:
    if isinstance(value, _ObjectWithRepeatedKey):
        yield path, value.key
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from _find_repeated_keys(item, (*path, key))
