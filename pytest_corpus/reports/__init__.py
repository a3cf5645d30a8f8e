"""From what the tests said to statuses, a verdict and its formats."""

from __future__ import annotations

FORMATS = (".json",)
"""The suffixes that `--corpus-report` knows."""
