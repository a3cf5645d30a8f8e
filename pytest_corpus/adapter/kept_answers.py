"""Answers of a provider that are kept and replayed: the modes, keys and secrets of cassettes and recordings."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_corpus.redaction import GRAM, STARS, secret_values

MODES = ("none", "once", "new", "all")
"""none: use only kept answers; once: ask if none is kept; new: ask for missing answers; all: ask for every answer."""


def may_ask(mode: str, *, is_first: bool) -> bool:
    """True if the provider may be asked for an answer that is missing. `is_first`: there are no kept answers at all."""
    return mode in ("new", "all") or (mode == "once" and is_first)


def usual_mode(given: str | None, environment: Mapping[str, str], otherwise: str, *, exists: bool = True) -> str:
    """Return the given mode; else `none` if the variable CI is set and answers are kept; else `otherwise`."""
    return given or ("none" if environment.get("CI") and exists else otherwise)


def key_of(asked: Any) -> str:
    """Return the key of a request: a hash of everything that may influence the answer."""
    text = json.dumps(asked, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def describe_missing_answer(
    option: str, mode: str, asked: Mapping[str, Any], kept: Mapping[str, Any] | None, why: str = ""
) -> str:
    """Return the sentence about a request without an answer; `kept` is the most similar request that has an answer."""
    said = f"{why or 'no recording of this request exists'} ({option}={mode}); {option}=new records it"
    if kept is None:
        return said
    changed = [name for name in sorted(asked.keys() | kept.keys()) if asked.get(name) != kept.get(name)]
    return f"{said}; what differs from the recorded one: {', '.join(changed)}"


class Secrets:
    """The secrets that a file must not contain: values of environment variables, and credentials that are learnt."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._known: dict[str, None] = {}
        self.learn(secret_values(environment))

    def learn(self, values: Iterable[str]) -> None:
        """Add secrets. Short texts are left out, because they would mask half of every text."""
        self._known.update(dict.fromkeys(value for value in values if len(value) >= GRAM))

    @property
    def values(self) -> list[str]:
        """Return the secrets, the longest first, because one secret may contain another."""
        return sorted(self._known, key=len, reverse=True)

    def mask_value(self, value: Any) -> Any:
        """Return a JSON value with stars instead of secrets in its texts."""
        if isinstance(value, str):
            for secret in self.values:
                value = value.replace(secret, STARS)
            return value
        if isinstance(value, Mapping):
            return {self.mask_value(name): self.mask_value(each) for name, each in value.items()}
        return [self.mask_value(each) for each in value] if isinstance(value, list | tuple) else value

    def mask_bytes(self, data: bytes) -> bytes:
        """Return bytes of the same length, with stars instead of each secret, also if it is spelt as in a JSON text."""
        for secret in self.values:
            for form in {secret.encode("utf-8", "replace"), json.dumps(secret)[1:-1].encode()}:
                data = data.replace(form, b"*" * len(form))
        return data
