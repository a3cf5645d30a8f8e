"""Reads capabilities in every spelling and nesting of an adapter (RULINGS R22)."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from pytest_corpus.spec.capabilities import ROUNDED_NUMBERS, SECTIONS, find_fact


def to_whole_number(value: object) -> int | None:
    """Return a JSON value as an integer, or None. 2.0 is an integer, true is not (R49)."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    return int(value) if isinstance(value, float) and value.is_integer() else None


class Capabilities:
    """The facts in the capabilities of one component. An absent or null fact is unknown (None).

    Attributes:
        refused: the reason why the document is missing, if the adapter requires other credentials.
    """

    def __init__(self, component: str, document: Mapping[str, Any], refused: str = "") -> None:
        self.component, self.document, self.refused = component, document, refused
        self._raw: dict[str, Any] = {}

    def raw(self, name: str) -> Any:
        """Return the value of a fact as the adapter states it, or None."""
        if name not in self._raw:
            self._raw[name] = next((value for _, value in self.stated_places(name)), None)
        return self._raw[name]

    def stated_places(self, name: str) -> Iterator[tuple[str, Any]]:
        """Yield the path and the value of each statement of a fact, except null."""
        for key in find_fact(self.component, name).keys:
            for section in ("", *SECTIONS):
                holder: Any = self.document.get(section) if section else self.document
                if isinstance(holder, Mapping) and holder.get(key) is not None:
                    yield (f"{section}.{key}" if section else key), holder[key]

    def flag(self, name: str) -> bool | None:
        """Return a boolean capability; None if it is not stated as a boolean."""
        value = self.raw(name)
        return value if isinstance(value, bool) else None

    def limit(self, name: str) -> int | None:
        """Return a positive integer limit; None if the adapter states no limit."""
        value = to_whole_number(self.raw(name))
        return value if value is not None and value > 0 else None

    def published_limit(self, key: str) -> int | None:
        """Return the positive integer under a key outside of the protocol, from any section or extension, or None."""
        word = key.replace("_", "")
        sections = [held for name in SECTIONS if isinstance(held := self.document.get(name), Mapping)]
        stated = [value for held in sections for name, value in held.items() if name == key]
        values = [to_whole_number(value) for value in (*stated, *(value for _, value in self.extensions(word)))]
        return next((value for value in values if value is not None and value > 0), None)

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list of names, such as dialects; empty if the adapter states none."""
        value = self.raw(name)
        return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()

    @cached_property
    def model_entries(self) -> tuple[Mapping[str, Any], ...]:
        """The objects of `models[]` (SPECIFICATION 8.4)."""
        value = self.document.get("models")
        return tuple(item for item in value if isinstance(item, Mapping)) if isinstance(value, list) else ()

    @cached_property
    def models(self) -> tuple[str, ...]:
        """The models that the adapter lists; empty if it accepts any model."""
        nested = [entry["name"] for entry in self.model_entries if isinstance(entry.get("name"), str)]
        plain = self.document.get("models")
        strings = [item for item in plain if isinstance(item, str)] if isinstance(plain, list) else []
        return tuple(dict.fromkeys((*self.names("models"), *nested, *strings)))

    def context_window(self, model: str | None) -> int | None:
        """Return the largest number of tokens in a prompt for `model` (SPECIFICATION 8.4), or None."""
        for entry in self.model_entries:
            window = to_whole_number(entry.get("context_window", entry.get("max_context_length")))
            if entry.get("name") == model and window is not None and window > 0:
                return window
        return self.limit("max_context_length")

    def denied_flags(self, model: str) -> frozenset[str]:
        """Return the flags that the entry of a model sets to false, e.g. `supports_tools` (SPECIFICATION 8.4)."""
        return self._denied_operations.get(model, frozenset())

    @cached_property
    def _denied_operations(self) -> dict[Any, frozenset[str]]:
        denied: dict[Any, frozenset[str]] = {}
        for entry in self.model_entries:
            if isinstance(name := entry.get("name"), str):
                flags = {str(key) for key, value in entry.items() if value is False}
                denied[name] = denied.get(name, frozenset()) | flags
        return denied

    def every_key(self) -> Iterator[tuple[str, Any]]:
        """Yield every key with its value, at any depth."""
        return _nested_items(self.document)

    def extensions(self, *words: str) -> Iterator[tuple[str, Any]]:
        """Yield the values whose keys contain all these words: in `extensions` at any depth, and at the top level."""
        top = {key: value for key, value in self.document.items() if key != "extensions"}
        for key, value in (*top.items(), *_nested_items(self.document.get("extensions"))):
            if all(word in "".join(filter(str.isalnum, str(key).lower())) for word in words):
                yield str(key), value

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """True if a pattern matches the lower-case words of a key or of its value."""
        stated = ((key, value) for key, value in self.every_key() if value not in (False, None, ""))
        return any(pattern.search(_words(key, value)) for key, value in stated)

    @property
    def rounds_numbers(self) -> bool:
        """True if `extensions` state that numbers have less than 64 bits (R128)."""
        stated = _nested_items(self.document.get("extensions"))
        return any(ROUNDED_NUMBERS.search(_words(key, value)) for key, value in stated)

    @property
    def claims_caching(self) -> bool:
        """True if the adapter claims to cache: `supports_caching` or a `cache` capability (R27)."""
        return self.flag("supports_caching") is True or bool(self.document.get("cache"))


def _words(key: str, value: object) -> str:
    """Return the words of a key and of its value, with camelCase split. An object counts as no value."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key if isinstance(value, Mapping) else f"{key} {value}")
    return " ".join(re.findall(r"[a-z0-9]+", apart.lower()))


def _nested_items(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every key with its value, at any depth."""
    for key, inner in value.items() if isinstance(value, Mapping) else ():
        yield str(key), inner
        yield from _nested_items(inner)
