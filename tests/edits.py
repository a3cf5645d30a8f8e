"""Adapters written as edits of a reference adapter: rows of a text file `<chapter>.edits`.

A row differs from its base in what it says, and in nothing else:

    LLM-COMPLETE-5 AlwaysTheFirstModel: It names its default model, whichever it was asked for.
    @ completion -> result
    + return {**result, "model": self.models[0]}

    LLM-IDEM-1 ReplayAsksAgain(Numbered) [control]: It claims replays and asks the model for each.
    + replayable = frozenset()

The first line holds the id of the requirement that the row breaks (a legal adapter has none); a name; in parentheses
the base, another row of the folder or a class, if it is not the reference adapter; options in brackets; and a sentence,
which goes on in lines that are indented by four spaces. Lines of code follow, each after a sign. A line that begins
with `@` names a method of the base and says what becomes of it:

    @ name            `+` lines come first in the method. They may return or call `super()`; else the method goes on.
    @ name -> value   `+` lines get what the method returns as `value`, or each item that it yields, and may change it.
    @ name ->         `+` lines come after a method that returns nothing.
    @ name            with `-` lines, which stand exactly once in the method: `+` lines replace them. A single `-` line
                      may be part of a line.

`+` lines before the first `@` stand in the class. `self` and the parameters have the names that they have in the base.
Code sees the names of the modules of the base and those of the head of the file, which is the Python before its first
row: it imports what else the rows need.
"""

import builtins
import dis
import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent
from types import CodeType, FunctionType
from typing import Any, NoReturn

HEADER = re.compile(
    r"(?:(?P<requirement>[A-Z]+(?:-[A-Z]+)+-\d+) )?(?P<name>[A-Z]\w*)(?:\((?P<base>[^)]+)\))?"
    r"(?: \[(?P<options>.+?)\](?=:))?:(?: (?P<sentence>\S.*))?"
)
TARGET = re.compile(r"@ (?P<name>\w+)(?: (?P<after>->)(?: (?P<value>\w+))?)?")
SUPER = re.compile(r"\bsuper\(\)")


@dataclass(frozen=True, slots=True)
class Edit:
    """Signed lines; with a target, those of one method."""

    target: re.Match[str] | None = None
    lines: list[str] = field(default_factory=list)

    def signed(self, sign: str) -> str:
        """Return the code of the lines with a sign."""
        return "\n".join(line[2:] for line in self.lines if line[0] == sign)

    def replacements(self) -> Iterator[tuple[str, str]]:
        """Yield each block of `-` lines with the `+` lines that replace it."""
        text = "\n".join(self.lines) + "\n"
        for found in re.finditer(r"((?:-.*\n)+)((?:\+.*\n)*)", text):
            old, new = (re.sub(r"^[-+] ?", "", block, flags=re.MULTILINE).rstrip("\n") for block in found.groups())
            yield old, new


@dataclass(frozen=True, slots=True)
class Row:
    """An adapter as its file describes it.

    Attributes:
        place: file and line, for messages.
        requirement: the id of the requirement that it breaks; empty if it is legal.
        base: the expression of its base classes; empty for the reference adapter.
        options: what stands in brackets, e.g. ``{"control": "", "others": "6"}``.
        edits: what it changes: first the class, then methods.
    """

    place: str
    requirement: str
    name: str
    base: str
    options: Mapping[str, str]
    sentence: str
    edits: list[Edit]

    def fail(self, problem: str) -> NoReturn:
        raise ValueError(f"{self.place}: {self.name}: {problem}")


