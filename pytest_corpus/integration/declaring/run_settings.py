"""The settings that all adapters of a run share."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_corpus.adapter.client import Declaration
from pytest_corpus.adapter.event_loop.closing import ClosingBudget
from pytest_corpus.adapter.hooks.vendors.recording import Recording
from pytest_corpus.adapter.opening.factory import spec_of
from pytest_corpus.adapter.usage import Spending
from pytest_corpus.evidence.recorder import Recorder
from pytest_corpus.integration.options.run_options import Options
from pytest_corpus.integration.xdist.fact_exchange import FactChannel
from pytest_corpus.kit.store.leftovers import FOLDER, Journal, new_run


@dataclass(frozen=True)
class RunSettings:
    """The settings that all adapters of a run share.

    Attributes:
        spending: the budget of calls and tokens, and their use.
        decided: the components that the controller of a distributed run chose, by label.
        run: the random id of the run.
        worker: the id of this process, if it is one of several `workers`.
        closing: the time limit for closing.
        recorder: the recorder of the transcript; None without a transcript.
        recording: the recorded answers of the provider; None without a recording.
        facts: the channel to the facts that workers share; None in any other process.
    """

    options: Options
    spending: Spending = field(default_factory=Spending)
    decided: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    run: str = field(default_factory=new_run)
    worker: str = ""
    workers: int = 1
    closing: ClosingBudget = field(default_factory=ClosingBudget)
    recorder: Recorder | None = None
    recording: Recording | None = None
    facts: FactChannel | None = None

    def journal(self, declaration: Declaration) -> Journal:
        """Return the journal of the data in an adapter's store; `pytest-corpus sweep` can read its file."""
        label = hashlib.sha256(declaration.label.encode()).hexdigest()[:6]
        again = str(os.getpid()) if self.recording is not None else ""  # a recording fixes the id of the run
        name = "-".join(filter(None, (self.run, self.worker, again, label)))
        path = self.options.folder / FOLDER / f"{name}.jsonl"
        return Journal(path, self.run, declaration.declared, spec_of(declaration.factory))
