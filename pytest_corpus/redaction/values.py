"""Makes values safe to show: as shapes without content, or with content and masked secrets (SPECIFICATION 14; R21)."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pytest_corpus.redaction import secrets as secret
from pytest_corpus.redaction.secrets import STARS, VOCABULARY, mask_secrets, redact
from pytest_corpus.spec.words import LISTS, OBJECTS, TEXTS, VECTORS

LONGEST_STRING: Final = 400
MOST_ITEMS: Final = 8
PREFIX: Final = "corpusrun"
"""The beginning of every name that the suite makes. It has only letters, which every store accepts in names."""

_LONGEST_NAME: Final = 30
_LONGEST_NUMBER: Final = 12
_LONGEST_INDEX: Final = 5
_MOST_NAMES: Final = 4
_WRITTEN_FREELY: Final = OBJECTS | TEXTS | VECTORS  # keys whose values may contain text of a user
_RULES: Final = ("enum", "const", "pattern", "format", "type")
"""The schema keywords that restrict the text of a string. For any other keyword, a finding states only the length."""

# -- patterns of texts that may be shown -----------------------------------------------------------------

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_.:/+-]{0,40}")
_TYPE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_QUALIFIED: Final = re.compile(r"(?!.*[A-Za-z0-9]{25})[A-Za-z_][A-Za-z0-9_.<>]{0,79}")
_FILE: Final = re.compile(r"(?!.*[A-Za-z0-9]{33})[\w .+@/\\:-]{1,200}\.py")
_ID_KEY: Final = re.compile(r"(?:^|_)ids?$|^namespace$")
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
OWN_NAME: Final = re.compile(rf"(?:[a-z]-)?{PREFIX}[a-zA-Z0-9]{{1,60}}(?:-[a-z0-9]{{0,30}}){{0,3}}")


def describe_value(value: object, path: Iterable[object], rule: str) -> str:
    """Describe the value at a path that violates a schema keyword (`rule`), without content or secrets."""
    keys = [part for part in path if isinstance(part, str)]
    open_to_view = not any(key in _WRITTEN_FREELY or secret.KEY.search(key) for key in keys)
    open_to_view = open_to_view and (not keys or keys[-1] not in LISTS)
    if isinstance(value, str):
        plain = (
            open_to_view and keys and rule in _RULES and _IDENTIFIER.fullmatch(value) and not secret.VALUE.search(value)
        )
        return f'"{value}"' if plain else f"a string of {len(value)} characters"
    if isinstance(value, list):
        return f"an array of {len(value)} items"
    if isinstance(value, dict):
        return f"an object of {len(value)} keys"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, int | float) or not open_to_view:
        return "a number" if isinstance(value, int | float) else ""
    # Python refuses to write integers of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 128:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def is_plain_identifier(text: str) -> bool:
    """True if a text is a short identifier that does not look like a credential."""
    return text != "" and _IDENTIFIER.fullmatch(text) is not None and not secret.VALUE.search(text)


def printable(text: str) -> str:
    """Escape all characters that could move the cursor or change the terminal."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def shorten(text: str, most: int, end: int = 0) -> str:
    """Shorten a text to `most` characters: its beginning and its last `end` characters, with dots between them."""
    if len(text) <= most:
        return text
    return f"{text[: most - end]} ..." + (f" {text[-end:]}" if end else "")


@dataclass(frozen=True, slots=True)
class UnreadableValue:
    """The type and the text of a value that JSON cannot represent. The text is only searched for leaks."""

    type: str
    text: str = ""

    def __str__(self) -> str:
        return self.text


def describe_word(value: object) -> str:
    """Describe a value that should be a word of the protocol (a code, class, operation or state).

    Such a word is shown unchanged. Any other value is described by type and size, because it may contain private text.
    """
    if type(value) is UnreadableValue:
        return f"a {value.type}"
    if isinstance(value, str):
        return value if value in VOCABULARY else f"a string of {len(value)} character{'s' * (len(value) != 1)}"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if isinstance(value, int) and value.bit_length() > 4 * _LONGEST_NUMBER:
            return "a number"
        text = repr(value)
        return text if len(text) <= _LONGEST_NUMBER else "a number"
    return kind_of(value)


def _is_name(key: str) -> bool:
    return len(key) <= _LONGEST_NAME and secret.NAME.fullmatch(key) is not None


def list_keys(what: str, found: Iterable[object]) -> str:
    """List keys that an adapter chose: show keys that look like names, and count the others.

    `what` is the noun before the keys, such as "the key".
    """
    every = list(found)
    named = sorted({key for key in every if isinstance(key, str) and _is_name(key)})[:8]
    others = len(every) - len(named)
    if not named:
        return f"{others or 'no'} {what.removeprefix('the ')}{'s' * (others != 1)}"
    more = f" and {others} more" if others else ""
    return f"{what}{'s' * (len(every) > 1)} {', '.join(named)}{more}"