class Edits:
    """The rows of one file, by name; `make` compiles one of them."""

    def __init__(self, path: Path, package: str, reference: type[Any]) -> None:
        self.path, self.package, self.reference = path, package, reference
        lines = path.read_text("utf-8").splitlines()
        begin = next((number for number, line in enumerate(lines) if HEADER.fullmatch(line)), len(lines))
        self.head: dict[str, Any] = {"__name__": package, "__package__": package}
        exec(compile("\n".join(lines[:begin]), str(path), "exec"), self.head)
        self.rows: dict[str, Row] = {}
        for row in self._read(lines, begin):
            if row.name in self.rows:
                row.fail("the file has two rows of this name")
            self.rows[row.name] = row
        self.folder: list[Edits] = []
        self._made: dict[str, type[Any]] = {}

    def _read(self, lines: list[str], begin: int) -> Iterator[Row]:
        row: Row | None = None
        for number, line in enumerate(lines[begin:], begin + 1):
            place = f"{self.path.name}:{number}"
            if header := HEADER.fullmatch(line):
                if row is not None:
                    yield row
                given = (option.partition("=") for option in (header["options"] or "").split(", ") if option)
                options = {name: value for name, _, value in given}
                parts = header["requirement"] or "", header["name"], header["base"] or ""
                row = Row(place, *parts, options, _sentence(header["sentence"] or "", lines[number:]), [Edit()])
            elif row is None:
                raise ValueError(f"{place}: the first row must begin with an id or a name, and a colon")
            elif target := TARGET.fullmatch(line):
                row.edits.append(Edit(target))
            elif line.startswith(("+", "-")) and (len(line) == 1 or line[1] == " "):
                row.edits[-1].lines.append(line if len(line) > 1 else f"{line} ")
            elif line.strip() and not line.startswith("    "):
                raise ValueError(f"{place}: {line!r} is neither a row, `@ method`, `+ code` nor `- code`")
        if row is not None:
            yield row

    def make(self, name: str) -> type[Any]:
        """The class of a row.

        Raises:
            ValueError: an edit does not fit its base: the message says where.
        """
        if name not in self._made:
            self._made[name] = self._compile(self.rows[name])
        return self._made[name]

    def base(self, row: Row) -> tuple[type[Any], ...]:
        """Return the base classes of a row."""
        return tuple(self.named(row, name.strip()) for name in row.base.split(",") if name) or (self.reference,)

    def named(self, row: Row, name: str) -> type[Any]:
        """Return a class that a row names: another row of the file or of its folder, or a class in the head of the
        file.
        """
        known = {**self.head, **{each: file for file in self.folder for each in file.rows}}
        known.update(dict.fromkeys(self.rows, self))
        if name not in known:
            row.fail(f"{name} is neither a row nor imported")
        return known[name].make(name) if isinstance(known[name], Edits) else known[name]

    def _compile(self, row: Row) -> type[Any]:
        bases = self.base(row)
        merged: type[Any] = type(row.name, bases, {})
        methods = [_method(row, edit, merged) for edit in row.edits if edit.target]
        origins = [cls.__module__ for cls in reversed(merged.__mro__)] + [method.module for method in methods]
        names: dict[str, Any] = {}
        for origin in origins:
            names.update(vars(sys.modules[origin]) if origin in sys.modules and origin != "builtins" else {})
        names.update(self.head)
        names.update({cls.__name__: cls for cls in merged.__mro__[1:]}, __bases__=bases)
        parts = [repr(row.sentence), row.edits[0].signed("+"), *(method.code for method in methods)]
        code = f"class {row.name}(*__bases__):\n" + indent("\n".join(parts), "    ")
        try:
            exec(compile(code, f"{self.path}:{row.name}", "exec"), names)
        except SyntaxError as error:
            row.fail(f"{error.msg}: {(error.text or '').strip()}")
        made: type[Any] = names[row.name]
        for method in methods:
            vars(made)[method.name].__defaults__ = method.original.__defaults__
            vars(made)[method.name].__kwdefaults__ = method.original.__kwdefaults__
        return made


class Room:
    """The rows of all files in a folder; imports in their heads are relative to `package`."""

    def __init__(self, folder: Path, package: str, reference: type[Any]) -> None:
        self.files = [Edits(path, package, reference) for path in sorted(folder.glob("*.edits"))]
        for file in self.files:
            file.folder = self.files

    def adapter(self, name: str) -> type[Any]:
        """The class of a row, for the `__getattr__` of a package.

        Raises:
            AttributeError: no file has a row of that name.
        """
        for file in self.files:
            if name in file.rows:
                return file.make(name)
        raise AttributeError(f"no row is named {name}")


@dataclass(frozen=True, slots=True)
class Method:
    """A method of a base class after an edit."""

    name: str
    module: str
    original: FunctionType
    code: str


