"""Splits query texts into tokens, and defines the errors of all dialects."""

import re
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.graph.store import NamespaceGraph

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<parameter>\$[A-Za-z_]\w*)
    |(?P<name>[A-Za-z_]\w*|`[^`]+`)
    |(?P<sign><=|>=|<>|[-+=<>()\[\]{}:,.|;*])""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}

Row = dict[str, Any]
"""One record, before it goes onto the wire."""


class QueryError(Exception):
    """The text is not a query or does not fit its parameters; the message quotes neither of them."""


class QueryFeatureError(QueryError):
    """The text needs a feature that the dialect has and this adapter does not offer."""


class ScannedQuery:
    """A parsed query; `run` returns its rows and changes no data."""

    def run(self, graph: NamespaceGraph, params: Mapping[str, object]) -> list[Row]:
        raise NotImplementedError


class Scanner:
    """Reads the tokens of a text, one after the other, as (kind, text)."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or match.lastgroup is None:
                raise QueryError("holds a character that is not known")
            if match.lastgroup != "space":
                self.tokens.append((match.lastgroup, match[0]))
            position = match.end()
        self.tokens.append(("end", ""))
        self.position = 0

    @property
    def kind(self) -> str:
        """The kind of the next token."""
        return self.tokens[self.position][0]

    def sees(self, *words: str) -> bool:
        """True if these words or signs come next; case is ignored."""
        coming = self.tokens[self.position : self.position + len(words)]
        return [text.upper() for kind, text in coming if kind != "string"] == list(words)

    def skip_if_next(self, *words: str) -> bool:
        """Skip these words or signs if they come next; return True if they did."""
        found = self.sees(*words)
        self.position += len(words) * found
        return found

    def skip_required(self, *words: str) -> None:
        """Skip these words or signs; raise QueryError if they do not come next."""
        if not self.skip_if_next(*words):
            raise QueryError(f"lacks {' '.join(words)}")

    def next_token(self, *kinds: str) -> tuple[str, str]:
        """Return the next token; raise QueryError unless it is of one of these kinds."""
        if self.kind not in kinds:
            raise QueryError(f"lacks a {' or '.join(kinds)}")
        self.position += 1
        return self.tokens[self.position - 1]

    def read_name(self) -> str:
        return self.next_token("name")[1].strip("`")

    def literal(self) -> object:
        """Return the string or number that is the next token."""
        kind, text = self.next_token("string", "number")
        if kind == "number":
            return float(text) if "." in text else int(text)
        return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1], flags=re.DOTALL)
