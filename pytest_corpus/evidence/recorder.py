"""Records the test that runs in this process: its exchanges and its other inputs (readings)."""

import base64
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.calls import CallBatch
from pytest_corpus.adapter.exceptions import Unresponsive
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.fault_plan import Plan
from pytest_corpus.adapter.inputs import Source
from pytest_corpus.evidence import encoding
from pytest_corpus.kit.outcomes import Story
from pytest_corpus.redaction import mask_secrets, mask_within
from pytest_corpus.validation.sealed_lines import dumps

DECIMALS = 6
"""Times are rounded to microseconds before a test reads them, so that a replay reads the same times."""


@dataclass(slots=True, eq=False)
class RecordedTest:
    """The requests, answers and readings of one test.

    Attributes:
        test, repetition: the identity of the test.
        events: a function for each call, in order, that encodes it. The functions are called when the test is written,
            because metrics and logs may arrive late.
        readings: the inputs besides answers, by name, for each shared fact; the key of the test itself is empty.
    """

    test: str = ""
    repetition: int = 0
    events: list[Callable[[], dict[str, Any]]] = field(default_factory=list)
    readings: dict[str, dict[str, list[Any]]] = field(default_factory=dict)

    def position_of(self, exchange: Exchange | None, story: Story | None = None) -> dict[str, Any]:
        """Return the positions in the transcript of an exchange, and of the exchanges in a finding's story.

        A position is the number of the exchange in its test, from 1. If another test made the exchange, name that test.
        """
        if exchange is None or exchange.record is None:
            return {}
        made, number = exchange.record
        other = {} if made is self else {"test": made.test, "repetition": made.repetition}
        calls = [each.record[1] for each in story.exchanges if each.record] if story else []
        told = {"story": {"said": story.text, "exchanges": calls}} if story and calls else {}
        return {"exchange": {"number": number, **other}, **told}


class Recorder(Source):
    """Records the requests, answers and readings of the current test.

    Args:
        process: the name of this process, if it is one of several.
        secrets: secrets of the environment, to be masked.
    """

    def __init__(self, process: str, secrets: Iterable[str]) -> None:
        self.process = process
        self._secrets = tuple(dict.fromkeys(each for secret in secrets for each in (secret, json.dumps(secret)[1:-1])))
        self._test = RecordedTest()
        self._scopes: list[str] = []
        self._waiting = ""

    def add_adapter(self, adapter: Mapping[str, Any]) -> None:
        """Add the facts of an opened adapter; they are written before the adapter's next test."""
        self._waiting += self.encode_line({"kind": "adapter", "process": self.process, **adapter})

    def begin(self, test: str, repetition: int) -> RecordedTest:
        """Start to record another test."""
        self._test, self._scopes = RecordedTest(test, repetition), []
        return self._test

    def enter(self, scope: str) -> None:
        """Mark the following events as part of a shared fact, until `leave`."""
        self._scopes.append(scope)

    def leave(self) -> None:
        """End the shared fact that began last."""
        self._scopes.pop()

    def read(self, what: str, look: Callable[[], Any]) -> Any:
        """Call `look`, record its value under a name, and return the value."""
        found = look()
        if isinstance(found, float):
            found = round(found, DECIMALS)
        scope = self._scopes[-1] if self._scopes else ""
        self._test.readings.setdefault(scope, {}).setdefault(what, []).append(found)
        return found

    def record_calls(self, batch: CallBatch) -> None:
        """Record finished calls, which were made concurrently if there are several."""
        # Requests are encoded now, because a test may change them later.
        requests = [encoding.encode_fragment(each.request) for each in batch.exchanges]
        members: dict[str, Any] = {
            "plans": [_encode_plan(plan) for plan in batch.plans],
            "arrivals": encoding.encode_arrivals(batch.arrivals),
            "generation": batch.generation,
            "hooks": sorted(batch.called),
        }
        here = {**self._time_and_fact(), **{key: each for key, each in members.items() if each}}
        self._test.events.append(lambda: {**here, **encoding.encode_calls(batch, requests)})
        if batch.raw is None and batch.clients is None:
            batch.exchanges[0].record = self._test, len(self._test.events)

    def record_unanswered_call(self, silent: Unresponsive) -> None:
        """Record a call that was not made, or was abandoned, because the operation does not answer."""
        event = {**self._time_and_fact(), "unresponsive": {"op": silent.op, "moving": silent.moving}}
        self._test.events.append(lambda: event)

    def _time_and_fact(self) -> dict[str, Any]:
        """Return the current time, and the shared fact that is being determined, as members of a line."""
        found = {"fact": self._scopes[-1]} if self._scopes else {}
        return {"at": round(time.time(), DECIMALS), **found}

    def encode_test(self, test: RecordedTest, adapter: str, ended: Mapping[str, Any]) -> str:
        """Return the lines of a finished test: its exchanges and its result.

        Args:
            test: the recorded test.
            adapter: the label of the adapter.
            ended: further members of the last line.
        """
        of = {"process": self.process, "adapter": adapter, "test": test.test, "repetition": test.repetition}
        events = [self.encode_line({"kind": "exchange", **of, **encoded()}) for encoded in test.events]
        last = {"kind": "test", **of, **ended, "exchanges": len(events), "readings": test.readings}
        waiting, self._waiting = self._waiting, ""
        return "".join((waiting, *events, self.encode_line(last)))

    def encode_line(self, members: Mapping[str, Any]) -> str:
        """Encode a line of the transcript, with the secrets of the environment masked."""
        text = dumps(members)
        if self._secrets and ('{"base64":"' in text or mask_secrets(text, self._secrets) != text):
            text = dumps(_mask_line(json.loads(text), self._secrets))
        return text + "\n"


FORMAT_WORDS = frozenset(
    ("kind", "entry_point", "component", "process", "adapter", "label", "test", "fact", "outcome", "requirement", "op")
)
"""Keys of a line whose values are words of the format or names of tests, so that they contain no secret."""

CONTENT = frozenset(("request", "body", "facts", "extra", "capabilities", "options", "dialects", "logs", "debug_logs"))
"""Keys of a line whose values, with the keys inside, came from the adapter or the tests."""


def _mask_line(written: Any, secrets: tuple[str, ...]) -> Any:
    """Mask secrets in the content of a line, but never in the keywords of the format."""
    if isinstance(written, str):
        return mask_secrets(written, secrets)
    if isinstance(written, list):
        return [_mask_line(each, secrets) for each in written]
    if not isinstance(written, dict):
        return written
    if set(written) == {"base64"} and isinstance(written["base64"], str):
        return {"base64": _mask_base64(written["base64"], secrets)}
    return {
        key: each
        if key in FORMAT_WORDS and isinstance(each, str)
        else mask_within(each, secrets)
        if key in CONTENT and set(each if isinstance(each, dict) else ()) != {"base64"}
        else _mask_line(each, secrets)
        for key, each in written.items()
    }


def _mask_base64(text: str, secrets: tuple[str, ...]) -> str:
    """Mask secrets in base64-encoded bytes."""
    bare = [secret.encode("utf-8", "surrogatepass").decode("latin-1") for secret in secrets]
    return base64.b64encode(mask_secrets(base64.b64decode(text).decode("latin-1"), bare).encode("latin-1")).decode()


def _encode_plan(plan: Plan) -> dict[str, Any]:
    """Encode a plan that makes the provider fail or wait, without members that are not set."""
    members = ("kind", "op", "at_chunk", "times", "retry_after_ms", "delay_ms", "form")
    return {name: found for name in members if (found := getattr(plan, name)) not in (None, 0)}
