"""Prints the operations that each kind of word that is not tame was sent to, and the words of each, of transcripts.

pytest --corpus-adapter=pytest_corpus.reference:vector --corpus-transcript=vector.jsonl
python tools/vocabulary.py vector.jsonl graph.jsonl
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.kit.vocabulary import AT_ENDS, INJECTIONS, MEETING, RESERVED, STEM, WORDS
from pytest_corpus.spec.operations import BY_OP

STEMS = r"[\w-]*"
"""The text that may stand in the place of a word's unique part."""

LONGEST = 4_000
"""A longer text is not searched: it speaks of length."""


def pattern(kind: str, word: str) -> re.Pattern[str]:
    """The pattern that finds a word in a text, alone or among others between blanks."""
    found = STEMS.join(map(re.escape, word.split(STEM)))
    first, last = AT_ENDS
    before = r"\A" if kind == first else rf"(?:\A|\s){STEMS}"
    after = r"\Z" if kind == last else rf"{STEMS}(?:\s|\Z)"
    return re.compile(f"{before}{found}{after}")


PATTERNS = {kind: pattern(kind, word) for kind, word in {**WORDS, **INJECTIONS}.items()}
NAMES = {
    f"name: {kind}": re.compile(STEMS + re.escape(word.removeprefix(STEM)) + "$") for kind, word in MEETING.items()
}
RESERVED_KEYS = {word: re.compile(re.escape(word) + "$") for word in RESERVED}


def requests_of(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every request envelope in a line of a transcript."""
    if isinstance(value, Mapping):
        op = value.get("op")
        if isinstance(op, str) and op in BY_OP and isinstance(value.get("args"), Mapping):
            yield value
        for each in value.values():
            yield from requests_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from requests_of(each)


def texts_of(value: Any, under: str = "") -> Iterator[tuple[str, str]]:
    """Every string of a request, with the key that it stands under, or `key` if it is one."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield key, "key"
            yield from texts_of(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from texts_of(each, under)
    elif isinstance(value, str):
        yield value, under


def sent(paths: list[str]) -> dict[str, set[str]]:
    """By kind of word, the operations that it was sent to."""
    found: dict[str, set[str]] = {kind: set() for kind in (*PATTERNS, *NAMES, *RESERVED_KEYS)}
    for path in paths:
        for line in Path(path).read_text("utf-8").splitlines():
            for request in requests_of(json.loads(line)):
                for text, under in texts_of([request.get("ctx"), request["args"]]):
                    named = under in ("namespace", "tenant")
                    for kind, whole in (NAMES if named else RESERVED_KEYS if under == "key" else {}).items():
                        if whole.fullmatch(text):
                            found[kind].add(request["op"])
                    for kind, part in PATTERNS.items():
                        if len(text) <= LONGEST and part.search(text):
                            found[kind].add(request["op"])
    return found


if __name__ == "__main__":
    of_kinds = sent(sys.argv[1:])
    for kind, operations in of_kinds.items():
        sys.stdout.write(f"{kind:22} {', '.join(sorted(operations)) or '-'}\n")
    for operation in sorted(set().union(*of_kinds.values())):
        lacking = [kind for kind in PATTERNS if operation not in of_kinds[kind]]
        sys.stdout.write(f"{operation:26} {len(PATTERNS) - len(lacking)} of {len(PATTERNS)} words; not {lacking}\n")
