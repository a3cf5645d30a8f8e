"""`pytest-corpus replay`: send the requests of a transcript's findings again, or print them as shell commands."""

import argparse
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from operator import itemgetter
from pathlib import Path
from typing import Any

from pytest_corpus.adapter.opening.factory import split_label
from pytest_corpus.adapter.transports.protocol import CREDENTIALS
from pytest_corpus.commands import FINDINGS, FINE, USAGE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._pytest import add_header_argument, run_pytest, settings_arguments, use_connection
from pytest_corpus.commands.judge import open_transcript, write_given_files
from pytest_corpus.evidence import encoding, judging, shell
from pytest_corpus.evidence.transcript import Key, TestTrace, Transcript
from pytest_corpus.spec.components import COMPONENTS, WIRE
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.requirements import catalogue

FIXED, FAILING, UNKNOWN = "FIXED", "STILL FAILING", "CANNOT TELL"

MOST_COMPARED = 8  # the most earlier calls of the same test that the commands repeat before an exchange

MOST_WRITES = 20  # the most earlier writes that the commands repeat before an exchange

LEVELS = ("MUST", "SHOULD", "MAY")

UNREPEATED = frozenset(("requirement", "shard", "repeat", "components"))
"""Options of the recorded run that are not used, because they would leave tests out or repeat them."""


