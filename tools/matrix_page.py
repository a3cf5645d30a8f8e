"""Write reports/matrix.html and the table of verdicts in docs/matrix.md from the attestations in reports/."""

import sys
from pathlib import Path

from pytest_corpus.cli import main

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ROOT / "reports"
PAGE = ROOT / "docs" / "matrix.md"

HEAD = """# Verdicts of the examples

Written by `tox run -e report` from the attestations of the examples, which also writes `reports/matrix.html` with the
status of each requirement. An example that is `incomplete` shows a limit of what it is built on (its README says more):
`quill`, for all components, the base classes of corpus-sdk; `graph_networkx`, a back end without a query language.

"""


def write() -> int:
    """Write the page; return the exit code of the first merge that fails, or 0."""
    attestations = sorted(str(path) for path in REPORTS.glob("*.json"))
    if not attestations:
        sys.exit(f"{REPORTS} holds no attestation; run an example first, for example tox run -e minimal,report")
    full = REPORTS / "matrix.md"
    for target in (REPORTS / "matrix.html", full):
        if code := main(["report", "merge", *attestations, "-o", str(target)]):
            return code
    verdicts = next(part for part in full.read_text("utf-8").split("\n\n") if part.startswith("| Adapter |"))
    PAGE.write_text(f"{HEAD}{verdicts}\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(write())
