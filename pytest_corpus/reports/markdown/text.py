"""Text escaped for Markdown (GitHub's, and CommonMark)."""

import re

from pytest_corpus.reports.text import printable

_LINKED = re.compile(r"@|#\d|://|www\.|mailto:|xmpp:|:[\w+-]+:|[0-9a-f]{7}", re.IGNORECASE)
"""Text that GitHub turns into a link, a mention or a picture even without Markdown around it."""

_PLAIN = re.compile(r"[A-Za-z ](?:[A-Za-z0-9 ,.:;/'()-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))*")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_TICKS = re.compile(r"`+")


def code(text: object) -> str:
    """Foreign text as a code span, for a line outside of tables: nothing in it is Markdown."""
    plain = printable(str(text)).strip(" ")
    if not plain:
        return "(empty)"
    fence = "`" * (max((len(run) for run in _TICKS.findall(plain)), default=0) + 1)
    room = " " if plain.startswith("`") or plain.endswith("`") else ""
    return f"{fence}{room}{plain}{room}{fence}"


def cell(text: object) -> str:
    """Foreign text as a code span in a table, where a bar would end the cell wherever it stands."""
    return code(str(text).replace("|", "\\x7c"))


def sentence(text: str) -> str:
    """A sentence in which backticks mark code, as the catalogue writes it."""
    parts = printable(text).strip(" ").split("`")
    if len(parts) % 2 == 0 or _LINKED.search("".join(parts[::2])):
        return code(text)
    return "".join(code(part) if number % 2 and part.strip() else _escaped(part) for number, part in enumerate(parts))


def _escaped(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else _PUNCTUATION.sub(r"\\\1", text)
