"""`pytest-corpus schema check FILE...`: check the messages in files against their schemas."""

import argparse
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from difflib import get_close_matches
from typing import Any

from pytest_corpus.commands import FINDINGS, FINE, USAGE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._files import LINES, MAX_BYTES, STDIN, Document, display_name, list_files, read_documents
from pytest_corpus.redaction import describe_value, printable
from pytest_corpus.spec.goldens import GOLDENS
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.schemas import BASE_URI, BY_NAME, LATEST
from pytest_corpus.validation.schema.exceptions import DeprecatedFieldWarning, SchemaValidationError, golden_path
from pytest_corpus.validation.schema.registry import SchemaRegistry, registry

PROG = "pytest-corpus schema check"
_HELD = 1000  # the most findings in a JSON result; further ones are only counted
_NAME_IT = "name its schema with --schema NAME (pytest-corpus schema list shows them)"
_BY_FILE = {golden.file.rpartition("/")[2]: golden for golden in GOLDENS}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files and the options."""
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", help="a file, a folder, or - for stdin")
    add("--schema", metavar="NAME", help="short name, file name or $id (default: as the message says)")
    console.add_schema_version_argument(parser, "the newest, which accepts all that others accept")
    add("--lines", action="store_true", help=f"one document a line (default in {' and '.join(LINES)} files)")
    add(
        "--max-errors",
        type=console.positive_integer,
        metavar="N",
        default=20,
        help="errors shown per document (default 20)",
    )
    add("--max-bytes", type=console.positive_integer, metavar="N", default=MAX_BYTES, help="size limit of a document")
    add("-v", "--verbose", action="store_true", help="name valid documents too")
    console.add_format_argument(parser)


@dataclass(slots=True)
class _FileResult:
    file: str
    documents: int = 0
    invalid: int = 0
    schemas: set[str] = field(default_factory=set)
    findings: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the results in the form of the JSON document."""
        return {
            "file": self.file,
            "valid": not self.invalid and not self.error,
            "documents": self.documents,
            "schemas": sorted(self.schemas),
            "findings": self.findings,
            **({"error": self.error} if self.error else {}),
        }


def run(given: argparse.Namespace) -> int:
    """Check every document of every named file."""
    if given.files.count(STDIN) > 1:
        raise CommandError("stdin can be read once; name - once")
    schemas = registry()
    if given.schema is not None:
        schemas.get_validator(given.schema, given.schema_version)
    files, results = _collect_files(given.files)
    with console.ProgressLine(len(files), str) as progress:
        check = _Checker(given, schemas, progress, alone=len(files) == 1 and not results)
        for number, name in enumerate(files):
            if len(files) > 1:
                progress.show(number, display_name(name))
            results.append(check.check_file(name))
    counts = {
        "documents": sum(result.documents for result in results),
        "invalid": sum(result.invalid for result in results),
        "unreadable": sum(bool(result.error) for result in results),
    }
    if given.format == "json":
        valid = not counts["invalid"] and not counts["unreadable"]
        omitted = counts["invalid"] - sum(len(result.findings) for result in results)
        files_as_json = [result.as_json() for result in results]
        console.say_json({"valid": valid, **counts, "findings_omitted": omitted, "files": files_as_json})
    elif len(results) > 1 or counts["documents"] > 1:
        parts = [console.count_in_words(len(results), "file"), console.count_in_words(counts["documents"], "document")]
        parts.append(f"{counts['invalid']:,} not valid")
        if unreadable := counts["unreadable"]:
            parts.append(f"{console.count_in_words(unreadable, 'file')} could not be checked")
        console.say(", ".join(parts))
    if counts["unreadable"]:
        return USAGE
    return FINDINGS if counts["invalid"] else FINE


def _collect_files(names: list[str]) -> tuple[list[str], list[_FileResult]]:
    """Return the files to check, and a result with an error for each folder that has none."""
    files: list[str] = []
    errors: list[_FileResult] = []
    for name in names:
        try:
            files += list_files(name)
        except CommandError as error:
            console.warn(f"{PROG}: {error}")
            errors.append(_FileResult(name, error=str(error)))
    return files, errors


