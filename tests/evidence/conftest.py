"""A recorded run of an adapter with a fault, and its attestation."""

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parents[1] / name) for name in ("plugin", "transports", "reports", "bundles")]

from inner_runs import WRAPPED  # noqa: E402
from recording import FAULTY, FEW, KEY, record  # noqa: E402


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run: `mine.py`, `t.jsonl` and `r.json`."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "mine.py").write_text(WRAPPED + FAULTY)
    ended = record(folder, "mine:Counts", FEW, "--corpus-evidence=full", "-v", ACME_API_KEY=KEY)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    (folder / "out.txt").write_text(ended.stdout)
    return folder
