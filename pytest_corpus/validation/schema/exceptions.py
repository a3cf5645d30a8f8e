"""Exceptions of the schema registry. Users import them from `pytest_corpus.schema_registry`."""

from pathlib import Path

from pytest_corpus.resources import folder
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS, SchemaFile
from pytest_corpus.text.problems import PlainError, Problem


class UnknownEditionError(PlainError, LookupError):
    """The requested edition does not exist."""

    def __init__(self, edition: str) -> None:
        super().__init__(edition)
        self.edition = edition

    def __str__(self) -> str:
        return f"there is no schema version {self.edition!r}; there are {', '.join(SCHEMA_VERSIONS)}"


class UnknownSchemaError(LookupError):
    """No schema has this name, or none in the requested edition. `suggestions` are similar names."""

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
    """A schema file is missing, is not JSON, has another ``$id`` than its path demands, or does not compile."""

    def __init__(self, path: Path, fault: str) -> None:
        super().__init__(path, fault)
        self.path = path
        self.fault = fault

    def __str__(self) -> str:
        return f"{self.path}: {self.fault}"


class SchemaValidationError(Exception):
    """An instance violates a schema.

    The message has one line per problem: its path, the expected and the received value, the rule and its location; then
    the name of a golden file as an example. It shows keys, numbers and short identifiers of the instance, never
    possible content or secrets (SPECIFICATION 14; R21).
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
        """The path of the first problem, as in `Problem.path` (SCHEMA 9.2)."""
        return self.problems[0].path if self.problems else ""

    def __str__(self) -> str:
        where = f"{self.context}: " if self.context else ""
        lines = [f"{where}not a valid {self.schema} (edition {self.edition})"]
        lines += [f"  {problem.one_line}" for problem in self.problems]
        if self.golden:
            lines.append(f"  compare with {golden_path(self.golden)}")
        return "\n".join(lines)


def golden_path(golden: str) -> str:
    """Return the path of a golden file for messages, relative to the working folder if the file is inside."""
    path = folder("golden") / golden
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def golden_for(schema: str, edition: str, instance: object) -> str | None:
    """Return a golden file that is an example for an instance of a schema, relative to ``golden/``, or None.

    For a request, the example is the request of the same operation.
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
    """A valid instance contains something that its schema marks as ``deprecated`` (SCHEMA 10.2)."""


class SchemaAssertionError(SchemaValidationError, AssertionError):
    """A SchemaValidationError that is also an AssertionError, so that pytest reports a failed test, not an error."""
