"""Unusual words for names, labels, keys, values and texts, by kind (R138, R139).

An adapter must accept a word or refuse it permanently. An accepted word comes back unchanged, and a request with the
word affects only the things that it names. A basic claim uses an ordinary word first. A test leaves refused words out
and continues with the others. The seed and the test choose the words, so that runs with several seeds use all of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pytest_corpus.adapter import inputs

STEM = "@"
"""The placeholder in a word. A text that is unique in a run replaces the placeholder."""

INJECTIONS: Mapping[str, str] = {
    "expression": '@x" or "a" == "a',
    "condition": "@x' OR 'a'='a",
    "backtick_end": "@x`) RETURN 1 //",
    "statement": "@x'; DROP TABLE x; --",
    "object": '@x", "$ne": "',
    "template": "@${x} {{x}} {0} %s %(x)s",
}
"""Words that change the meaning of a condition, a query, JSON or a template into which they are inserted."""

WORDS: Mapping[str, str] = {
    "single_quote": "O'@",
    "double_quote": 'a "@"',
    "curly_quotes": "\u2018@\u2019 \u201ca\u201d",
    "backtick": "a`@`",
    "backslash": "a\\@\\n",
    "braces": "{@} [a] <b>",
    "dollar": "$@",
    "percent": "%@% 100%",
    "semicolon": "a;@;b",
    "dashes": "a -- @",
    "slashes": "a // b/@",
    "asterisk": "a*@",
    "question_mark": "@?b",
    "newline": "a\n@",
    "tab": "a\t@",
    "nul": "a\x00@",
    "emoji": "@ \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "composed": "@ caf\u00e9",
    "decomposed": "@ cafe\u0301",
    "both_forms": "@ \u00e9e\u0301",
    "right_to_left": "\u05e9\u05dc\u05d5\u05dd @ \u0645\u0631\u062d\u0628\u0627",
    "long": "@" + "word" * 50,
    "leading_blank": " @",
    "trailing_blank": "@ ",
    "inner_blanks": "a  b @",
    "digits_first": "7up@",
    "mixed_case": "aBc@Def",
    "separators": "a:b.c|d,e@",
    "equals": "a=1&b@",
    "non_latin": "\u6771\u4eac@",
}
"""The other unusual words. Each word that tests search for alone has a unique part."""

RESERVED: Mapping[str, str] = {
    word: word
    for word in (
        "match",
        "select",
        "__proto__",
        "constructor",
        "id",
        "_id",
        "vector",
        "text",
        "labels",
        "order",
        "null",
    )
}
"""Words that query languages, databases and their clients use themselves."""

CONTROLS = ("newline", "tab", "nul")
"""The kinds with a control character; a store that refuses these may accept all others."""

AT_ENDS = ("leading_blank", "trailing_blank")
"""The kinds of the first and the last word in a text of several words."""

SIMILAR: Mapping[str, str] = {
    "letter_case": "@A",
    "underscore": "@a_b",
    "dash": "@a-b",
    "blank": "@a b",
    "joined": "@ab",
    "trailing_blank": "@a ",
    "colon": "@a:b",
    "slash": "@a/b",
    "composed": "@a\u00e9",
    "decomposed": "@ae\u0301",
    "long": "@" + "name" * 50 + "a",
    "longer": "@" + "name" * 50 + "ab",
}
"""Names that equal `@a` or each other if case, signs, blanks, prefixes, normal forms or ends are ignored."""

ALIKE = (("", "letter_case"), ("underscore", "dash"), ("composed", "decomposed"))
"""Pairs of kinds of similar names; an empty kind is the ordinary name."""

FIRST_SIMILAR = ("underscore", "dash", "letter_case")
"""The kinds of similar names that every run uses. Some stores confuse the first kind with the second."""

GROUP = 4
"""The number of words in one item, if an item can have several."""

FEW = 3
"""The number of words that are tried alone if a store refuses many together."""

MOST_HALVES = 7
"""The number of parts that are tried if a store refuses all words together: the whole, two halves, four quarters."""

T = TypeVar("T")


def fill_in(words: Mapping[str, str], stem: str = "") -> dict[str, str]:
    """Return the words of a table with this text in the place of each `STEM`."""
    return {kind: word.replace(STEM, stem) for kind, word in words.items()}


def choose(words: Mapping[str, str], count: int, first: Iterable[str] = ()) -> dict[str, str]:
    """Return up to `count` words of a table: the kinds in `first`, then others that the seed and the test choose."""
    chosen = list(first)
    others = [kind for kind in words if kind not in chosen]
    start = inputs.random_below(len(others)) if others else 0
    chosen += [*others[start:], *others[:start]][: max(0, count - len(chosen))]
    return {kind: words[kind] for kind in chosen[:count]}


def texts(count: int, stem: str = "", first: Iterable[str] = ()) -> list[str]:
    """Return unusual words without NUL: the kinds in `first`, then others. Each contains the unique text `stem`."""
    held = {kind: word for kind, word in {**INJECTIONS, **WORDS}.items() if kind != "nul"}
    return [*fill_in(choose(held, count, first), stem).values()]


def join_words(stem: str = "", without: Iterable[str] = ("nul",)) -> str:
    """Return one text with all words except the kinds in `without`. The text begins and ends with a blank."""
    inner = {kind: word for kind, word in {**INJECTIONS, **WORDS}.items() if kind not in (*AT_ENDS, *without)}
    first, last = fill_in({kind: WORDS[kind] for kind in AT_ENDS}, stem).values()
    return " ".join([first, *fill_in(inner, stem).values(), last])


def distribute_words(count: int, stem: str = "", without: Iterable[str] = ("nul", "long")) -> list[str]:
    """Return `count` texts, which together contain all words except the kinds in `without`."""
    held = [word for kind, word in fill_in({**INJECTIONS, **WORDS}, stem).items() if kind not in without]
    return [" ".join(held[start::count]) for start in range(count)]


def refusable_texts(stem: str = "") -> list[str]:
    """Return texts that a store may refuse, the least likely to be accepted first: all words, fewer words, one word."""
    return [join_words(stem), join_words(stem, (*CONTROLS, "long")), *texts(1, stem)]


def similar_names(stem: str, count: int, first: Iterable[str] = FIRST_SIMILAR) -> list[str]:
    """Return an ordinary name, and up to `count` names that resemble it or each other."""
    return [f"{stem}a", *fill_in(choose(SIMILAR, count, first), stem).values()]


def group_words(words: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the words in groups, one group for each item. Words with control characters have their own groups."""
    parts = [[kind for kind in words if (kind in CONTROLS) is controls] for controls in (False, True)]
    groups = [part[start : start + GROUP] for part in parts for start in range(0, len(part), GROUP)]
    return {" ".join(group): [words[kind] for kind in group] for group in groups}


