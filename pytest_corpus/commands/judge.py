"""`pytest-corpus judge`: judge a recorded run again from its transcript."""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from pytest_corpus.commands import FINDINGS, FINE, CommandError
from pytest_corpus.commands import _console as console
from pytest_corpus.commands._pytest import UNPROVEN, read_attestations, run_pytest, settings_arguments
from pytest_corpus.evidence import judging
from pytest_corpus.evidence.transcript import Transcript, read
from pytest_corpus.reports.json_report import compute_digest
from pytest_corpus.reports.reading import read_report

COMPARED = (
    "adapter", "spec", "level", "seed", "runs", "started_at", "complete", "gaps", "settle_s", "capabilities",
    "components", "requirements", "environment",
)  # fmt: skip
"""The members of a report that a transcript determines; other members depend on the process that wrote the report."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the transcript, the reports and the attestation to compare with."""
    parser.add_argument("transcript", metavar="FILE", help="a transcript: .jsonl or .jsonl.gz")
    console.add_report_argument(parser)
    parser.add_argument(
        "--attestation", metavar="FILE", help="compare with the JSON report of the run; exit code 1 if they differ"
    )
    parser.epilog = (
        "Exit code: 0 nothing binding is violated, 1 violations or another verdict than the attestation's, "
        "2 a transcript or an attestation that was changed or cannot be read."
    )
    console.add_format_argument(parser)


def run(given: argparse.Namespace) -> int:
    """Run the suite with the recorded answers."""
    path = Path(given.transcript)
    transcript = open_transcript(path)
    options = judging.to_arguments(transcript)
    attested = Path(given.attestation) if given.attestation else None
    claimed = _read_attestation(attested, transcript) if attested else None
    with tempfile.TemporaryDirectory(prefix="pytest-corpus-") as name:
        folder = Path(name)
        adapters = [f"--corpus-adapter={label}=transcript:{path.resolve()}" for label in transcript.adapters]
        reports = [
            *write_given_files(transcript, folder),
            f"--corpus-report={folder / 'attestation.json'}",
            *(f"--corpus-report={each}" for each in given.reports),
        ]
        passed = [*settings_arguments(folder), *adapters, *options, *reports, "-q", str(folder)]
        code = run_pytest("judge", passed, folder, sys.stderr if given.format == "json" else None)
        found = read_attestations(folder)
    if code not in (FINE, FINDINGS):
        return code
    if len(found) < len(transcript.adapters):
        return UNPROVEN
    differences = _differences(attested, claimed, transcript, found) if attested and claimed else []
    for each in differences:
        console.warn(f"pytest-corpus judge: {each}")
    code = FINDINGS if differences else code
    console.print_result(given, {"exit_code": code, "attestations": found, "differences": differences})
    return code


def open_transcript(path: Path) -> Transcript:
    """Read a transcript. Raises CommandError if it has no adapter, TranscriptError if it was altered, FileRefused."""
    transcript = read(path)
    if not transcript.adapters:
        raise CommandError(f"{path}: it has no adapter, so the run ended before its first test")
    return transcript


def write_given_files(transcript: Transcript, folder: Path) -> list[str]:
    """Write the deviations and probe queries in a transcript to files; return the pytest options that name them."""
    deviations, dialects = folder / "deviations.toml", folder / "dialects.json"
    deviations.write_text(transcript.header.get("deviations", ""), "utf-8", "replace")
    found = [f"--corpus-deviations={deviations}"]
    if queries := transcript.header.get("dialects"):
        dialects.write_text(json.dumps(queries), "utf-8")
        found.append(f"--corpus-dialects={dialects}")
    return found


def _read_attestation(path: Path, transcript: Transcript) -> dict[str, Any]:
    """Return the attestation. Raises CommandError if it is unreadable, was changed, or names another transcript."""
    claimed = read_report(path)[0]
    if compute_digest(claimed) != claimed["sha256"]:
        raise CommandError(f"{path}: its digest is another one, so it was changed after it was written")
    named = claimed.get("transcript", {}).get("sha256")
    if named != transcript.sha256:
        raise CommandError(f"{path}: it names {'another transcript' if named else 'no transcript'}")
    return claimed


def _differences(path: Path, claimed: dict[str, Any], transcript: Transcript, found: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for each difference between the attestation and the result of the transcript."""
    judged = next((each for each in found if each["adapter"]["name"] == claimed["adapter"]["name"]), None)
    if judged is None:
        return [f"the transcript has no adapter {claimed['adapter']['name']}"]
    shown, stated = (
        {(each["component"], each["id"]): each["status"] for each in report["requirements"]}
        for report in (judged, claimed)
    )
    said = [
        f"{component} {name}: {stated.get((component, name), 'absent')} in {path.name}, "
        f"{shown.get((component, name), 'absent')} by the transcript"
        for component, name in dict.fromkeys((*stated, *shown))
        if stated.get((component, name)) != shown.get((component, name))
    ]
    if judged["verdict"] != claimed["verdict"]:
        said.append(f"the verdict is {judged['verdict']}, {path.name} says {claimed['verdict']}")
    header = transcript.header
    shown_also = {
        **judged,
        "started_at": header["started_at"],
        "spec": {**judged["spec"], "catalogue": header["catalogue"]},
        "environment": {**claimed["environment"], "pytest-corpus": header["pytest-corpus"]},
    }
    return said or [
        f"{path.name}: {where} differs from what the transcript shows"
        for name in COMPARED
        if (where := _first_difference(claimed.get(name), shown_also.get(name), name))
    ]


def _first_difference(one: Any, other: Any, path: str) -> str:
    """Return the path of the first difference between two values, except durations; empty if they are equal."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [key for key in dict.fromkeys((*one, *other)) if key != "duration_s"]
        return next(
            filter(None, (_first_difference(one.get(key), other.get(key), f"{path}.{key}") for key in keys)), ""
        )
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return next(filter(None, (_first_difference(*pair, f"{path}.{number}") for number, pair in pairs)), "")
    return "" if one == other else path