@dataclass(frozen=True, slots=True)
class RecordedFinding:
    """A finding in a transcript.

    Attributes:
        number: counted from 1 over all findings.
        adapter, test, repetition: these identify the test that found the fault.
        exchange: the position of the exchange that shows the fault.
        story: the shortest sequence of calls that shows the fault; may be empty.
    """

    number: int
    requirement: str
    adapter: str
    component: str
    test: str
    repetition: int
    expected: str
    got: str
    exchange: dict[str, Any]
    story: dict[str, Any]

    @property
    def test_of_exchange(self) -> Key:
        """The key of the test that the exchange belongs to."""
        return self.adapter, self.exchange.get("test", self.test), self.exchange.get("repetition", self.repetition)

    def __str__(self) -> str:
        return f"{self.number}. {self.requirement} {self.level} ({self.component}), {self.test}"

    @property
    def level(self) -> str:
        """The level of the requirement; MUST if this version does not know the requirement."""
        return catalogue()[self.requirement].level if self.requirement in catalogue() else LEVELS[0]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the transcript, the adapter and the selection of findings."""
    parser.add_argument("transcript", metavar="FILE", help="a transcript: .jsonl or .jsonl.gz")
    parser.add_argument("--adapter", metavar="SPEC", help="as for --corpus-adapter; without it the findings are listed")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--requirement", metavar="GLOB", help="only the findings of requirements with such ids")
    chosen.add_argument("--finding", metavar="N", type=int, help="only the finding with this number")
    parser.add_argument("--as", dest="form", choices=("shell", "curl"), help="print commands instead of sending")
    add_header_argument(parser)
    console.add_format_argument(parser)
    parser.epilog = "Exit code: 0 every MUST is fixed, 1 one still fails or cannot be told, 2 nothing to replay."


def run(given: argparse.Namespace) -> int:
    """List the findings, print their commands, or send their requests again."""
    transcript = open_transcript(Path(given.transcript))
    wanted = [each for each in read_findings(transcript) if _is_wanted(each, given)]
    found = sorted(wanted, key=lambda each: LEVELS.index(each.level))
    if not found:
        raise CommandError(_no_findings_message(given, transcript))
    if given.form:
        for each in found:
            console.say(shell.write_comment(str(each)))
            for line in _make_script(transcript, each, given.adapter):
                console.say(line)
        return FINE
    if not given.adapter:
        for each in found:
            console.say(f"{each}: expected {each.expected}; got {each.got}", *describe_steps(transcript, each))
        return FINE
    results = _send_again(transcript, found, given.adapter, given.header)
    lines: list[str] = []
    for each, said in results:
        lines += [f"{said['result']:<14} {each}" + (f": {said['why']}" if said["why"] else ""), *said["story"]]
    console.print_result(given, {"findings": [{**asdict(each), **said} for each, said in results]}, *lines)
    left = [each for each, said in results if said["result"] != FIXED]
    return FINDINGS if any(each.level == "MUST" for each in left) else FINE


def read_findings(transcript: Transcript) -> Iterator[RecordedFinding]:
    """Yield the findings in order. A finding that several tests found occurs once for each test."""
    number = 0
    for (adapter, test, repetition), trace in transcript.tests.items():
        ended = trace.last_line or {"findings": ()}
        for each in ended["findings"]:
            number += 1
            yield RecordedFinding(
                number,
                each["requirement"],
                adapter,
                ended["component"],
                test,
                repetition,
                each["expected"],
                each["got"],
                each.get("exchange", {}),
                each.get("story", {}),
            )


def _is_wanted(finding: RecordedFinding, given: argparse.Namespace) -> bool:
    if given.requirement:
        return any(fnmatchcase(finding.requirement, glob.strip().upper()) for glob in given.requirement.split(","))
    return given.finding in (None, finding.number)


def _no_findings_message(given: argparse.Namespace, transcript: Transcript) -> str:
    known = list(read_findings(transcript))
    if not known:
        return f"{given.transcript}: the run found nothing"
    if given.finding is not None:
        return f"there is no finding {given.finding}; they are numbered from 1 to {len(known)}"
    ids = ", ".join(dict.fromkeys(each.requirement for each in known))
    return f"there is no finding of {given.requirement}; there are findings of {ids}"


def _make_script(transcript: Transcript, finding: RecordedFinding, adapter: str | None) -> list[str]:
    """Return shell commands that repeat the writes of a finding's test and then send the finding's request.

    The commands use the adapter that the user names, never an adapter that only the transcript names.
    """
    facts = transcript.adapters[finding.adapter]
    declared, recorded = (split_label(adapter)[1], None) if adapter else (facts["declared"], facts["transport"])
    target = shell.ShellTarget(declared, finding.component, facts["headers"], recorded)
    lines = exchanges_to_repeat(transcript, finding)
    return shell.write_script(target, [sent for line in lines for sent in shell.sent_requests(line)])


def exchanges_to_repeat(transcript: Transcript, finding: RecordedFinding) -> list[dict[str, Any]]:
    """Return the exchanges that show a finding: earlier writes in the same namespace, earlier writes with an
    idempotency key, and the exchange of the finding.

    If the exchange has no namespace, its answer may have been compared with earlier answers of the test, so the last
    calls of the test are also returned.
    """
    trace = transcript.tests.get(finding.test_of_exchange, TestTrace())
    exchanges = trace.exchanges
    if finding.story:
        numbers = map(int, finding.story["exchanges"])
        return [exchanges[number - 1] for number in numbers if 0 < number <= len(exchanges)]
    *earlier, last = exchanges[: int(finding.exchange["number"]) if finding.exchange else None] or [{}]
    if not last:
        return []
    place = _namespace_of(last)
    if place is None:
        return [*(each for each in earlier[:-MOST_COMPARED] if _is_write(each)), *earlier[-MOST_COMPARED:], last]
    others = (one for (adapter, _, _), one in transcript.tests.items() if adapter == finding.adapter)
    lines = (each for one in others if one.process == trace.process for each in one.exchanges)
    here = [each for each in lines if each["n"] < last["n"] and _is_write(each) and _namespace_of(each) == place]
    own = [each for each in earlier if _is_write(each) and _namespace_of(each) != place and _has_key(each)]
    return [*sorted((*here, *own), key=itemgetter("n"))[-MOST_WRITES:], last]


def describe_steps(transcript: Transcript, finding: RecordedFinding) -> Iterator[str]:
    """Yield the calls of a finding's shortest sequence as numbered lines, after a heading."""
    if finding.story:
        yield f"    {finding.story['said']}"
        for number, line in enumerate(exchanges_to_repeat(transcript, finding), 1):
            request = encoding.text_of(line["request"]) if "request" in line else ""
            yield f"    {number}. {line.get('entry_point', 'not called')} {request}".rstrip()


