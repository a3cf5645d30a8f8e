"""The way of one exchange through the package: from a test's call to the loop of the adapter, and through the audit.

The adapter is an embedded reference; the exchange is warm: the same was made before. Prints for each way the modules in
the order in which they are first entered, how many there are, and how often the way returns to one that it has left.
With `conformance`, the way of a run of one test through `pytest_corpus.integration`, from configuration to report.

    python tools/exchange_path.py [COMPONENT | conformance]
"""

import importlib
import inspect
import itertools
import sys
import tempfile
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from pytest_corpus import reference
from pytest_corpus.adapter.client import AdapterClient, Declaration
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit.run_state import Settings

PACKAGE = "pytest_corpus."
INTEGRATION = "integration."
RUN = "conformance"  # in place of a component


class Way:
    """The modules that a call enters, in order, and the largest depth of the stack."""

    def __init__(self) -> None:
        self.entered: list[str] = []
        self.depth = 0

    @property
    def modules(self) -> list[str]:
        """Each module once, in order."""
        return list(dict.fromkeys(self.entered))

    @property
    def returns(self) -> int:
        """The number of times that a module is entered again after it was left."""
        steps = [name for name, _ in itertools.groupby(self.entered)]
        return len(steps) - len(set(steps))

    def follow(self, done: Callable[[], Any]) -> None:
        """Call a function, and record the modules of the package that it enters in this thread."""

        def note(frame: FrameType, event: str, _given: Any) -> None:
            name = frame.f_globals.get("__name__", "")
            own = name.startswith(PACKAGE) and not name.startswith(f"{PACKAGE}reference")
            if event == "call" and own and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a function, no module
                self.entered.append(name.removeprefix(PACKAGE))
                if frame.f_code.co_qualname == "LoopThread.run":
                    self.depth = max(self.depth, depth_of(frame))

        sys.setprofile(note)
        try:
            done()
        finally:
            sys.setprofile(None)


def depth_of(frame: FrameType | None) -> int:
    """Return the number of frames of the package on the stack."""
    depth = 0
    while frame is not None:
        depth += frame.f_globals.get("__name__", "").startswith(PACKAGE)
        frame = frame.f_back
    return depth


def trace_call(component: str) -> tuple[Way, Way]:
    """Return the ways of a plain call of a component's main operation: to the event loop, and through the audit."""
    client = AdapterClient(Declaration(component, getattr(reference, component), component)).open((component,))
    try:
        made = importlib.import_module(f"pytest_corpus.suites.{component}.support.component").COMPONENT
        request = {"op": f"{component}.capabilities", "ctx": {}, "args": {}}
        document = client.send(request, component).frames[0].body["result"]
        subject = made(client, Capabilities(component, document), Settings())
        sending, audit = Way(), Way()
        for _ in range(2):
            subject.call(subject.principal)
            list(subject.auditor.audit())
        subject.begin()
        sending.follow(lambda: subject.call(subject.principal))
        audit.follow(lambda: list(subject.auditor.audit()))
        return sending, audit
    finally:
        client.close()


def trace_run() -> Way:
    """Return the way of a pytest run of one test of one adapter through the integration with pytest."""
    way = Way()
    with tempfile.TemporaryDirectory() as folder:
        chosen = ["--corpus-adapter=pytest_corpus.reference:llm", "--corpus-requirement=LLM-TOKENS-1"]
        plain = ["-q", "--no-header", "-p", "no:randomly", "-p", "no:cacheprovider", f"--rootdir={folder}"]
        way.follow(lambda: pytest.main([*plain, *chosen, f"--corpus-report={folder}/report.json"]))
    way.entered = [name for name in way.entered if name.startswith(INTEGRATION)]
    return way


def main() -> None:
    """Print the ways."""
    if sys.argv[1:] == [RUN]:
        run = trace_run()
        print(f"{RUN}: a run of one test enters {len(run.modules)} modules and returns {run.returns} times:")
        print(f"  {', '.join(run.modules)}")
        return
    for component in sys.argv[1:] or ["llm", "vector", "embedding", "graph"]:
        sending, audit = trace_call(component)
        print(f"{component}: a call passes {sending.depth} frames before the loop, {len(sending.modules)} modules")
        print(f"  the audit enters {len(audit.modules)} modules and returns {audit.returns} times:")
        print(f"  {', '.join(audit.modules)}")


if __name__ == "__main__":
    main()
