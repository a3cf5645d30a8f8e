"""Finds and masks secrets in values, sentences, commands and environments (R21)."""

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, quote_plus

from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.errors import BY_CODE, TAXONOMY
from pytest_corpus.spec.operations import OPERATIONS
from pytest_corpus.spec.words import FINISH_REASONS, HEALTH_STATES, STREAM_OUTCOME, STREAMING_CODE, SUCCESS_CODES

STARS: Final = "***"
GRAM: Final = 8  # a run of this many characters gives a secret away (R21)
SHORTEST: Final = 4  # a shorter value of an environment variable would mask half of every text

VOCABULARY: Final = frozenset(
    (
        *COMPONENTS,
        *TAXONOMY,
        *BY_CODE,
        *(code.lower() for code in BY_CODE),
        *(name for operation in OPERATIONS for name in (operation.op, operation.name)),
        *(*SUCCESS_CODES, STREAMING_CODE, *FINISH_REASONS, *HEALTH_STATES, STREAM_OUTCOME),
        *("healthy", "unhealthy", "error"),  # often sent instead of a word of the protocol
    )
)
"""The words of the protocol. They may always be shown, because they are neither content nor secrets."""

_BEGINNINGS: Final = "sk|pk|rk|gh[opsu]|xox.|glpat|hf"  # beginnings of API keys before `-` or `_`
_JOINED: Final = "akia|asia|eyj|aiza|ya29"  # beginnings of API keys without a separator
_MIXED: Final = r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{8}"  # eight letters and digits in a row, with both kinds
_BASE64: Final = r"(?<![A-Za-z0-9+/])(?=[A-Za-z+/]*\d)[A-Za-z0-9+/]{40,}={0,2}"
_LOGIN: Final = r"(?<=://)[^/@\s]+(?=@)"  # in an address
_NAMED: Final = "key|token|secret|passw|passphrase|pwd|credential"

# -- patterns of secrets, by the kind of text that contains them -----------------------------------------

VALUE: Final = re.compile(rf"^({_BEGINNINGS}|{_JOINED}|basic|bearer)[-_]?|[A-Za-z0-9+/]{{24}}|{_MIXED}", re.IGNORECASE)
WORD: Final = re.compile(
    rf"^(?:{_BEGINNINGS}|basic|bearer)[-_]|^(?:{_JOINED})\w{{8}}|{_MIXED}|[A-Za-z0-9+]{{32}}", re.IGNORECASE
)
"""A word of a sentence that looks like a secret; names of classes and files do not match."""

CREDENTIAL: Final = re.compile(
    rf"\b(?:{_BEGINNINGS})[-_][A-Za-z0-9_-]{{4,}}|\b(?:AKIA|ASIA|eyJ|AIza|ya29)[\w.-]{{8,}}"
    rf"|\b(?:[Bb]asic|[Bb]earer) [\w.~+/=-]{{4,}}|{_LOGIN}|{_BASE64}"
)
"""Credentials that any text may contain: a known beginning, a password in an address, a long run of base64."""

SENTENCE: Final = re.compile(rf"{_LOGIN}|{_BASE64}")
KEY: Final = re.compile(
    r"secret|passw|authori[sz]|credential|cookie|bearer|signature|private|session|tenant|"
    r"idempotency|(^|[_-])(token|key|pwd|auth|api[_-]?key)$|apikey|accesstoken",
    re.IGNORECASE,
)
OPTION: Final = re.compile(_NAMED, re.IGNORECASE)
VARIABLE: Final = re.compile(rf"(?!(?:OLD)?PWD$)(?=.*(?:{_NAMED}))", re.IGNORECASE)
"""The name of a variable with a secret; PWD is excluded, because it is the working directory."""

NAME: Final = re.compile(rf"(?!(?:{_BEGINNINGS})_)[a-z]{{1,16}}(?:_[a-z]{{1,16}})*")
"""A pattern of names that are not secrets."""

_COUNT: Final = re.compile(r"token(?:s|izers)(?:_|$)", re.IGNORECASE)
_SETTING: Final = re.compile(r"\d{1,7}")
_SWITCHES: Final = frozenset({"true", "false", "null", "none"})
_WORDS: Final = re.compile(r"[^\s/'\"=:,()\[\]{}]+")
_SHELL_WORDS: Final = re.compile(r"""(?:'[^']*'|"[^"]*"|[^\s'"]|['"])+""")


def redact(text: str) -> str:
    """Mask the words of a text that look like credentials."""
    text = SENTENCE.sub(STARS, text)
    return _WORDS.sub(lambda found: STARS if WORD.search(found[0]) else found[0], text)


def redact_command(command: str) -> str:
    """Mask credentials in a command: words that look like a secret, and values of options for secrets."""
    hides_next = False

    def redact_word(found: re.Match[str]) -> str:
        nonlocal hides_next
        name, equals, _ = found[0].partition("=")
        if hides_next and not name.startswith("-"):
            hides_next = False
            return STARS
        is_secret = OPTION.search(name) is not None
        hides_next = is_secret and not equals and name.startswith("-")
        return f"{name}={STARS}" if is_secret and equals else found[0]

    return redact(_SHELL_WORDS.sub(redact_word, command))


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of environment variables whose names suggest keys, tokens, secrets or passwords, longest first.

    Simple settings (`TOKENIZERS_PARALLELISM=false`), numbers of tokens and short values are not secrets. Encoded forms
    of each secret are included.
    """
    found = set()
    for name in filter(VARIABLE.match, environment):
        value = environment.get(name, "")
        plain = value.lower() in _SWITCHES or value in VOCABULARY or len(value) < SHORTEST
        if not (plain or (_COUNT.search(name) and _SETTING.fullmatch(value))):
            found |= {value, *_encode(value)}
    return tuple(sorted(found, key=len, reverse=True))


@lru_cache(1024)
def _encode(secret: str) -> tuple[str, ...]:
    """Return the encoded forms of a secret: base64 at any offset of a longer text, percent-encoded, hexadecimal."""
    data = secret.encode("utf-8", "replace")
    found = {quote(data, safe=""), quote_plus(data), data.hex()}
    for offset in range(3):
        text = b64encode(bytes(offset) + data).decode()
        # The other characters depend on the bytes around the secret.
        part = text[4 if offset else 0 : -4 if (offset + len(data)) % 3 else None]
        found |= {part, part.replace("+", "-").replace("/", "_")} if len(part) >= GRAM else set()
    return tuple(found - {secret})


def mask_secrets(text: str, secrets: Iterable[str]) -> str:
    """Replace each secret in a text, and each part of `GRAM` characters of a secret, by stars."""
    for secret in secrets:
        if not secret:
            continue
        if len(secret) <= GRAM:
            text = text.replace(secret, STARS)
        elif any(secret[at : at + GRAM] in text for at in range(len(secret) - GRAM + 1)):
            text = _mask_parts(text, secret)
    return text


def _mask_parts(text: str, secret: str) -> str:
    """Mask the parts of a text that also occur in a long secret."""
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


def mask_within(value: Any, secrets: tuple[str, ...]) -> Any:
    """Mask secrets in the keys and texts of a JSON value."""
    if isinstance(value, str):
        return mask_secrets(value, secrets)
    if isinstance(value, dict):
        return {mask_secrets(key, secrets): mask_within(item, secrets) for key, item in value.items()}
    return [mask_within(item, secrets) for item in value] if isinstance(value, list) else value
