"""The ways of an exchange and of a run through the package (`tools/exchange_path.py`); they may only become shorter."""

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

import exchange_path

MOST_FRAMES = 12
MOST_MODULES = {"llm": 14, "vector": 11, "embedding": 12, "graph": 10}
MOST_RETURNS = 5
MOST_MODULES_OF_A_RUN = 28


@pytest.mark.parametrize("component", MOST_MODULES)
def test_an_exchange_takes_a_short_way(component: str) -> None:
    """Few frames stand before the loop, few modules judge an answer, and few of them are entered again."""
    sending, audit = exchange_path.trace_call(component)
    assert 0 < sending.depth <= MOST_FRAMES
    assert 0 < len(audit.modules) <= MOST_MODULES[component]
    assert audit.returns <= MOST_RETURNS


def test_a_run_takes_a_short_way(tmp_path: Path) -> None:
    """From the configuration to the report, few modules of the integration with pytest take part."""
    command = [sys.executable, exchange_path.__file__, "conformance"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split(", ")
    assert "integration.running.execution" in modules
    assert len(modules) <= MOST_MODULES_OF_A_RUN
