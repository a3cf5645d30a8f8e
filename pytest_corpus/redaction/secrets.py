"""Masking of secrets wherever content may be shown: planted ones, and those of the environment (R21)."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pytest_corpus.redaction.values import CREDENTIAL, VOCABULARY, cut, printable, redacted, type_name

STARS: Final = "***"
GRAM: Final = 8  # a run of this many characters gives a secret away (R21)
SHORTEST: Final = 4  # a shorter value of an environment variable would mask half of every text

_SECRET_NAME: Final = re.compile(
    r"(?!(?:OLD)?PWD$)(?=.*(?:key|token|secret|passw|passphrase|pwd|credential))", re.IGNORECASE
)
"""The name of a secret; not of a working directory, whose parts name components and test files."""

_COUNT: Final = re.compile(r"token(?:s|izers)(?:_|$)", re.IGNORECASE)
_SETTING: Final = re.compile(r"\d{1,7}")
_SWITCHES: Final = frozenset({"true", "false", "null", "none"})

LONGEST_STRING: Final = 400
MOST_ITEMS: Final = 8


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of the environment variables whose names speak of keys, tokens, secrets or passwords.

    Plain settings (`TOKENIZERS_PARALLELISM=false`), numbers of tokens and short values are not secrets.
    """
    found = set()
    for name, value in environment.items():
        plain = value.lower() in _SWITCHES or value in VOCABULARY or len(value) < SHORTEST
        if _SECRET_NAME.match(name) and not (plain or (_COUNT.search(name) and _SETTING.fullmatch(value))):
            found.add(value)
    return tuple(sorted(found, key=len, reverse=True))


def masked(text: str, secrets: Iterable[str]) -> str:
    """A text with stars instead of each secret, and of every part that gives one away."""
    for secret in secrets:
        if not secret:
            continue
        if len(secret) <= GRAM:
            text = text.replace(secret, STARS)
        elif any(secret[at : at + GRAM] in text for at in range(len(secret) - GRAM + 1)):
            text = _without_parts(text, secret)
    return text


def _without_parts(text: str, secret: str) -> str:
    """A text without the runs of it that stand in a longer secret too."""
    grams = {secret[at : at + GRAM] for at in range(len(secret) - GRAM + 1)}
    kept: list[str] = []
    at, covered = 0, 0
    while at < len(text):
        if text[at : at + GRAM] in grams:
            covered = at + GRAM
        if at < covered:
            if not kept or kept[-1] != STARS:
                kept.append(STARS)
        else:
            kept.append(text[at])
        at += 1
    return "".join(kept)


def masked_within(value: Any, secrets: tuple[str, ...]) -> Any:
    """A JSON value with each secret in its keys and texts masked."""
    if isinstance(value, str):
        return masked(value, secrets)
    if isinstance(value, dict):
        return {masked(key, secrets): masked_within(item, secrets) for key, item in value.items()}
    return [masked_within(item, secrets) for item in value] if isinstance(value, list) else value


def shape(value: object, most: int) -> str:
    """A JSON value without content, in one line: keys, numbers and words of the protocol; other strings by length."""
    return cut(json.dumps(mapped(value, sized), default=_unknown), most)


def sized(text: str) -> str:
    """A text by its length, unless it is a word of the protocol."""
    return text if text in VOCABULARY else f"<{len(text)} characters>"


def content(value: object, secrets: Iterable[str], most: int, *, foreign: bool) -> str:
    """A JSON value with its content, in one line: secrets and credentials masked, long strings and arrays cut.

    In what is `foreign`, that is not the suite's own, every word that looks like a credential is masked.
    """
    secrets = tuple(secrets)

    def shown(text: str) -> str:
        return sentence(text, secrets) if foreign else said(text, secrets)

    content = mapped(value, lambda text: cut(shown(text), LONGEST_STRING), shown)
    return masked(cut(json.dumps(content, default=_unknown, ensure_ascii=False), most), secrets)


def mapped(value: object, text: Callable[[str], str], key: Callable[[str], str] = str) -> object:
    """A JSON value with its texts and keys as two functions show them, and long arrays cut."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        return {key(str(name)): mapped(item, text, key) for name, item in value.items()}
    if not isinstance(value, list):
        return value
    more = len(value) - MOST_ITEMS
    return [mapped(item, text, key) for item in value[:MOST_ITEMS]] + ([f"... {more} more"] if more > 0 else [])


def said(text: str, secrets: Iterable[str]) -> str:
    """A text of the suite's as it may be shown with its content: printable, secrets and credentials masked."""
    return printable(CREDENTIAL.sub(STARS, masked(text, secrets)))


def sentence(text: str, secrets: Iterable[str]) -> str:
    """A text of the adapter's as it may be shown: as `said`, and without any word that looks like a credential."""
    return printable(redacted(said(text, secrets)))


def _unknown(value: object) -> str:
    return f"<{type_name(value)}>"
