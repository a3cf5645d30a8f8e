"""`pytest-corpus stream`: check captured or live streams frame by frame in bounded memory."""

import argparse
import io
import os
from dataclasses import dataclass
from typing import Any, BinaryIO

from pytest_corpus.commands import FINDINGS, FINE, USAGE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._files import STDIN, describe_foreign_file, display_name, open_file
from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.spec.words import BOM, MAX_FRAME_BYTES
from pytest_corpus.validation.schema.exceptions import SchemaFileError, UnknownEditionError, UnknownSchemaError
from pytest_corpus.validation.streams.config import StreamReport, ValidationConfig, ValidationMode

_BLOCK = 262_144
_FRAMINGS = {"canonical": "canonical", "events": "event"}
_ENDINGS = {"success": "ended by a final chunk", "error": "ended by an error", None: "not ended"}
_SSE_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action `check` and its arguments."""
    check = console.add_actions(parser)("check", "check whole streams", run)
    add, modes = check.add_argument, [mode.value for mode in ValidationMode]
    add("files", metavar="FILE", nargs="+", help="a file with one stream, or - for stdin")
    console.add_component_argument(check, STREAMING, "the component of the stream; this or --schema is required")
    add("--schema", metavar="NAME", help="a schema of its frames, by short name, file name or $id")
    add("--mode", type=str.lower, choices=modes, default="strict", help="frames to validate (default: strict, all)")
    add("--sample-rate", type=float, default=0.1, metavar="R", help="of the mode sampled (default 0.1)")
    add("--framing", choices=tuple(_FRAMINGS), default="canonical", help="events: the overlay of gateways")
    transport = check.add_mutually_exclusive_group()
    transport.add_argument("--sse", action="store_true", help="server-sent events (default for .sse files)")
    transport.add_argument("--ndjson", action="store_true", help="newline-delimited JSON (default for all others)")
    console.add_schema_version_argument(check, "either")
    add("--max-frame-bytes", type=console.positive_integer, default=MAX_FRAME_BYTES, metavar="N", help="default: 1 MiB")
    add("--max-errors", type=console.positive_integer, default=20, metavar="N", help="errors shown (default 20)")
    console.add_format_argument(check)


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result for one stream: the report, or the reason why the stream could not be read."""

    file: str
    transport: str
    config: ValidationConfig
    report: StreamReport | None = None
    flaw: str = ""
    hint: str = ""
    error: str = ""

    @property
    def is_valid(self) -> bool:
        return self.report is not None and self.report.is_valid and not self.flaw


def run(given: argparse.Namespace) -> int:
    """Check each stream. If the command is interrupted, the text of the exception shows the progress."""
    if given.files.count(STDIN) > 1:
        raise CommandError("stdin can be read once; name - once")
    config = _make_config(given)
    outcomes = []
    for name in given.files:
        sse = bool(given.sse or (not given.ndjson and name.lower().endswith(".sse")))
        outcomes.append(outcome := _check_stream(name, sse, config))
        if outcome.error:
            console.warn(f"pytest-corpus stream check: {outcome.error}")
        elif given.format == "text":
            _print_outcome(outcome)
    if given.format == "json":
        valid = all(outcome.is_valid for outcome in outcomes)
        console.say_json({"valid": valid, "streams": [_as_json(outcome) for outcome in outcomes]})
    if any(outcome.error for outcome in outcomes):
        return USAGE
    return FINE if all(outcome.is_valid for outcome in outcomes) else FINDINGS


def _make_config(given: argparse.Namespace) -> ValidationConfig:
    from pytest_corpus.validation.streams.engine import StreamValidationEngine

    if not given.component and not given.schema:
        raise CommandError(
            f"name the component whose stream it is, --component {'|'.join(STREAMING)}, or a schema of its frames, "
            "--schema NAME"
        )
    try:
        config = ValidationConfig(
            envelope_schema_id=given.schema,
            component=given.component or "",
            mode=given.mode,
            max_frame_bytes=given.max_frame_bytes,
            sample_rate=given.sample_rate,
            edition=given.schema_version,
            framing=_FRAMINGS[given.framing],  # type: ignore[arg-type]
            max_errors=given.max_errors,
        )
        StreamValidationEngine(config)
    except (ValueError, UnknownEditionError, UnknownSchemaError, SchemaFileError, FileNotFoundError) as error:
        raise CommandError(str(error)) from None
    return config


