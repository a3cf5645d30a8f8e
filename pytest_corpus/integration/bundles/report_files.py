"""Reports of a run that only has bundles: without an adapter there is no verdict."""

from typing import Any

from pytest_corpus.integration.options.checks import CONFORMANCE
from pytest_corpus.reports import formats, json_report
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide


def write_alone(concluding: Any) -> list[str]:
    """Write the requested reports of a run without an adapter; return lines for the summary."""
    config = concluding.config
    asked = config.getoption("corpus_report") or config.getini("corpus_report")
    if not asked or config.pluginmanager.get_plugin(CONFORMANCE) is not None:
        return []

    from pytest_corpus.integration.options import run_options

    given = run_options.read(config)
    ledger = Ledger("no adapter")
    ledger.mark_partial("only behaviour bundles ran")
    run = json_report.Run(
        concluding.started_at, concluding.duration_s, given.seed, given.level, given.edition,
        profile=given.profile.name, bundles=tuple(concluding.sections()),
    )  # fmt: skip
    document = json_report.build(ledger, decide(ledger), run)
    lines = []
    for path in given.reports:
        try:
            suffix = formats.suffix_of(path.name) or ".json"
            write_atomically(formats.render(document, suffix, contents=concluding.contents()), path)
            lines.append(f"report: {path}")
        except OSError as error:
            lines.append(f"report: {path} could not be written: {error.strerror}")
    return lines
