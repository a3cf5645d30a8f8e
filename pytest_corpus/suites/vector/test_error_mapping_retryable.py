"""From provider failures to the taxonomy (ERRORS 4, 6.3, 8; SPECIFICATION 12)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.fixtures import subject
from pytest_corpus.kit.reply import error_names, failed_items
from pytest_corpus.redaction import describe_word
from pytest_corpus.spec.errors import is_a
from pytest_corpus.suites.shared.claims.faults import KINDS, TestFaults, answer_to_fault
from pytest_corpus.suites.shared.claims.replays import TestLateReplays
from pytest_corpus.suites.vector.support.component import Vector, vector


@pytest.mark.parametrize("kind", KINDS)
def test_a_failure_of_an_item_has_its_canonical_class(vector: Vector, kind: str) -> None:
    """If a batch reports a failure of the provider for each item, each report has the canonical class (R14)."""
    vector.faults.provider_op(vector.principal)
    families = vector.faults.error_classes(kind)
    reporting = [name for name in ("upsert", "delete") if vector.works(name) and vector.faults.reports_items(name)]
    expect.applicable(reporting, "no operation reports a failing provider for each item")
    for name in reporting:
        reply = answer_to_fault(vector, name, kind)
        expect.readable(reply)
        for failure in failed_items(reply.exchange.frames[-1].body.get("result")):
            named = any(is_a(each, family) for each in error_names(failure) for family in families)
            expect.check(
                named,
                f"a failure of class {' or '.join(families)}",
                " and ".join(map(describe_word, error_names(failure))) or "no class of the taxonomy",
                "result.failures",
            )
