"""Rows of edits make adapters that differ from their base in what they say."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from edits import Edits, Room, unknown_names


class Base:
    """An adapter with a method of each kind."""

    limit = 4

    def __init__(self) -> None:
        self.calls: list[str] = []

    def plain(self, number: int, *, factor: int = 2) -> int:
        if number > self.limit:
            return self.limit
        return number * factor

    def note(self, name: str) -> None:
        self.calls.append(name)

    async def awaited(self, number: int) -> int:
        return number

    def items(self, number: int) -> Iterator[int]:
        yield from range(number)

    async def streamed(self, number: int) -> AsyncIterator[int]:
        for item in range(number):
            yield item


class Derived(Base):
    """An adapter that extends a method."""

    def plain(self, number: int, *, factor: int = 2) -> int:
        return super().plain(number, factor=factor) + 1


def made(folder: Path, text: str, name: str = "Other", base: type[Any] = Base) -> Any:
    path = folder / "chapter.edits"
    path.write_text(text, "utf-8")
    return Edits(path, "rows", base).make(name)()


def streamed(adapter: Any, number: int) -> list[int]:
    async def read() -> list[int]:
        return [item async for item in adapter.streamed(number)]

    return asyncio.run(read())


def test_a_row_has_a_requirement_options_and_a_sentence(tmp_path: Path) -> None:
    """A sentence goes on in indented lines."""
    path = tmp_path / "chapter.edits"
    path.write_text(
        "LLM-OK-1 Other(First) [control, others=2]: It does\n    two things.\n\nFirst: It does one.\n", "utf-8"
    )
    other, first = Edits(path, "rows", Base).rows.values()
    assert (other.requirement, other.name, other.base, other.sentence) == (
        "LLM-OK-1",
        "Other",
        "First",
        "It does two things.",
    )
    assert other.options == {"control": "", "others": "2"}
    assert (first.requirement, first.base, first.options) == ("", "", {})
    assert (other.place, first.place) == ("chapter.edits:1", "chapter.edits:4")


FORMS: dict[str, tuple[str, Callable[[Any], object], object]] = {
    "in the class": (
        "+ limit = 7\n+ def more(self):\n+     return self.limit + 1",
        lambda other: (other.limit, other.more(), other.__doc__), (7, 8, "It differs."),
    ),
    "first, with the defaults of the method": (
        "@ plain\n+ if number == 1:\n+     return 100\n+ number += 1",
        lambda other: [other.plain(1), other.plain(2), other.plain(2, factor=3)], [100, 6, 9],
    ),
    "on the result": ("@ plain -> value\n+ value += 10", lambda other: other.plain(1), 12),
    "in place of the result": (
        "@ awaited -> value\n+ return [value]", lambda other: asyncio.run(other.awaited(3)), [3],
    ),
    "on each item": ("@ items -> item\n+ item = 1 - item", lambda other: [*other.items(2)], [1, 0]),
    "on each item of a stream": ("@ streamed -> item\n+ item = 1 - item", lambda other: streamed(other, 2), [1, 0]),
    "before the items": ("@ items\n+ yield 9", lambda other: [*other.items(1)], [9, 0]),
    "before a stream": ("@ streamed\n+ yield 9", lambda other: streamed(other, 1), [9, 0]),
    "after what returns nothing": (
        '@ note ->\n+ self.calls.append("after")', lambda other: (other.note("before"), other.calls),
        (None, ["before", "after"]),
    ),
    "in place of lines": (
        "@ plain\n- if number > self.limit:\n-     return self.limit\n+ if number > 2:\n+     return 0",
        lambda other: [other.plain(2), other.plain(3)], [4, 0],
    ),
    "in place of a part of a line": ("@ plain\n- number * factor\n+ number - factor", lambda other: other.plain(1), -1),
    "nothing in place of lines": (
        "@ plain\n- if number > self.limit:\n-     return self.limit", lambda other: other.plain(5), 10,
    ),
}  # fmt: skip
"""By the place of the lines: a row, a use of its adapter, and the outcome."""


@pytest.mark.parametrize("form", FORMS)
def test_lines_change_what_they_say(tmp_path: Path, form: str) -> None:
    """The method goes on as in the base, but for what the lines return or change."""
    text, use, outcome = FORMS[form]
    assert use(made(tmp_path, f"Other: It differs.\n{text}\n")) == outcome


def test_super_stays_that_of_the_class_of_the_method(tmp_path: Path) -> None:
    """Also where a part of the method is replaced."""
    assert made(tmp_path, "Other: .\n@ plain\n- + 1\n+ + 5\n", base=Derived).plain(1) == 7


def test_a_row_may_have_another_row_as_its_base(tmp_path: Path) -> None:
    """Bases are rows of the file or names of its head, which rows see."""
    head = "from math import inf\n\nLIMIT = inf\n\n"
    other = made(tmp_path, f"{head}First: .\n+ limit = LIMIT\n\nOther(First): .\n@ plain -> value\n+ return -value\n")
    assert (other.limit, other.plain(9)) == (float("inf"), -18)


@pytest.mark.parametrize(("text", "message"), [
    ("Other: .\n@ plain\n- missing\n+ x\n", "chapter.edits:1: Other: 'missing' stands 0 times in Base.plain"),
    ("Other: .\n@ plain\n- number\n", "stands 3 times in Base.plain, not once"),
    ("Other: .\n@ nothing\n+ x\n", "nothing is not a method of its base"),
    ("Other: .\n@ limit\n+ x\n", "limit is not a method of its base"),
    ("Other: .\n@ plain\n+ if:\n", "chapter.edits:1: Other: invalid syntax: if:"),
    ("Other(Nothing): .\n", "Nothing is neither a row nor imported"),
    ("Other: .\n@ plain -> a b\n", "chapter.edits:2: '@ plain -> a b' is neither a row"),
    ("Other: .\n+x\n", "is neither a row"),
    ("Other: .\n\nOther: .\n", "chapter.edits:3: Other: the file has two rows of this name"),
])  # fmt: skip
def test_what_does_not_fit_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """The message says in which row, and what is wrong."""
    with pytest.raises(ValueError) as raised:
        made(tmp_path, text)
    assert message in str(raised.value)


def test_a_package_has_the_rows_of_all_its_files(tmp_path: Path) -> None:
    """A room finds a row by its name; what it does not have is an AttributeError."""
    (tmp_path / "one.edits").write_text("One: .\n", "utf-8")
    (tmp_path / "two.edits").write_text("Two: .\n+ limit = 2\n", "utf-8")
    room = Room(tmp_path, "rows", Base)
    assert (room.adapter("One").limit, room.adapter("Two").limit) == (4, 2)
    with pytest.raises(AttributeError, match="no row is named Three"):
        room.adapter("Three")


def test_names_that_nothing_defines_are_found(tmp_path: Path) -> None:
    """A name of a module of the base, of the head, or built in is known, also inside of a comprehension."""
    text = "import math\n\nOther: .\n@ plain\n+ return [len(odd) + math.inf for pytest in Path for even in other]\n"
    assert unknown_names(type(made(tmp_path, text))) == ["odd", "other"]
