"""The findings as a SARIF 2.1.0 log, which services for code scanning show.

The location of a result is the line that raised an exception, or else the file that declares the adapter, because
GitHub demands a file. A declared deviation is a suppressed result.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytest_corpus.reports import view
from pytest_corpus.reports.text import printable, received_sentence
from pytest_corpus.spec.components import TITLES
from pytest_corpus.verdict.finding import Finding

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
LEVELS = {"MUST": "error", "SHOULD": "warning", "MAY": "note"}
# A position in a file below the current folder.
RAISED = re.compile(r"at ((?!/|\.\./)[\w./ -]+\.py):(\d{1,7})(?:  \(logged\))?$")
DECLARED = re.compile(r"([A-Za-z_][\w.]*):[A-Za-z_][\w.]*")
DEFAULT_FILE = "pyproject.toml"
"""The file of a result if the file is not known from an exception or from the adapter's name."""


def render(document: view.Document, evidence: Sequence[Finding] = ()) -> str:
    """Return the log as JSON with sorted keys."""
    entries = [entry for status in ("violated", "deviated") for entry in view.requirements_of_status(document, status)]
    rules = {entry["id"]: _make_rule(entry) for entry in entries}
    order = {name: number for number, name in enumerate(rules)}
    driver = {
        "name": "pytest-corpus",
        "semanticVersion": printable(str(document["environment"].get("pytest-corpus", "0"))),
        "rules": list(rules.values()),
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": bool(document["complete"])}],
        "automationDetails": {"id": f"pytest-corpus/{printable(str(document['adapter']['name']))}/"},
        "properties": {"verdict": document["verdict"], "sha256": document["sha256"]},
        "results": [
            {**result, "ruleIndex": order[entry["id"]]}
            for entry in entries
            for result in _make_results(document, entry, evidence)
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def _make_rule(entry: Mapping[str, Any]) -> dict[str, Any]:
    help_text = "; ".join(filter(None, (entry.get("hint", ""), f"source: {', '.join(entry['source'])}")))
    return {
        "id": printable(entry["id"]),
        "shortDescription": {"text": _escape(entry["text"])},
        "help": {"text": _escape(help_text)},
        "defaultConfiguration": {"level": LEVELS.get(entry["level"], "warning")},
    }


def _make_results(
    document: view.Document, entry: Mapping[str, Any], evidence: Sequence[Finding]
) -> Iterator[dict[str, Any]]:
    """Yield a result for each finding of a requirement; one result if the requirement has no finding."""
    for number, finding in enumerate(entry.get("findings") or [None]):
        seen = view.evidence_of(evidence, entry, finding) if finding else None
        place = RAISED.search(seen.raised_at) if seen else None
        result: dict[str, Any] = {
            "ruleId": printable(entry["id"]),
            "level": LEVELS.get(entry["level"], "warning"),
            "message": {"text": _escape(_message(document, entry, finding))},
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": {"uri": (place[1] if place else _adapter_file(document)).replace(" ", "%20")},
                    "region": {"startLine": max(1, int(place[2])) if place else 1},
                },
                "logicalLocations": [{"name": TITLES[entry["component"]], "kind": "module"}],
            }],
            "partialFingerprints": {"requirement/v1": f"{entry['component']}/{printable(entry['id'])}/{number}"},
        }  # fmt: skip
        if entry["status"] == "deviated":
            reason = _escape(str(entry["deviation"]["reason"]))
            result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
        yield result


def _message(document: view.Document, entry: Mapping[str, Any], finding: Mapping[str, str] | None) -> str:
    """Return the expected and the received value, and the command that runs the requirement again."""
    again = f"Rerun: {view.rerun_command(document, entry['id'])}"
    if finding is None:
        return f"{entry['text']} {again}"
    got, path = received_sentence(finding["got"], finding["path"])
    return f"Expected {finding['expected']}; got {got}{f' (at {path})' if path else ''}. {again}"


def _escape(text: str) -> str:
    """Escape braces and brackets, which SARIF reads as placeholders and links (3.11.5, 3.11.6)."""
    return re.sub(r"([\\\[\]])", r"\\\1", printable(text)).replace("{", "{{").replace("}", "}}") or "(empty)"


def _adapter_file(document: view.Document) -> str:
    """Return the file of an adapter that is declared as module:factory, otherwise the default file."""
    declared = DECLARED.fullmatch(str(document["adapter"]["name"]))
    return f"{declared[1].replace('.', '/')}.py" if declared else DEFAULT_FILE
