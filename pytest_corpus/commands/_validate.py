"""`pytest-corpus schema validate FILE...`: messages in files, held to their schemas."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_corpus.commands import FINDINGS, FINE, USAGE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._files import LINES, MAX_BYTES, STDIN, Document, documents, expanded, shown_name
from pytest_corpus.commands._told import told_schema
from pytest_corpus.redaction.values import printable
from pytest_corpus.spec.schemas import EDITIONS

if TYPE_CHECKING:
    from pytest_corpus.validation.schema.registry import SchemaRegistry

PROG = "pytest-corpus schema validate"

_HELD = 1000
"""How many findings a JSON result holds; the others are counted."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Files, and what they are held to."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a file, a folder, or - for stdin")
    parser.add_argument(
        "--schema", metavar="NAME", help="short name, file name or $id; default: what the message itself tells"
    )
    parser.add_argument("--edition", choices=EDITIONS, help="default: the newest, which accepts all that others accept")
    parser.add_argument(
        "--lines", action="store_true", help=f"a document a line, as in {' and '.join(LINES)} files without being told"
    )
    parser.add_argument(
        "--max-errors", type=console.count, metavar="N", default=20, help="shown of one document (default 20)"
    )
    parser.add_argument(
        "--max-bytes", type=console.count, metavar="N", default=MAX_BYTES, help="the most that one document may measure"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="name valid documents too")
    console.format_argument(parser)


@dataclass(frozen=True, slots=True)
class _Finding:
    """A document that is not valid: by itself, or under a schema."""

    line: int | None
    schema: str | None
    edition: str | None
    problems: list[dict[str, str]]
    golden: str | None


@dataclass(slots=True)
class _File:
    """What came out about one file."""

    file: str
    documents: int = 0
    invalid: int = 0
    schemas: set[str] = field(default_factory=set)
    findings: list[_Finding] = field(default_factory=list)
    error: str = ""


def run(given: argparse.Namespace) -> int:
    """Check every document of every file; one that cannot be read does not keep the others from being checked.

    Raises:
        CommandError: there is no such schema, or the files named make no sense.
    """
    from pytest_corpus.validation.schema.registry import registry

    if given.files.count(STDIN) > 1:
        raise CommandError("stdin can be read once; name - once")
    schemas = registry()
    if given.schema is not None:
        schemas.get_validator(given.schema, given.edition)
    files, results = _files(given.files)
    with console.Progress(len(files), str) as progress:
        check = _Check(given, schemas, progress, alone=len(files) == 1 and not results)
        for number, name in enumerate(files):
            if len(files) > 1:
                progress.at(number, shown_name(name))
            results.append(check.file(name))
    if given.format == "json":
        console.say_json(_as_json(results))
    elif len(results) > 1 or sum(result.documents for result in results) > 1:
        console.say(_summary(results))
    if any(result.error for result in results):
        return USAGE
    return FINDINGS if any(result.invalid for result in results) else FINE


def _files(names: list[str]) -> tuple[list[str], list[_File]]:
    """The files to check, and what there is to say of folders in which none is to be found."""
    files: list[str] = []
    errors: list[_File] = []
    for name in names:
        try:
            files += expanded(name)
        except CommandError as error:
            console.warn(f"{PROG}: {error}")
            errors.append(_File(name, error=str(error)))
    return files, errors


