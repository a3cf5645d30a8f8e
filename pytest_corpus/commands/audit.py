"""`pytest-corpus audit`: findings in recorded traffic of other programs. The command gives no verdict."""

import argparse
import importlib
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from pytest_corpus.adapter.client import Declaration
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands.judge import open_transcript
from pytest_corpus.evidence import encoding
from pytest_corpus.evidence.player import Player, make_recorded_client
from pytest_corpus.evidence.transcript import Transcript
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.run_state import Settings
from pytest_corpus.reports.text import count_in_words
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.spec.operations import operations_of
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.validation.sealed_lines import SUFFIXES

MOST_FINDINGS = 10_000
"""The largest number of findings that are shown."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and the component."""
    parser.add_argument("traffic", metavar="FILE", help="an HTTP archive (.har), or a transcript (.jsonl, .jsonl.gz)")
    console.add_component_argument(parser, COMPONENTS, "the component that was called", required=True)
    console.add_schema_version_argument(parser, "either")
    console.add_format_argument(parser)
    parser.epilog = "Exit code: 0 no findings, 1 findings, 2 a file that cannot be read or has no exchange."


def run(given: argparse.Namespace) -> int:
    """Check each exchange by the rules that apply to every exchange."""
    path = Path(given.traffic)
    # One exchange is read at a time, because all exchanges together may need much memory.
    if path.name.endswith(SUFFIXES):
        traffic = partial(_read_transcript, open_transcript(path), given.component)
    else:
        traffic = partial(_read_archive, path, given.component)
    number = 0
    document: dict[str, object] = {}
    for _, exchange in traffic():
        number, document = number + 1, document or _capabilities_in(exchange)
    if not number:
        raise CommandError(f"{path}: no exchange with an operation of {given.component}")
    subject = _make_subject(given.component, given.schema_version, document)
    found = list(islice(_find_violations(subject, traffic()), MOST_FINDINGS))
    form = "{exchange}: {requirement} ({level}) {op}: expected {expected}; got {got}"
    lines = [form.format(**each) + (f" (at {each['path']})" if each["path"] else "") for each in found]
    beyond = f" (the first {MOST_FINDINGS:,})" if len(found) == MOST_FINDINGS else ""
    figures = f"{count_in_words(number, 'exchange')}, {count_in_words(len(found), 'finding')}{beyond}"
    last = f"{figures}; there is no verdict, which only a run of the suite gives"
    console.print_result(given, {"exchanges": number, "findings": found}, *lines, last)
    return FINDINGS if found else FINE


def _find_violations(subject: Subject, exchanges: Iterable[tuple[str, Exchange]]) -> Iterator[dict[str, str]]:
    """Yield the violations of each exchange, which is checked alone. `exchanges` are pairs of a position and an
    exchange.
    """
    for where, exchange in exchanges:
        for requirement, violation in subject.auditor.findings(exchange):
            if requirement in catalogue():
                found = {"requirement": requirement, "level": catalogue()[requirement].level, "exchange": where}
                said = {"expected": violation.expected, "got": violation.got, "path": violation.path}
                yield {**found, "op": exchange.op, **said}


def _read_archive(path: Path, component: str) -> Iterator[tuple[str, Exchange]]:
    for number, exchange in encoding.read_archive(path):
        if exchange.op.startswith(f"{component}."):
            exchange.component = component
            yield f"entry {number}", exchange


def _read_transcript(transcript: Transcript, component: str) -> Iterator[tuple[str, Exchange]]:
    streams = any(operation.streaming for operation in operations_of(component))
    for trace in transcript.tests.values():
        for line in trace.exchanges:
            if line.get("component") != component or line.get("entry_point") not in ("handle", "handle_stream"):
                continue
            exchange = Exchange(
                encoding.decode_value(line["request"]),
                streams and line["entry_point"] == "handle_stream",
                component=component,
            )
            encoding.restore_exchange(exchange, line)
            exchange.limited = line.get("limited", False)
            yield f"line {line['n']}", exchange


def _make_subject(component: str, edition: str | None, document: dict[str, object]) -> Subject:
    """Return the object by which the suite checks exchanges of the component, with the capabilities in the traffic."""
    made: type[Subject] = importlib.import_module(f"pytest_corpus.suites.{component}.support.component").COMPONENT
    facts = {"transport": "", "hooks": [], "hears_logs": True, "components": [component], "streams": [component]}
    player = Player(Transcript({}), "")
    client = make_recorded_client(Declaration("traffic", lambda: None, "traffic"), player, facts)
    return made(client, Capabilities(component, document), Settings(edition=edition))


def _capabilities_in(exchange: Exchange) -> dict[str, object]:
    """Return the capabilities in the answer of an exchange; empty for other requests."""
    body = exchange.frames[-1].body if exchange.op.endswith(".capabilities") and exchange.frames else None
    result = body.get("result") if isinstance(body, dict) else None
    return result if isinstance(result, dict) else {}
