"""Exceptions of the schema registry; `pytest_corpus.schema_registry` is what users import."""

from pathlib import Path

from pytest_corpus.resources import folder
from pytest_corpus.spec.schemas import EDITIONS, SchemaFile
from pytest_corpus.text.problems import PlainError, Problem


class UnknownEditionError(PlainError, LookupError):
    """An edition that does not exist was asked for."""

    def __init__(self, edition: str) -> None:
        super().__init__(edition)
        self.edition = edition

    def __str__(self) -> str:
        return f"there is no schema edition {self.edition!r}; there are {', '.join(EDITIONS)}"


class UnknownSchemaError(LookupError):
    """A name that no schema has, or none in the edition asked for. `suggestions` are the nearest names."""

    def __init__(
        self, name: str, edition: str | None = None, known: SchemaFile | None = None, suggestions: tuple[str, ...] = ()
    ) -> None:
        super().__init__(name, edition)
        self.name = name
        self.edition = edition
        self.known = known
        self.suggestions = suggestions

    def __str__(self) -> str:
        if self.known:
            return (
                f"edition {self.edition} has no schema {self.name!r}; "
                f"{self.known.name} exists in {', '.join(self.known.editions)}"
            )
        hint = f"; did you mean {' or '.join(self.suggestions)}?" if self.suggestions else ""
        return f"there is no schema {self.name!r}{hint}"


class SchemaFileError(PlainError):
    """A schema file is missing, is not JSON, carries another ``$id`` or does not compile."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(path, fault)
        self.path = path
        self.fault = fault

    def __str__(self) -> str:
        return f"{self.path}: {self.fault}"


class SchemaValidationError(Exception):
    """An instance does not meet a schema.

    The text has a line a problem: where it lies, what the rule asks for, what is there instead, the rule and the
    place of the rule; then a golden file that shows how it is done. Of the instance it shows keys, numbers and
    short identifiers; never anything that may be content or a secret (SPECIFICATION 14; R21).
    """

    def __init__(
        self, schema: str, edition: str, problems: list[Problem], context: str = "", golden: str | None = None
    ) -> None:
        super().__init__(schema, edition, problems, context, golden)
        self.schema = schema
        self.edition = edition
        self.problems = problems
        self.context = context
        self.golden = golden

    @property
    def path(self) -> str:
        """The place of the first problem, as in `Problem.path` (SCHEMA 9.2)."""
        return self.problems[0].path if self.problems else ""

    def __str__(self) -> str:
        where = f"{self.context}: " if self.context else ""
        lines = [f"{where}not a valid {self.schema} (edition {self.edition})"]
        lines += [f"  {problem.one_line}" for problem in self.problems]
        if self.golden:
            lines.append(f"  compare with {place_of(self.golden)}")
        return "\n".join(lines)


def place_of(golden: str) -> str:
    """The path of a golden file: relative to the current folder if it is below it, else the whole path."""
    path = folder("golden") / golden
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def golden_for(schema: str, edition: str, instance: object) -> str | None:
    """The golden file, relative to ``golden/``, to compare an instance of a schema with, or None.

    Of the requests it is that of the same operation.
    """
    from pytest_corpus.spec.goldens import GOLDENS

    fitting = [golden for golden in GOLDENS if edition in golden.editions]
    op = instance.get("op") if isinstance(instance, dict) else None
    for golden in fitting:
        if isinstance(op, str) and golden.schema == schema and f"{op}.request" in golden.also:
            return golden.file
    for golden in fitting:
        if golden.schema == schema and not golden.is_stream:
            return golden.file
    for golden in fitting:
        if schema in (golden.schema, golden.last_line, *golden.also):
            return golden.file
    return None


class DeprecatedFieldWarning(DeprecationWarning):
    """A valid instance holds what its schema calls ``deprecated`` (SCHEMA 10.2)."""


class SchemaAssertionError(SchemaValidationError, AssertionError):
    """The same as an assertion, so that a test fails with it instead of erring."""
