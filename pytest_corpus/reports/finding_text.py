"""One finding of a test as lines of text: the sentence, the request, expected and received values, hint, command."""

from collections.abc import Iterator

from pytest_corpus.reports.text import printable, received_sentence
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict.finding import Finding
from pytest_corpus.verdict.verdict import hint_of


def headline(finding: Finding) -> str:
    """Return the id, the level and the sentence of the requirement."""
    entry = catalogue()[finding.requirement]
    return f"{entry.id} ({entry.level}): {entry.text}"


def one_line(finding: Finding) -> str:
    """Return the finding in one line."""
    return printable(f"{headline(finding)} Expected {finding.expected}; got {received_text(finding)}")


def received_text(finding: Finding) -> str:
    """Return the received value and its path in the answer."""
    text, place = received_sentence(finding.got, finding.path)
    return text + (f"  (at {place})" if place else "")


def describe_finding(finding: Finding, *, test: bool = False, script: bool = False) -> list[str]:
    """Return a finding with its evidence as lines of text.

    Args:
        test: True to name the test.
        script: True to add the commands that send the request again.
    """
    entry, (values, lists) = catalogue()[finding.requirement], _evidence_by_label(finding)
    known = {
        "source": ", ".join(entry.source),
        "expected": finding.expected,
        "got": received_text(finding),
        "hint": hint_of(entry, [finding.got]),
        **values,
        **({} if test else {"test": ""}),
    }
    order = ("test", "source", "sent", "fault", "expected", "got", "answer", "raised", "observed", "hint", "rerun")
    lines = [headline(finding), *(f"  {name + ':':<10}{known[name]}" for name in order if known.get(name))]
    for title, more in {**lists, "send again": finding.script if script else ()}.items():
        lines += [f"  {title}:", *(f"    {line}" for line in more)] if more else []
    return [printable(line) for line in lines]


def evidence_lines(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield a label and a line for each line of evidence, for a report that already shows the requirement."""
    values, lists = _evidence_by_label(finding)
    yield from ((label, printable(text)) for label, text in values.items() if text and label not in ("test", "rerun"))
    labels = ("problem", "traceback", "judged on", "story", "logged", "printed")
    for label, lines in zip(labels, lists.values(), strict=False):
        yield from ((label, printable(line)) for line in lines if line)


def _evidence_by_label(finding: Finding) -> tuple[dict[str, str], dict[str, tuple[str, ...]]]:
    """Return the evidence by label: single texts, and lists of lines."""
    values = {
        "test": finding.node,
        "sent": finding.sent,
        "fault": finding.fault,
        "answer": finding.answer,
        "raised": finding.raised,
        "observed": finding.observed,
        "rerun": finding.rerun,
    }
    return values, {
        "problems": finding.problems if len(finding.problems) > 1 else (),
        "traceback of the adapter": finding.traceback,
        "judged on": finding.judged_on,
        "story": finding.story,
        "logged during the call": finding.logged,
        "printed during the call": finding.printed,
        "traceback of the test": tuple(finding.trace.splitlines()),
    }
