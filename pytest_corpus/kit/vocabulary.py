"""Words that are not tame, by kind: names, labels, keys, values and texts (R138, R139).

An adapter takes each and gives it back as it is, touching nothing that the word does not name, or refuses it
permanently. A basic claim uses a plain word first; a word that is refused is not applicable, and a test goes on with
the others. The choice depends on the seed and the test, so that runs with several seeds use all words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from pytest_corpus.adapter import inputs

STEM = "@"
"""The place in a word of what makes it unique in a run."""

INJECTIONS: Mapping[str, str] = {
    "expression": '@x" or "a" == "a',
    "condition": "@x' OR 'a'='a",
    "backtick_end": "@x`) RETURN 1 //",
    "statement": "@x'; DROP TABLE x; --",
    "object": '@x", "$ne": "',
    "template": "@${x} {{x}} {0} %s %(x)s",
}
"""Words that mean something where they are written into a condition, a query, a JSON text or a template."""

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
"""The other words; each that is looked up alone has a unique part."""

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
"""Words that query languages, databases or their clients use themselves."""

CONTROLS = ("newline", "tab", "nul")
"""The kinds with a control character: a store that refuses those may take all others."""

AT_ENDS = ("leading_blank", "trailing_blank")
"""The kinds that stand at the beginning and at the end of a text of several words."""

MEETING: Mapping[str, str] = {
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
"""Names that meet `@a` or each other where letter case, signs, blanks, prefixes, forms or the end do not count."""

ALIKE = (("", "letter_case"), ("underscore", "dash"), ("composed", "decomposed"))
"""Pairs of kinds of names that only resemble each other; an empty kind is a plain name."""

FIRST_TO_MEET = ("underscore", "dash", "letter_case")
"""The kinds of names that are tried in each run; the first two meet each other, so they are held together."""

GROUP = 4
"""The number of words that go into one item where an item holds several."""

FEW = 3
"""The number of words that are tried one by one if a store refuses many at once."""

MOST_HALVES = 7
"""The number of parts that are tried if a store refuses many at once: the whole, its halves and their halves."""

Word = tuple[str, str]
"""A kind and its word."""

T = TypeVar("T")


def fill_in(words: Mapping[str, str], stem: str = "") -> dict[str, str]:
    """The words of a table with this unique part."""
    return {kind: word.replace(STEM, stem) for kind, word in words.items()}


def choose(words: Mapping[str, str], count: int, first: Iterable[str] = ()) -> dict[str, str]:
    """At most this number of a table's words: these kinds, and as many others by the seed of the run and the test."""
    chosen = list(first)
    others = [kind for kind in words if kind not in chosen]
    start = inputs.below(len(others)) if others else 0
    chosen += [*others[start:], *others[:start]][: max(0, count - len(chosen))]
    return {kind: words[kind] for kind in chosen[:count]}


def texts(count: int, stem: str = "", first: Iterable[str] = ()) -> list[str]:
    """Words that any text may hold, with this unique part: of these kinds, then by seed, but none with a NUL."""
    held = {kind: word for kind, word in {**INJECTIONS, **WORDS}.items() if kind != "nul"}
    return [*fill_in(choose(held, count, first), stem).values()]


def join_words(stem: str = "", without: Iterable[str] = ("nul",)) -> str:
    """One text of all words but some, with this unique part in each: it begins and ends with a blank."""
    inner = {kind: word for kind, word in {**INJECTIONS, **WORDS}.items() if kind not in (*AT_ENDS, *without)}
    first, last = fill_in({kind: WORDS[kind] for kind in AT_ENDS}, stem).values()
    return " ".join([first, *fill_in(inner, stem).values(), last])


def distribute_words(count: int, stem: str = "", without: Iterable[str] = ("nul", "long")) -> list[str]:
    """This number of texts, which have all words but some among them."""
    held = [word for kind, word in fill_in({**INJECTIONS, **WORDS}, stem).items() if kind not in without]
    return [" ".join(held[start::count]) for start in range(count)]


def held_texts(stem: str = "") -> list[str]:
    """Texts of ever fewer words, for a value that may be refused: all, those that are short and printable, one."""
    return [join_words(stem), join_words(stem, (*CONTROLS, "long")), *texts(1, stem)]


def similar_names(stem: str, count: int, first: Iterable[str] = FIRST_TO_MEET) -> list[str]:
    """A plain name, and at most this number of names that resemble it or each other: of these kinds, then by seed."""
    return [f"{stem}a", *fill_in(choose(MEETING, count, first), stem).values()]


def group_words(words: Mapping[str, str]) -> dict[str, list[str]]:
    """The words in groups, which go into one item each; those with control characters stand apart."""
    parts = [[kind for kind in words if (kind in CONTROLS) is controls] for controls in (False, True)]
    groups = [part[start : start + GROUP] for part in parts for start in range(0, len(part), GROUP)]
    return {" ".join(group): [words[kind] for kind in group] for group in groups}


def find_taken(items: Mapping[str, T], write: Callable[[Sequence[T]], Sequence[T] | None]) -> dict[str, T]:
    """The items, by the kind of their word, that a store takes.

    Args:
        write: writes items at once and returns those that were taken; None if all of them were refused permanently.
    """
    printable = {kind: item for kind, item in items.items() if not set(kind.split()) & {*CONTROLS}}
    found = _write_at_once(items, write)
    if found is None:
        found = _write_in_parts(printable, write) if printable else {}
    return {kind: item for kind, item in items.items() if kind in found}


def _write_at_once(items: Mapping[str, T], write: Callable[[Sequence[T]], Sequence[T] | None]) -> dict[str, T] | None:
    """The items that are taken at once; None if all are refused."""
    kept = write([*items.values()])
    return None if kept is None else {kind: item for kind, item in items.items() if item in kept}


def _write_in_parts(items: Mapping[str, T], write: Callable[[Sequence[T]], Sequence[T] | None]) -> dict[str, T]:
    """The items that are taken at once, or in halves and quarters, or at least a few of them one by one."""
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
