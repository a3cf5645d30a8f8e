"""Request builders: the stages of the pipeline that each envelope passes (SCHEMA 6.3, 8.2)."""

import pytest

from pytest_corpus.kit import expect
from pytest_corpus.kit.expect import check
from pytest_corpus.kit.fixtures import SUBJECT, core, rules
from pytest_corpus.suites.wire.component import ClientTarget
from pytest_corpus.validation.requests.arguments import replaced_keys
from pytest_corpus.validation.requests.cases import CASES
from pytest_corpus.validation.requests.roundtrip import json_roundtrip

EARLIEST_DEADLINE_MS = 10**11
"""A time in March 1973, in milliseconds. Times in seconds, and spans of less than three years, are smaller."""


OPERATIONS = [
    pytest.param(
        case.op, id=case.op, marks=[getattr(pytest.mark, tag) for tag in case.tags if tag in ("core", case.component)]
    )
    for case in CASES
]
"""The operations of the cases, marked with their component and `core`."""

each = pytest.mark.parametrize("op", OPERATIONS)


@pytest.fixture
def library(request: pytest.FixtureRequest) -> ClientTarget:
    """The client library under test."""
    found: ClientTarget = request.node.stash[SUBJECT]
    return found


@core("WIR-OFFER-1")
def test_request_builders_are_offered(library: ClientTarget) -> None:
    """A declared client library has at least one builder."""
    check(
        library.offered,
        f"a builder for at least one of the {len(CASES)} operations, such as {CASES[1].build_method}",
        "no request builder: the client does not offer any",
    )


@each
@pytest.mark.requirement("WIR-BUILD-1")
def test_a_builder_builds_without_arguments(library: ClientTarget, op: str) -> None:
    """A builder needs no arguments, raises no exception and ends."""
    fault = library.run_builder(op).fault
    check(not fault, "an envelope, from a call without arguments", f"{library.builder_name(op)} {fault}")


@each
@rules(
    "is_a_dict WIR-ENV-1, has_the_required_keys WIR-ENV-2, names_its_operation WIR-ENV-3, context WIR-CTX-1, "
    "can_be_written_as_json WIR-JSON-1, survives_json WIR-JSON-2, meets_its_schema WIR-SCHEMA-1, "
    "rules_of_arguments WIR-ARGS-1"
)
def test_an_envelope_passes_a_stage(library: ClientTarget, op: str, requirement: str) -> None:
    """The envelope of each builder passes each stage of the pipeline."""
    library.check_stage(op, requirement)


@each
@pytest.mark.requirement("WIR-CTX-2")
def test_the_deadline_is_a_point_in_time(library: ClientTarget, op: str) -> None:
    """`deadline_ms` is in milliseconds since the epoch."""
    deadline = json_roundtrip(library.envelope_after_stages(op, "WIR-JSON-2"))["ctx"].get("deadline_ms")
    expect.applicable(deadline is not None, "the request has no deadline")
    check(deadline >= EARLIEST_DEADLINE_MS, "milliseconds since the epoch", "a span, or seconds", "ctx.deadline_ms")


@each
@pytest.mark.requirement("WIR-ARGS-2")
def test_the_arguments_meet_their_schema(library: ClientTarget, op: str) -> None:
    """The arguments are valid under the schema of the operation."""
    library.check_stage(op, "WIR-ARGS-2")


@each
@pytest.mark.requirement("WIR-ARGS-3")
def test_the_arguments_have_their_first_names(library: ClientTarget, op: str) -> None:
    """The arguments have the names `messages` or `vector`, not another name for the same argument."""
    args = json_roundtrip(library.envelope_after_stages(op, "WIR-ARGS-2"))["args"]
    path, other = next(iter(replaced_keys(op, args).items()), ("", ""))
    check(not other, path.rpartition(".")[2], f"{other} in its place", path)