def _check_stream(name: str, sse: bool, config: ValidationConfig) -> _Outcome:
    from pytest_corpus.validation.streams.engine import StreamValidationEngine

    engine = StreamValidationEngine(config)
    feed = engine.feed_sse if sse else engine.feed_ndjson
    file, transport = display_name(name), "server-sent events" if sse else "NDJSON"
    begin = b""
    try:
        with open_file(name) as source, console.ProgressLine(_size_of(source), console.size_text) as progress:
            done, read = 0, source.read1 if isinstance(source, io.BufferedReader) else source.read
            while block := read(_BLOCK):
                begin = begin or block
                feed(block)
                done += len(block)
                progress.show(done, file)
    except CommandError as error:
        return _Outcome(file, transport, config, error=str(error))
    except KeyboardInterrupt:
        frames = console.count_in_words(engine.finish().total_frames, "frame")
        raise KeyboardInterrupt(f"{file}: interrupted after {frames}, before the end of the stream") from None
    report = engine.finish()
    if not begin:
        return _Outcome(file, transport, config, report, flaw="is empty; a stream ends with a terminal frame")
    if report.is_valid:
        return _Outcome(file, transport, config, report)
    return _Outcome(file, transport, config, report, describe_foreign_file(begin), _find_hint(begin, sse, report))


def _size_of(source: BinaryIO) -> int | None:
    try:
        return os.fstat(source.fileno()).st_size or None
    except OSError:
        return None


def _find_hint(begin: bytes, sse: bool, report: StreamReport) -> str:
    """Return a probable cause of the errors, from the first bytes of the stream; empty if no cause is known."""
    looks_like_sse = begin.removeprefix(BOM).lstrip().startswith(_SSE_FIELDS)
    if not sse and looks_like_sse:
        return "this looks like server-sent events; if it is, say --sse"
    if sse and not looks_like_sse and begin.lstrip().startswith(b"{"):
        return "this looks like newline-delimited JSON; if it is, say --ndjson"
    last = report.validation_errors[-1]
    if last.frame_number == report.total_frames and "unexpected end" in last.message:
        return "the last frame ends in the middle; is the stream cut off?"
    return ""


def _print_outcome(outcome: _Outcome) -> None:
    if outcome.flaw:
        console.print_verdict(
            outcome.file, console.make_red("not a valid"), f"{outcome.config.component} stream: {outcome.flaw}"
        )
        return
    report = outcome.report
    assert report is not None
    word = console.make_green("valid") if report.is_valid else console.make_red("not a valid")
    config, total = outcome.config, report.total_frames
    edition = f"edition {config.edition}" if config.edition else ""
    framing = "" if config.framing == "canonical" else "overlay frames"
    how = ", ".join(filter(None, (outcome.transport, _mode_name(config), framing, edition)))
    held = "" if report.frames_validated == total else f", {report.frames_validated:,} held to the schema"
    errors = len(report.validation_errors) + report.errors_omitted
    amount = f"{console.count_in_words(total, 'frame')}{held}, {_ENDINGS[report.terminal]}"
    amount += f", {console.count_in_words(errors, 'error')}" if errors else ""
    console.print_verdict(outcome.file, word, f"{config.component} stream ({how}): {amount}")
    console.say(*(f"  {error}" for error in report.validation_errors))
    if report.errors_omitted:
        console.say(f"  and {report.errors_omitted:,} more; --max-errors shows more of them")
    if outcome.hint:
        console.say(f"  {outcome.hint}")


def _mode_name(config: ValidationConfig) -> str:
    return config.mode if isinstance(config.mode, str) else config.mode.value


def _as_json(outcome: _Outcome) -> dict[str, Any]:
    if outcome.error:
        return {"file": outcome.file, "valid": False, "error": outcome.error}
    report, config = outcome.report, outcome.config
    assert report is not None
    return {
        "file": outcome.file,
        "valid": outcome.is_valid,
        "component": config.component,
        "transport": "sse" if outcome.transport != "NDJSON" else "ndjson",
        "mode": _mode_name(config),
        "framing": config.framing,
        "edition": config.edition,
        "total_frames": report.total_frames,
        "frames_validated": report.frames_validated,
        "terminal": report.terminal,
        "errors": [
            {
                "frame": error.frame_number or None,
                "type": error.error_type,
                "code": error.code,
                "path": error.path,
                "message": error.message,
            }
            for error in report.validation_errors
        ],
        "errors_omitted": report.errors_omitted,
        **({"flaw": outcome.flaw} if outcome.flaw else {}),
        **({"hint": outcome.hint} if outcome.hint else {}),
    }