def redact_path(path: str) -> str:
    """Replace each part of a path that may be content; the path leads to a value in an answer."""
    return ".".join(_redact_step(step) for step in path.split("."))


def _redact_step(step: str) -> str:
    key, bracket, indexes = step.partition("[")
    indexes = indexes.replace("][", "").removesuffix("]")
    plain = step == "(root)" or _is_name(key) or key == "" or (key.isdecimal() and len(key) <= _LONGEST_INDEX)
    plain = plain and (not bracket or indexes.isdecimal())
    return step if plain else "(a key)"


def kind_of(value: Any) -> str:
    """Return the JSON type of a value; for other values the Python type."""
    known = {None: "null", bool: "a boolean", str: "a string", int: "a number", float: "a number", list: "an array"}
    name = known.get(None if value is None else type(value), "an object" if isinstance(value, Mapping) else "")
    return name or f"a {type_name(value)}"


def type_name(value: Any) -> str:
    """Return the name of an object's type, even if the object overrides it."""
    if type(value) is UnreadableValue:
        return value.type
    name = type.__dict__["__name__"].__get__(type(value))
    return name if _TYPE.fullmatch(name) else "type of an unusual name"


def list_names(found: Iterable[str]) -> str:
    """List names of the adapter's functions and threads, each once, most frequent first."""
    counts = Counter(name if _QUALIFIED.fullmatch(name) else "an unusual name" for name in found)
    most = [name for name, _ in counts.most_common(_MOST_NAMES)]
    return ", ".join(most) + (", ..." if len(counts) > _MOST_NAMES else "")


def display_path(name: str) -> str:
    """Return the path of a Python file relative to the working directory. An unusual path may contain a secret, so it
    is not shown.
    """
    if not _FILE.fullmatch(name):
        return "a file of an unusual name"
    try:
        return Path(name).relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return name


def show_shape(value: object, most: int) -> str:
    """Return a JSON value in one line of at most `most` characters, with the length of each string instead of its text.

    Keys, numbers and words of the protocol are shown.
    """
    return shorten(json.dumps(map_value(value, describe_size), default=_name_type), most)


def describe_size(text: str) -> str:
    """Return the length of a text as `<12 characters>`; a word of the protocol is returned unchanged."""
    return text if text in VOCABULARY else f"<{len(text)} characters>"


def show_content(value: object, secrets: Iterable[str], most: int, *, foreign: bool, own: Iterable[str] = ()) -> str:
    """Return a JSON value in one line with its content. Secrets are masked, long strings and arrays are shortened.

    Args:
        secrets: the secrets to mask.
        most: the largest length of the result.
        foreign: True if the value is not from the suite. Then every word that looks like a credential is masked, except
            UUIDs and names in the form of the suite.
        own: texts of the suite, which are not masked.
    """
    secrets, plain = tuple(secrets), {*own, *_plain_ids(value)}

    def show_text(text: str) -> str:
        return show_foreign_text(text, secrets) if foreign and text not in plain else show_own_text(text, secrets)

    shown_value = map_value(value, lambda text: shorten(show_text(text), LONGEST_STRING), show_text)
    return mask_secrets(shorten(json.dumps(shown_value, default=_name_type, ensure_ascii=False), most), secrets)


def _plain_ids(value: object, key: str = "") -> Iterator[str]:
    """Yield the strings in a JSON value that are names made by the suite, or UUIDs under a key for ids."""
    if isinstance(value, Mapping | list):
        for name, item in value.items() if isinstance(value, Mapping) else ((key, item) for item in value):
            yield from _plain_ids(item, str(name))
    elif isinstance(value, str) and (OWN_NAME.fullmatch(value) or (_ID_KEY.search(key) and _UUID.fullmatch(value))):
        yield value


def map_value(value: object, text: Callable[[str], str], key: Callable[[str], str] = str) -> object:
    """Return a JSON value with its texts and keys changed by two functions, and long arrays shortened."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return {key(str(name)): map_value(item, text, key) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    more = len(value) - MOST_ITEMS
    return [map_value(item, text, key) for item in value[:MOST_ITEMS]] + ([f"... {more} more"] if more > 0 else [])


def show_own_text(text: str, secrets: Iterable[str]) -> str:
    """Make a text of the suite safe to show: escape control characters, mask secrets and credentials."""
    return printable(secret.CREDENTIAL.sub(STARS, mask_secrets(text, secrets)))


def show_foreign_text(text: str, secrets: Iterable[str]) -> str:
    """Make a text of the adapter safe to show, as `show_own_text` does, and mask words that look like credentials."""
    return printable(redact(show_own_text(text, secrets)))


def _name_type(value: object) -> str:
    return f"<{type_name(value)}>"
