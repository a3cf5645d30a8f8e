"""One finding of one test as lines of text: the sentence, what was sent, expected and got, a hint, how to rerun it."""

from collections.abc import Iterator

from pytest_corpus.reports.text import printable
from pytest_corpus.spec.requirements import catalogue
from pytest_corpus.verdict.evidence import Evidence
from pytest_corpus.verdict.ledger import Finding


def headline(finding: Finding) -> str:
    """The requirement and its sentence."""
    entry = catalogue()[finding.requirement]
    return f"{entry.id} ({entry.level}): {entry.text}"


def one_line(finding: Finding) -> str:
    """The whole finding in one line, for what has no room for more."""
    return printable(f"{headline(finding)} Expected {finding.expected}; got {got(finding)}")


def got(finding: Finding) -> str:
    """The value that came instead, and its place in the answer."""
    return f"{finding.got or 'something else'}" + (f"  (at {finding.path})" if finding.path else "")


def block(finding: Finding, seen: Evidence | None, *, test: bool = False, script: bool = False) -> list[str]:
    """The text of a finding with its evidence, and if wanted with the id of its test and commands that show it."""
    commands = seen.content.script if seen and seen.content and script else ()
    shell = ["  send again:", *(f"    {line}" for line in commands)] if commands else []
    return [printable(line) for line in (headline(finding), *_rows(finding, seen, test=test), *_more(seen), *shell)]


def behind(seen: Evidence) -> Iterator[tuple[str, str]]:
    """The evidence of a finding for a report that shows the rest of it: a line of text for each label."""
    content = seen.content
    rows = [
        ("sent", content.sent if content else seen.sent),
        ("fault", seen.fault),
        ("answer", content.answer if content else ""),
        ("raised", content.raised if content else seen.raised),
        ("observed", seen.observed),
        *(("problem", each) for each in (seen.problems if len(seen.problems) > 1 else ())),
        *(("traceback", each) for each in (content.traceback if content else ())),
        *(("replay", each) for each in (content.replay if content else seen.replay)),
        *(("logged", each) for each in (content.logged if content else ())),
        *(("printed", each) for each in (content.printed if content else ())),
    ]
    yield from ((label, printable(text)) for label, text in rows if text)


def _rows(finding: Finding, seen: Evidence | None, *, test: bool) -> Iterator[str]:
    entry = catalogue()[finding.requirement]
    content = seen.content if seen else None
    rows = [
        ("test", seen.node if seen and test else ""),
        ("source", ", ".join(entry.source)),
        ("sent", (content.sent if content else seen.sent) if seen else ""),
        ("fault", seen.fault if seen else ""),
        ("expected", finding.expected),
        ("got", got(finding)),
        ("answer", content.answer if content else ""),
        ("raised", (content.raised if content else seen.raised) if seen else ""),
        ("observed", seen.observed if seen else ""),
        ("hint", entry.hint),
        ("rerun", seen.rerun if seen else ""),
    ]
    yield from (f"  {name + ':':<10}{text}" for name, text in rows if text)


def _more(seen: Evidence | None) -> Iterator[str]:
    if seen is None:
        return
    content = seen.content
    parts = [
        ("problems", seen.problems if len(seen.problems) > 1 else ()),
        ("traceback of the adapter", content.traceback if content else ()),
        ("replay", content.replay if content else seen.replay),
        ("logged during the call", content.logged if content else ()),
        ("printed during the call", content.printed if content else ()),
        ("traceback of the test", tuple(seen.trace.splitlines())),
    ]
    for title, lines in parts:
        if lines:
            yield f"  {title}:"
            yield from (f"    {line}" for line in lines)