def _method(row: Row, edit: Edit, base: type[Any]) -> Method:
    assert edit.target is not None
    name = edit.target["name"]
    owner = next((cls for cls in base.__mro__ if name in vars(cls)), None)
    original = inspect.unwrap(vars(owner)[name]) if owner is not None else None
    if owner is None or not isinstance(original, FunctionType):
        row.fail(f"{name} is not a method of its base")
    replaces = any(line[0] == "-" for line in edit.lines)
    code = _replace_lines(row, edit, owner, original) if replaces else _wrap_method(edit, original)
    return Method(name, owner.__module__, original, code)


def _replace_lines(row: Row, edit: Edit, owner: type[Any], original: FunctionType) -> str:
    """Return the source of a method with some lines replaced; its `super()` is still that of its class."""
    source = dedent(inspect.getsource(original))
    for old, new in edit.replacements():
        lines, wanted = source.splitlines(), [line.strip() for line in old.splitlines()]
        size, stripped = len(wanted), [line.strip() for line in lines]
        starts = [at for at in range(len(lines)) if stripped[at : at + size] == wanted]
        times = len(starts) or (source.count(wanted[0]) if size == 1 else 0)
        if times != 1:
            row.fail(f"{old.strip()!r} stands {times} times in {owner.__name__}.{original.__name__}, not once")
        if starts:
            [at] = starts
            margin = lines[at][: len(lines[at]) - len(stripped[at])]
            source = "\n".join([*lines[:at], indent(new, margin), *lines[at + size :]])
        else:
            source = source.replace(wanted[0], new.strip())
    return SUPER.sub(f"super({owner.__name__}, self)", source)


def _wrap_method(edit: Edit, original: FunctionType) -> str:
    """Return a method that runs `+` lines before the method of the base class, or on its result."""
    assert edit.target is not None
    lines, value = edit.signed("+"), edit.target["value"]
    before, after = ("", lines) if edit.target["after"] else (lines, "")
    parameters, arguments = _signature(original)
    call = f"super().{original.__name__}({arguments})"
    is_stream = inspect.isasyncgenfunction(original)
    is_async = is_stream or inspect.iscoroutinefunction(original)
    if is_stream or inspect.isgeneratorfunction(original):
        item = value or "item"
        loop = f"{'async ' if is_stream else ''}for {item} in {call}:"
        parts = [before, loop, indent(after, "    "), f"    yield {item}"]
    else:
        call = f"await {call}" if is_async else call
        parts = [f"{value} = {call}", after, f"return {value}"] if value else [before, f"return {call}"]
        parts = [call, after] if edit.target["after"] and not value else parts
    define = f"{'async ' if is_async else ''}def {original.__name__}{parameters}:"
    return "\n".join([define, *(indent(part, "    ") for part in parts if part)])


def _signature(original: FunctionType) -> tuple[str, str]:
    """Return the parameters of a method, with each default as None, and the arguments that pass them on."""
    signature = inspect.signature(original)
    plain, arguments = [], []
    for parameter in signature.parameters.values():
        default = parameter.empty if parameter.default is parameter.empty else None
        plain.append(parameter.replace(annotation=parameter.empty, default=default))
        stars: dict[Any, str] = {
            parameter.VAR_POSITIONAL: "*",
            parameter.VAR_KEYWORD: "**",
            parameter.KEYWORD_ONLY: f"{parameter.name}=",
        }
        arguments.append(stars.get(parameter.kind, "") + parameter.name)
    parameters = signature.replace(parameters=plain, return_annotation=signature.empty)
    return str(parameters), ", ".join(arguments[1:])


def _sentence(first: str, following: list[str]) -> str:
    """Return a sentence, joined with its indented continuation lines."""
    words = [first]
    for line in following:
        if not line.startswith("    "):
            break
        words.append(line.strip())
    return " ".join(words).strip()


def unknown_names(made: Any) -> list[str]:
    """Return the names in the methods of a class that are neither global there nor built in."""
    found = []
    for method in vars(made).values():
        codes = [method.__code__] if isinstance(method, FunctionType) else []
        for code in codes:
            codes.extend(inner for inner in code.co_consts if isinstance(inner, CodeType))
            loaded = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
            found += sorted(loaded - method.__globals__.keys() - vars(builtins).keys())
    return found
