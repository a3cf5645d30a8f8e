"""docs/requirements.md says what the catalogue, the suite and the mutants say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_page_is_current() -> None:
    """The page that is kept is the page that would be generated."""
    command = [sys.executable, str(ROOT / "tools" / "requirements_page.py"), "--check"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
