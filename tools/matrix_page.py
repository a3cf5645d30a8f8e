"""Writes docs/matrix.md and reports/matrix.html: what the examples' attestations in reports/ say, side by side."""

from __future__ import annotations

import sys
from pathlib import Path

from pytest_corpus.cli import main

ROOT = Path(__file__).resolve().parents[1]
REPORTS = ROOT / "reports"
PAGE = ROOT / "docs" / "matrix.md"

HEAD = """# The examples side by side

Made by `tox run -e report` from the attestations that the environments of the examples write. What was found in each
back end, and what it taught the suite, stands in `examples/README.md`.

"""


def write() -> int:
    """The exit code of the first merge that fails, or 0."""
    attestations = sorted(str(path) for path in REPORTS.glob("*.json"))
    if not attestations:
        sys.exit(f"{REPORTS} holds no attestation; run an example first, for example tox run -e minimal,report")
    table = REPORTS / "matrix.md"
    for target in (REPORTS / "matrix.html", table):
        if code := main(["report", "merge", *attestations, "-o", str(target)]):
            return code
    lines = table.read_text("utf-8").splitlines(keepends=True)
    PAGE.write_text(HEAD + "".join(lines[1:]).lstrip("\n"), "utf-8")  # its own title takes the place of the table's
    return 0


if __name__ == "__main__":
    sys.exit(write())
