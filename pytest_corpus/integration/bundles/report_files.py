"""Reports of a run that only has bundles: without an adapter there is no verdict."""

from typing import Any

from pytest_corpus.reports import formats, json_report
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.verdict.ledger import Ledger
from pytest_corpus.verdict.verdict import decide

ALONE = "only behaviour bundles ran"
NOBODY = "no adapter"


def write_alone(concluding: Any) -> list[str]:
    """Write the reports that were asked for, where no adapter was declared that writes them; what is to be said."""
    config = concluding.config
    asked = config.getoption("corpus_report") or config.getini("corpus_report")
    if not asked or config.pluginmanager.get_plugin("corpus-conformance") is not None:
        return []

    from pytest_corpus.integration.options import run_options

    given = run_options.read(config)
    ledger = Ledger(NOBODY)
    ledger.mark_partial(ALONE)
    run = json_report.Run(
        concluding.started_at, concluding.duration_s, given.seed, given.level, given.edition,
        profile=given.profile.name, bundles=tuple(concluding.sections()),
    )  # fmt: skip
    document = json_report.build(ledger, decide(ledger), run)
    said = []
    for path in given.reports:
        try:
            suffix = formats.suffix_of(path.name) or ".json"
            write_atomically(formats.render(document, suffix, contents=concluding.contents()), path)
            said.append(f"report: {path}")
        except OSError as error:
            said.append(f"report: {path} could not be written: {error.strerror}")
    return said
