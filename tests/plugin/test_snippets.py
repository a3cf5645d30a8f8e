"""The Python of the adapter guide, as it is printed, does what the suite asks for."""

import sys
from pathlib import Path

import pytest
from inner_runs import Project, said

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))

from blocks import blocks

GUIDE = [block.text for block in blocks("python") if block.page == "docs/adapter-guide.md"]
(METRICS,) = (text for text in GUIDE if text.startswith("metrics.observe("))
(STUB,) = (text for text in GUIDE if "class StubProvider" in text)
(MAPPING,) = (text for text in GUIDE if "def envelope_of" in text)

ADAPTERS = f"""
import time

{STUB}

{MAPPING}

class Printed:
    def observe(self, **given): self.observed = given
    def counter(self, **given): self.counted = given

printed = metrics = Printed()
{METRICS}

class AsPrinted:
    '''Passes on what the guide prints, with the values of the call.'''
    def __init__(self, inner):
        self.inner = inner
    def observe(self, **given):
        self.inner.observe(**{{key: given.get(key) for key in printed.observed}})
    def counter(self, **given):
        extra = {{key: given["extra"].get(key) for key in printed.counted["extra"]}}
        self.inner.counter(**{{key: given[key] for key in printed.counted if key != "extra"}}, extra=extra)

def counted(metrics=None):
    return llm(AsPrinted(metrics))

class Mapped(Wrapped):
    def __init__(self, provider=None):
        super().__init__()
        self.stub = StubProvider(provider)
    async def handle(self, envelope):
        started = time.monotonic()
        answer = await self.inner.handle(envelope)
        if op_of(envelope) != "llm.complete" or not answer["ok"]:
            return answer
        try:
            await self.stub.complete("")
        except Exception as fault:
            return envelope_of(fault, (time.monotonic() - started) * 1000)
        return answer
    async def handle_stream(self, envelope):
        started = time.monotonic()
        told = self.stub.stream("")
        async for frame in self.inner.handle_stream(envelope):
            try:
                if frame["ok"]:
                    await anext(told, None)
            except Exception as fault:
                yield envelope_of(fault, (time.monotonic() - started) * 1000)
                return
            yield frame
"""


@pytest.mark.parametrize(("name", "few", "least"), [
    ("counted", "COM-OBS-1,COM-OBS-3,COM-OBS-6,COM-OBS-11,COM-OBS-12,COM-OBS-18", 10),
    ("Mapped", "COM-FAULT-[1-9],COM-STREAM-9", 12),
])  # fmt: skip
def test_the_guide_keeps_the_requirements(project: Project, name: str, few: str, least: int) -> None:
    """The calls of metrics, the stub and the mapping of faults are copied into an adapter, and nothing is violated."""
    project.adapter(ADAPTERS)
    result = project.run(f"--corpus-adapter=mine:{name}", f"--corpus-requirement={few}")
    assert result.ret == 0, said(result)
    assert result.parseoutcomes()["passed"] >= least, said(result)
