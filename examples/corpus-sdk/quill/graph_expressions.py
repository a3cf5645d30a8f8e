"""The words and expressions of Cypher. Parameters are looked up when a row is worked out and are never text."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .graph_values import (
    AGGREGATES,
    FUNCTIONS,
    UnboundError,
    UnofferedError,
    UnreadableError,
    both,
    calculated,
    compared,
    found_in,
    held,
    identity,
    negated,
    within,
)

# -- words -----------------------------------------------------------------------------------------------

WORDS = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/
    |(?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |`(?P<quoted>[^`]+)`
    |\$(?P<parameter>\w+)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign><=|>=|<>|[-+*/%=<>()\[\]{}:,.|;])""",
    re.VERBOSE | re.DOTALL,
)
WRITING = ("CREATE", "MERGE", "DELETE", "DETACH", "SET", "REMOVE", "DROP")
ELSEWHERE = ("CALL", "OPTIONAL", "WITH", "UNION", "FOREACH", "LOAD", "USE", "SHOW")
KEYWORDS = {
    *("MATCH", "WHERE", "UNWIND", "RETURN", "DISTINCT", "AS", "ORDER", "BY", "ASC", "DESC", "SKIP", "LIMIT"),
    *("AND", "OR", "XOR", "NOT", "IN", "IS", "STARTS", "ENDS", "CONTAINS", "TRUE", "FALSE", "NULL"),
    *(*WRITING, *ELSEWHERE),
}
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Words:
    """A text taken apart, and how far it has been read."""

    def __init__(self, text: str) -> None:
        self._words: list[tuple[str, str]] = []
        self._at = position = 0
        while position < len(text):
            word = WORDS.match(text, position)
            if word is None:
                raise UnreadableError("a character that belongs nowhere")
            if word.lastgroup:
                self._words.append((word.lastgroup, word[word.lastgroup]))
            position = word.end()

    def peek(self, ahead: int = 0) -> tuple[str, str]:
        """Kind and text of the next word, or of one after it."""
        at = self._at + ahead
        return self._words[at] if at < len(self._words) else ("end", "")

    def take(self) -> tuple[str, str]:
        """Read the next word."""
        word = self.peek()
        self._at += 1
        return word

    def sign(self, *signs: str) -> str | None:
        """Read the next word if it is one of these signs."""
        kind, text = self.peek()
        return self.take()[1] if kind == "sign" and text in signs else None

    def need(self, sign: str) -> None:
        """Read a sign that has to be there."""
        if self.sign(sign) is None:
            raise UnreadableError("a sign is missing")

    def keyword(self, *keywords: str) -> bool:
        """Read the next words if they are these keywords."""
        for ahead, keyword in enumerate(keywords):
            kind, text = self.peek(ahead)
            if kind != "name" or text.upper() != keyword:
                return False
        self._at += len(keywords)
        return True

    def name(self) -> str:
        """Read a name that has to be there."""
        kind, text = self.take()
        if kind != "quoted" and (kind != "name" or text.upper() in KEYWORDS):
            raise UnreadableError("a name is missing")
        return text

    def has_name(self) -> bool:
        """Tell if a name comes next."""
        kind, text = self.peek()
        return kind == "quoted" or (kind == "name" and text.upper() not in KEYWORDS)

    def since(self, at: int) -> str:
        """The text read since a position."""
        return "".join(text for _, text in self._words[at : self._at])

    @property
    def at(self) -> int:
        """The current position in the text."""
        return self._at


# -- expressions -----------------------------------------------------------------------------------------

Row = dict[str, Any]
Value = Callable[[Row], Any]
PARAMETERS = "$"
"""The key of a row for the parameters; no variable has this name."""


@dataclass(frozen=True)
class Aggregate:
    """A value of many rows; `of` is what is gathered of each of them."""

    name: str
    of: Value
    distinct: bool

    def over(self, rows: Sequence[Row]) -> Any:
        """The value of these rows."""
        values = [value for value in map(self.of, rows) if value is not None]
        if self.distinct:
            values = list({identity(value): value for value in values}.values())
        try:
            return AGGREGATES[self.name](values)
        except TypeError:
            raise UnreadableError("a value cannot be added up") from None


