"""The message of a case that did not pass: each reason, and at `full` the prompts and the answer too."""

import os
from collections.abc import Iterator, Sequence

from pytest_corpus.bundles.results import PASSED, CaseResult
from pytest_corpus.redaction import cut, masked, printable, secret_values

LONGEST = 2_000
"""Characters that are shown of a prompt or an answer."""


def message(file: str, provider: str, result: CaseResult, *, full: bool, option: str = "") -> str:
    """The text of a failed case; `option` is what would show its content."""
    lines = list(_lines(file, provider, result, full=full))
    if option and not full:
        lines.append(f"  ({option} shows the prompt and the answer)")
    return fit("\n".join(lines))


def fit(text: str, secrets: Sequence[str] | None = None) -> str:
    """Text that may hold content as it may be shown: secrets (of the environment) masked, no character that steers."""
    hidden = secret_values(os.environ) if secrets is None else secrets
    return "\n".join(map(printable, masked(text, hidden).split("\n")))


def _lines(file: str, provider: str, result: CaseResult, *, full: bool) -> Iterator[str]:
    yield f"{file}: case {result.case}, provider {provider}: {result.status}"
    for reason in result.every_reason:
        yield "  " + (reason.full if full and reason.full else reason.shape).replace("\n", "\n  ")
    for number, sample in enumerate(result.samples, 1):
        if sample.status == PASSED:
            continue
        which = f" of sample {number}" if len(result.samples) > 1 else ""
        facts = [f"finish_reason {sample.finish_reason}"] if sample.finish_reason else []
        facts += [f"{sample.latency_ms:.0f} ms"] if sample.latency_ms is not None else []
        facts += [f"{sample.total_tokens} tokens"] if sample.total_tokens is not None else []
        if facts:
            yield f"  answer{which}: {', '.join(facts)}"
        yield from (f"  note: {note}" for note in sample.notes)
        if full and sample.content is not None:
            sent = (("system prompt", sample.content.system), ("prompt", sample.content.prompt))
            for name, text in (*sent, ("answer", sample.content.output)):
                if text is not None:
                    yield f"  {name}{which}:"
                    yield "    | " + cut(text, LONGEST).rstrip("\n").replace("\n", "\n    | ")
            break
