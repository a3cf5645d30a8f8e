"""The report as an in-toto Statement v1 with the test-result predicate v0.1, ready to be signed.

The subject is the adapter's name with the digest of the JSON report, because an adapter is not a file and has no
digest. With the JSON report, anyone can check the digest.
"""

import json
from typing import Any

from pytest_corpus.reports import bundle_view, view
from pytest_corpus.reports.json_report import compute_digest
from pytest_corpus.reports.text import printable
from pytest_corpus.text import bounded
from pytest_corpus.validation.schema.evidence import first_flaw

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"

RESULTS = {"good": "PASSED", "caution": "WARNED", "bad": "FAILED", "none": "FAILED"}
"""The result for each tone. Without a verdict the result is FAILED, because the predicate has no other value for it."""


def render(document: view.Document) -> str:
    """Return the statement as JSON with sorted keys."""
    statement = {
        "_type": STATEMENT,
        "subject": [
            {"name": printable(str(document["adapter"]["name"])), "digest": {"sha256": compute_digest(document)}}
        ],
        "predicateType": PREDICATE,
        "predicate": _predicate(document),
    }
    return json.dumps(statement, sort_keys=True, indent=2, ensure_ascii=False) + "\n"


def read_claims(payload: bytes) -> dict[str, str]:
    """Return the adapter, verdict, suite, commit and report that a statement names; missing values are empty texts.

    Raises:
        ValueError: the payload is not a statement of this kind.
    """
    statement = bounded.parse_value(payload)
    if first_flaw("report/statement", statement) or (statement["_type"], statement["predicateType"]) != (
        STATEMENT,
        PREDICATE,
    ):
        raise ValueError("another statement")
    subject = statement["subject"][0]
    suite, *others = statement["predicate"]["configuration"]
    try:
        return {
            "adapter": subject["name"],
            "verdict": suite["annotations"]["verdict"],
            "suite": suite["uri"].rpartition("/")[2],
            "commit": others[0]["digest"]["gitCommit"] if others else "",
            "report_sha256": subject["digest"]["sha256"],
        }
    except KeyError:
        raise ValueError("another statement") from None


def _predicate(document: view.Document) -> dict[str, Any]:
    failed = _requirement_names(view.binding_violations(document))
    open_ones = ("deviated", "not_assessed", "violated")
    warned = [entry for entry in document["requirements"] if entry["status"] in open_ones]
    predicate: dict[str, Any] = {
        "result": RESULTS[view.tone_of(document)],
        "configuration": _configuration(document),
        "passedTests": _requirement_names(view.requirements_of_status(document, "satisfied")),
        "warnedTests": sorted(set(_requirement_names(warned)) - set(failed)),
        "failedTests": failed,
    }
    if url := document.get("ci", {}).get("url"):
        predicate["url"] = url
    return predicate


def _configuration(document: view.Document) -> list[dict[str, Any]]:
    """Return the inputs of the result: this product with its options, and the commit."""
    version = document["environment"].get("pytest-corpus", "")
    release = f"@{version}" if version[:1].isdigit() else ""
    about = {
        "verdict": "altered" if view.is_altered(document) else document["verdict"],
        "complete": document["complete"],
        "gaps": document["gaps"],
        "components": view.components(document),
        "catalogue": document["spec"]["catalogue"],
        "schema_versions_met": document["spec"]["schema_versions_met"],
        "level": document["level"],
        "seed": document["seed"],
        **{key: document[key] for key in ("runs", "settle_s", "provider_lacks", "provider") if key in document},
    }
    # The result is about conformance, so it does not include behaviour bundles.
    kept = ("name", "version", "provider", "verdict")
    if sections := bundle_view.sections(document):
        about["bundles"] = [{key: each[key] for key in kept if key in each} for each in sections]
    suite = {"name": "pytest-corpus", "uri": f"pkg:pypi/pytest-corpus{release}", "annotations": about}
    commit = document.get("commit")
    return [suite, *([{"name": "commit", "digest": {"gitCommit": commit}}] if commit else [])]


def _requirement_names(entries: list[dict[str, Any]]) -> list[str]:
    return sorted(f"{entry['component']}/{entry['id']}" for entry in entries)