def find_accepted(items: Mapping[str, T], write: Callable[[Sequence[T]], Sequence[T] | None]) -> dict[str, T]:
    """Write items with unusual words; return the accepted items by the kind of their word.

    Args:
        write: writes items at once and returns the accepted ones; None if all of them were refused permanently.
    """
    printable = {kind: item for kind, item in items.items() if not set(kind.split()) & {*CONTROLS}}
    found = _write_at_once(items, write)
    if found is None:
        found = _write_in_parts(printable, write) if printable else {}
    return {kind: item for kind, item in items.items() if kind in found}


def _write_at_once(items: Mapping[str, T], write: Callable[[Sequence[T]], Sequence[T] | None]) -> dict[str, T] | None:
    """Write all items at once and return the accepted ones; None if all are refused."""
    kept = write([*items.values()])
    return None if kept is None else {kind: item for kind, item in items.items() if item in kept}


def _write_in_parts(items: Mapping[str, T], write: Callable[[Sequence[T]], Sequence[T] | None]) -> dict[str, T]:
    """Write the items in one request; if it is refused, in halves, then in quarters, and then a few items one by one.

    Returns: the accepted items.
    """
    found: dict[str, T] = {}
    parts, tried = [dict(items)], 0
    while parts and tried < MOST_HALVES:
        part = parts.pop(0)
        kept, tried = _write_at_once(part, write), tried + 1
        found |= kept or {}
        if kept is None and len(part) > 1:
            kinds = [*part]
            halves = (kinds[: len(kinds) // 2], kinds[len(kinds) // 2 :])
            parts += [{kind: part[kind] for kind in half} for half in halves]
    few = [] if found else [kind for part in parts for kind in part][:FEW]
    return found | {kind: items[kind] for kind in few if write([items[kind]])}