class Expressions:
    """Reads expressions; each becomes a function of a row."""

    def __init__(self, words: Words) -> None:
        self._words = words

    def expression(self) -> Value:
        """One that binds as weakly as any."""
        value = self._conjunction()
        while self._words.keyword("OR"):
            value = self._or(value, self._conjunction())
        return value

    @staticmethod
    def _or(one: Value, other: Value) -> Value:
        return lambda row: negated(both(negated(one(row)), negated(other(row))))

    def _conjunction(self) -> Value:
        value = self._negation()
        while self._words.keyword("AND"):
            value = self._and(value, self._negation())
        return value

    @staticmethod
    def _and(one: Value, other: Value) -> Value:
        return lambda row: both(one(row), other(row))

    def _negation(self) -> Value:
        if self._words.keyword("NOT"):
            value = self._negation()
            return lambda row: negated(value(row))
        return self._comparison()

    def _comparison(self) -> Value:
        one, words = self._sum(), self._words
        sign = words.sign("=", "<>", "<=", ">=", "<", ">")
        if sign is not None:
            other = self._sum()
            return lambda row: compared(sign, one(row), other(row))
        if words.keyword("IS", "NOT", "NULL"):
            return lambda row: one(row) is not None
        if words.keyword("IS", "NULL"):
            return lambda row: one(row) is None
        if words.keyword("IN"):
            many = self._sum()
            return lambda row: found_in(one(row), many(row))
        for keywords, test in (
            (("STARTS", "WITH"), str.startswith),
            (("ENDS", "WITH"), str.endswith),
            (("CONTAINS",), str.__contains__),
        ):
            if words.keyword(*keywords):
                return self._text_test(test, one, self._sum())
        return one

    @staticmethod
    def _text_test(test: Callable[[str, str], bool], one: Value, other: Value) -> Value:
        return lambda row: within(test, one(row), other(row))

    def _sum(self) -> Value:
        return self._chain(("+", "-"), self._product)

    def _product(self) -> Value:
        return self._chain(("*", "/", "%"), self._signed)

    def _chain(self, signs: tuple[str, ...], part: Callable[[], Value]) -> Value:
        value = part()
        while sign := self._words.sign(*signs):
            value = self._calculation(sign, value, part())
        return value

    @staticmethod
    def _calculation(sign: str, one: Value, other: Value) -> Value:
        return lambda row: calculated(sign, one(row), other(row))

    def _signed(self) -> Value:
        if self._words.sign("-"):
            value = self._signed()
            return lambda row: calculated("-", 0, value(row))
        return self._property()

    def _property(self) -> Value:
        value = self._atom()
        while self._words.sign("."):
            value = self._held(value, self._words.name())
        return value

    @staticmethod
    def _held(value: Value, key: str) -> Value:
        return lambda row: held(value(row), key)

    def _atom(self) -> Value:
        words = self._words
        if words.sign("("):
            value = self.expression()
            words.need(")")
            return value
        if words.sign("["):
            items = self._list("]")
            return lambda row: [item(row) for item in items]
        if words.peek() == ("sign", "{"):
            pairs = self.pairs()
            return lambda row: {key: value(row) for key, value in pairs.items()}
        for keyword, constant in (("TRUE", True), ("FALSE", False), ("NULL", None)):
            if words.keyword(keyword):
                return self._constant(constant)
        kind, text = words.peek()
        if kind in ("text", "number", "parameter"):
            words.take()
            return self._given(kind, text)
        name = words.name()
        return self._call(name.lower()) if words.sign("(") else self._variable(name)

    def _given(self, kind: str, text: str) -> Value:
        if kind == "text":
            return self._constant(
                re.sub(r"\\(.)", lambda sign: ESCAPES.get(sign[1], sign[1]), text[1:-1], flags=re.DOTALL)
            )
        if kind == "number":
            return self._constant(int(text) if text.isdigit() else float(text))

        def parameter(row: Row) -> Any:
            if text not in row[PARAMETERS]:
                raise UnboundError
            return row[PARAMETERS][text]

        return parameter

    @staticmethod
    def _constant(value: Any) -> Value:
        return lambda row: value

    @staticmethod
    def _variable(name: str) -> Value:
        def variable(row: Row) -> Any:
            if name not in row:
                raise UnreadableError("a name that stands for nothing")
            return row[name]

        return variable

    def _call(self, name: str) -> Value:
        arguments = self._list(")")
        if name == "coalesce":
            return lambda row: next((value for value in (each(row) for each in arguments) if value is not None), None)
        function = FUNCTIONS.get(name)
        if function is None or len(arguments) != 1:
            raise UnofferedError("a function")
        argument = arguments[0]

        def called(row: Row) -> Any:
            value = argument(row)
            try:
                return None if value is None else function(value)
            except (TypeError, AttributeError, ValueError):
                raise UnreadableError("an argument does not fit") from None

        return called

    def _list(self, end: str) -> list[Value]:
        items: list[Value] = []
        while not self._words.sign(end):
            if items:
                self._words.need(",")
            items.append(self.expression())
        return items

    def pairs(self) -> dict[str, Value]:
        """Names and values in braces, if there are any."""
        pairs: dict[str, Value] = {}
        if self._words.sign("{"):
            while not self._words.sign("}"):
                if pairs:
                    self._words.need(",")
                name = self._words.name()
                self._words.need(":")
                pairs[name] = self.expression()
        return pairs

    def item(self) -> Value | Aggregate:
        """An expression of RETURN, which may be of many rows."""
        words, (kind, name) = self._words, self._words.peek()
        if kind != "name" or name.lower() not in AGGREGATES or words.peek(1) != ("sign", "("):
            return self.expression()
        words.take()
        words.take()
        distinct = words.keyword("DISTINCT")
        everything = name.lower() == "count" and words.sign("*") is not None
        value = self._constant(True) if everything else self.expression()
        words.need(")")
        return Aggregate(name.lower(), value, distinct)