def _is_write(line: dict[str, Any]) -> bool:
    request = line.get("request")
    op = request.get("op") if isinstance(request, dict) else None
    return isinstance(op, str) and op in BY_OP and BY_OP[op].mutating


def _has_key(line: dict[str, Any]) -> bool:
    context = line["request"].get("ctx")
    return isinstance(context, dict) and "idempotency_key" in context


def _namespace_of(line: dict[str, Any]) -> object:
    request = line.get("request")
    args = request.get("args") if isinstance(request, dict) else None
    return args.get("namespace") if isinstance(args, dict) else None


def _send_again(
    transcript: Transcript, found: list[RecordedFinding], adapter: str, headers: Sequence[str]
) -> list[tuple[RecordedFinding, dict[str, Any]]]:
    """Run the tests of the findings with the recorded seed; return each finding with its result.

    Tests that this version of the suite lacks are left out, because pytest would take their names for files.
    """
    options = judging.stated_options(transcript)
    with tempfile.TemporaryDirectory(prefix="pytest-corpus-") as name:
        folder = Path(name)
        again = folder / "again.jsonl"
        known = [each for each in found if each.test in _tests_of(each.component, options.get("profile", ""))]
        if not known:
            raise CommandError("the suite of this version has none of the tests of these findings")
        components = ",".join(dict.fromkeys(each.component for each in known))
        passed = [
            *settings_arguments(folder),
            f"--corpus-adapter=again={adapter}",
            f"--corpus-components={components}",
            f"--corpus-transcript={again}",
            *judging.to_arguments(transcript, leave_out=UNREPEATED),
            *write_given_files(transcript, folder)[1:],
            "-q",
            *dict.fromkeys(f"corpus/{each.test}" for each in known),
        ]
        use_connection(folder, headers)
        said = folder / "output.txt"  # the output names files that are deleted when this command ends
        with said.open("w", encoding="utf-8") as output:
            code = run_pytest("replay", passed, folder, output)
        if code == USAGE or not again.exists():
            sys.stderr.write(said.read_text("utf-8", errors="replace").lstrip("\n"))
            raise CommandError(f"the tests could not be run again: pytest ended with {code}")
        new = open_transcript(again)
    _check_credentials(new)
    new_findings = {(each.test, each.requirement): each for each in reversed([*read_findings(new)])}
    results = []
    for each in found:
        same = new_findings.get((each.test, each.requirement))
        result, why = (FAILING, "") if same else _judge_absence(new.tests.get(("again", each.test, 0)))
        results.append((each, {"result": result, "why": why, "story": [*describe_steps(new, same)] if same else []}))
    return results


def _check_credentials(new: Transcript) -> None:
    """Refuse an adapter at an address if all its answers mean that it requires other credentials."""
    facts = new.adapters["again"]
    refused = [*facts.get("refused", {}).values()]
    if facts["transport"] and len(refused) == len(facts["components"]):
        raise CommandError(f"the adapter refuses capabilities: {refused[0]}; {CREDENTIALS}, or give --header")


def _tests_of(component: str, profile: str) -> Collection[str]:
    """Return the tests that this version has for a component. Imports pytest."""
    from pytest_corpus.suites import inventory

    return inventory.tests(component, profile) if component in (*COMPONENTS, *WIRE) else ()


def _judge_absence(trace: TestTrace | None) -> tuple[str, str]:
    """Return the result for a finding that did not occur again: FIXED, or UNKNOWN with the reason."""
    ended = trace.last_line if trace else None
    if ended is None:
        return UNKNOWN, "the test did not run"
    if ended["outcome"] in ("not_assessed", "not_applicable", "error"):
        return UNKNOWN, ended["reason"] or ended["outcome"].replace("_", " ")
    return FIXED, ""