class _Checker:
    """Checks files, and prints the result of each document at once."""

    def __init__(
        self, given: argparse.Namespace, schemas: SchemaRegistry, progress: console.ProgressLine, *, alone: bool
    ) -> None:
        self.given, self.schemas, self.progress, self.alone = given, schemas, progress, alone
        self.held = 0

    def check_file(self, name: str) -> _FileResult:
        """Check all documents of a file; return its result."""
        result = _FileResult(display_name(name))
        by_line = self.given.lines or name.endswith(LINES)
        try:
            for document in read_documents(name, lines=by_line, limit=self.given.max_bytes):
                result.documents += 1
                if self.alone and by_line:
                    self.progress.show(result.documents, "documents")
                self._check_document(name, document, result)
        except CommandError as error:
            result.error = str(error)
            self.progress.clear()
            console.warn(f"{PROG}: {error}")
        return result

    def _check_document(self, name: str, document: Document, result: _FileResult) -> None:
        where = f"{result.file}:{document.line}" if document.line else result.file
        if document.flaw:
            problem = {"path": "", "rule": "json", "message": printable(document.flaw)}
            self._add_finding(result, document, [{**problem, "found": "", "hint": "", "location": ""}])
            self.progress.clear()
            if self.given.format == "text":
                console.say(f"{where}: {document.flaw}")
            return
        try:
            schema = self.given.schema or schema_for(name, document.value, self.given.schema_version)
        except CommandError as error:
            raise CommandError(f"{where}: {error}") from None
        self._check_against_schema(where, schema, document, result)

    def _check_against_schema(self, where: str, name: str, document: Document, result: _FileResult) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecatedFieldWarning)  # reported below, with the file and the line
                self.schemas.validate_json(name, document.value, self.given.schema_version)
        except SchemaValidationError as refused:
            problems = refused.problems[: self.given.max_errors]
            held = [{key: text for key, text in asdict(problem).items() if key != "schema"} for problem in problems]
            self._add_finding(result, document, held, refused)
            result.schemas.add(refused.schema)
            if self.given.format == "text":
                self._print_violations(where, refused)
            return
        meant, edition = self.schemas.table.resolve(name, self.given.schema_version)
        schema = meant.name
        result.schemas.add(schema)
        for path in self.schemas.deprecations(name, document.value, self.given.schema_version):
            self.progress.clear()
            console.warn(f"{PROG}: {where}: {path or 'the whole'} is deprecated in {schema} (edition {edition})")
        if self.given.format == "text" and (self.given.verbose or (self.alone and document.line is None)):
            self.progress.clear()
            console.print_verdict(where, console.make_green("valid"), f"{schema} (edition {edition})")

    def _add_finding(
        self,
        result: _FileResult,
        document: Document,
        problems: list[dict[str, Any]],
        refused: SchemaValidationError | None = None,
    ) -> None:
        result.invalid += 1
        if self.given.format == "json" and self.held < _HELD:
            self.held += 1
            about = {name: getattr(refused, name, None) for name in ("schema", "edition")}
            golden = getattr(refused, "golden", None)
            result.findings.append({"line": document.line, **about, "problems": problems, "golden": golden})

    def _print_violations(self, where: str, refused: SchemaValidationError) -> None:
        self.progress.clear()
        console.print_verdict(where, console.make_red("not a valid"), f"{refused.schema} (edition {refused.edition})")
        problems = refused.problems
        console.say(*(f"  {problem.one_line}" for problem in problems[: self.given.max_errors]))
        if len(problems) > self.given.max_errors:
            console.say(f"  and {len(problems) - self.given.max_errors} more; --max-errors shows more of them")
        if refused.golden:
            console.say(f"  compare with {golden_path(refused.golden)}")


def schema_for(name: str, value: Any, edition: str | None) -> str:
    """Return the short name of the schema for a message in the file `name`.

    For a request, its ``op`` (SPECIFICATION 4.2.6) selects the operation's request schema, or the component's request
    envelope if the edition has no such schema. All error envelopes have one schema (SCHEMA 3.1). For any
    other message, the file must have the name of a golden. Then the schema of this golden applies.

    Raises:
        CommandError: the schema cannot be determined. The message does not contain the file's name.
    """
    message: Mapping[str, Any] = value if isinstance(value, dict) else {}
    op = message.get("op")
    if isinstance(op, str) and op in BY_OP:
        schema = BY_NAME[BY_OP[op].request]
        return schema.name if (edition or LATEST) in schema.editions else f"{BY_OP[op].component}.envelope.request"
    if message.get("ok") is False and "chunk" not in message:
        return "common.envelope.error"
    if golden := _BY_FILE.get(name.replace("\\", "/").rpartition("/")[2]):
        return golden.schema
    if not isinstance(op, str):
        raise CommandError(_missing_schema_message(message))
    near = get_close_matches(op, BY_OP, n=1)
    hint = f"did you mean {near[0]}? If not," if near else "if that is meant,"
    said = f"its op, {describe_value(op, ('op',), 'enum')}, is not an operation of the protocol"
    raise CommandError(f"{said}; {hint} {_NAME_IT}")


def _missing_schema_message(message: Mapping[str, Any]) -> str:
    if str(message.get("$id", "")).startswith(BASE_URI) or "$schema" in message:
        return f"is a schema, not a message; to check it as a message, {_NAME_IT}"
    if "chunk" in message or {"event", "data"} <= message.keys():
        return f"is a frame of a stream, which names no schema; check streams with `stream check`, or {_NAME_IT}"
    if "ok" in message:
        return f"is an answer, and does not say which operation it answers; {_NAME_IT}"
    return f"nothing says which message it is; {_NAME_IT}"