class _Check:
    """Checks files, and says of each document what there is to say as soon as it is known."""

    def __init__(
        self, given: argparse.Namespace, schemas: SchemaRegistry, progress: console.Progress, *, alone: bool
    ) -> None:
        self.given, self.schemas, self.progress, self.alone = given, schemas, progress, alone
        self.held = 0

    def file(self, name: str) -> _File:
        """All documents of a file."""
        result = _File(shown_name(name))
        by_line = self.given.lines or name.endswith(LINES)
        try:
            for document in documents(name, lines=by_line, limit=self.given.max_bytes):
                result.documents += 1
                if self.alone and by_line:
                    self.progress.at(result.documents, "documents")
                self._document(name, document, result)
        except CommandError as error:
            result.error = str(error)
            self._say(error=result.error)
        return result

    def _document(self, name: str, document: Document, result: _File) -> None:
        where = f"{result.file}:{document.line}" if document.line else result.file
        if document.flaw:
            self._found(result, _Finding(document.line, None, None, [_problem("json", document.flaw)], None))
            self._say(f"{where}: {document.flaw}")
            return
        try:
            schema = self.given.schema or told_schema(name, document.value, self.given.edition)
        except CommandError as error:
            raise CommandError(f"{where}: {error}") from None
        self._under(where, schema, document, result)

    def _under(self, where: str, name: str, document: Document, result: _File) -> None:
        from pytest_corpus.validation.schema.exceptions import DeprecatedFieldWarning, SchemaValidationError

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecatedFieldWarning)  # said below, with the file and the line
                self.schemas.validate_json(name, document.value, self.given.edition)
        except SchemaValidationError as refused:
            problems = refused.problems[: self.given.max_errors]
            held = [{key: text for key, text in asdict(problem).items() if key != "schema"} for problem in problems]
            finding = _Finding(document.line, refused.schema, refused.edition, held, refused.golden)
            self._found(result, finding)
            result.schemas.add(refused.schema)
            if self.given.format == "text":
                self._say_refused(where, refused)
            return
        meant, edition = self.schemas.table.resolve(name, self.given.edition)
        schema = meant.name
        result.schemas.add(schema)
        for path in self.schemas.deprecations(name, document.value, self.given.edition):
            self.progress.clear()
            console.warn(f"{PROG}: {where}: {path or 'the whole'} is deprecated in {schema} (edition {edition})")
        if self.given.format == "text" and (self.given.verbose or (self.alone and document.line is None)):
            self.progress.clear()
            console.verdict(where, console.good("valid"), f"{schema} (edition {edition})")

    def _found(self, result: _File, finding: _Finding) -> None:
        result.invalid += 1
        if self.given.format == "json" and self.held < _HELD:
            self.held += 1
            result.findings.append(finding)

    def _say_refused(self, where: str, refused: Any) -> None:
        self.progress.clear()
        console.verdict(where, console.bad("not a valid"), f"{refused.schema} (edition {refused.edition})")
        problems = refused.problems
        console.say(*(f"  {problem.one_line}" for problem in problems[: self.given.max_errors]))
        if len(problems) > self.given.max_errors:
            console.say(f"  and {len(problems) - self.given.max_errors} more; --max-errors shows more of them")
        if refused.golden:
            from pytest_corpus.validation.schema.exceptions import place_of

            console.say(f"  compare with {place_of(refused.golden)}")

    def _say(self, found: str = "", error: str = "") -> None:
        self.progress.clear()
        if error:
            console.warn(f"{PROG}: {error}")
        elif self.given.format == "text":
            console.say(found)


def _problem(rule: str, message: str) -> dict[str, str]:
    return {"path": "", "rule": rule, "message": printable(message), "found": "", "hint": "", "location": ""}


def _counts(results: list[_File]) -> dict[str, int]:
    return {
        "documents": sum(result.documents for result in results),
        "invalid": sum(result.invalid for result in results),
        "unreadable": sum(bool(result.error) for result in results),
    }


def _summary(results: list[_File]) -> str:
    counts = _counts(results)
    files, documents_ = console.plural(len(results), "file"), console.plural(counts["documents"], "document")
    parts = [f"{files}, {documents_}", f"{counts['invalid']:,} not valid"]
    if counts["unreadable"]:
        parts.append(f"{console.plural(counts['unreadable'], 'file')} could not be checked")
    return ", ".join(parts)


def _as_json(results: list[_File]) -> dict[str, Any]:
    counts = _counts(results)
    held = sum(len(result.findings) for result in results)
    return {
        "valid": not counts["invalid"] and not counts["unreadable"],
        **counts,
        "findings_omitted": counts["invalid"] - held,
        "files": list(_files_as_json(results)),
    }


def _files_as_json(results: list[_File]) -> Iterator[dict[str, Any]]:
    for result in results:
        yield {
            "file": result.file,
            "valid": not result.invalid and not result.error,
            "documents": result.documents,
            "schemas": sorted(result.schemas),
            "findings": [asdict(finding) for finding in result.findings],
            **({"error": result.error} if result.error else {}),
        }
