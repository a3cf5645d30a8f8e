"""Request builders: how far each envelope gets in the pipeline (SCHEMA 6.3, 8.2)."""

from collections.abc import Iterable
from typing import Any

import pytest

from pytest_corpus.kit.expect import that
from pytest_corpus.kit.fixtures import SUBJECT
from pytest_corpus.kit.outcomes import NotApplicable
from pytest_corpus.suites.wire.component import ClientTarget
from pytest_corpus.validation.requests.arguments import replaced_keys
from pytest_corpus.validation.requests.cases import CASES, WireRequestCase
from pytest_corpus.validation.requests.roundtrip import json_roundtrip

EARLIEST_DEADLINE_MS = 10**11
"""In March 1973. A time in seconds of the epoch, and any span of less than three years, is less."""


def get_pytest_params(cases: Iterable[WireRequestCase] = CASES) -> list[Any]:
    """The operations of cases as parameters, marked with their component and `core`."""
    return [
        pytest.param(
            case.op,
            id=case.op,
            marks=[getattr(pytest.mark, tag) for tag in case.tags if tag in ("core", case.component)],
        )
        for case in cases
    ]


each = pytest.mark.parametrize("op", get_pytest_params())


@pytest.fixture
def library(request: pytest.FixtureRequest) -> ClientTarget:
    """The client library under test."""
    found: ClientTarget = request.node.stash[SUBJECT]
    return found


@pytest.mark.core
@pytest.mark.requirement("WIR-OFFER-1")
def test_request_builders_are_offered(library: ClientTarget) -> None:
    """A declared client library has at least one builder."""
    that(
        library.offered,
        f"a builder of at least one of {len(CASES)} operations, such as {CASES[1].build_method}",
        "no request builder: the client does not offer any",
    )


@each
@pytest.mark.requirement("WIR-BUILD-1")
def test_a_builder_builds_without_arguments(library: ClientTarget, op: str) -> None:
    """A builder needs no arguments, raises nothing and comes to an end."""
    fault = library.built(op).fault
    that(not fault, "an envelope, from a call without arguments", f"{library.named(op)} {fault}")


@each
@pytest.mark.requirement("WIR-ENV-1")
def test_an_envelope_is_a_dict(library: ClientTarget, op: str) -> None:
    """What a builder gives is a dict."""
    library.decide(op, "WIR-ENV-1")


@each
@pytest.mark.requirement("WIR-ENV-2")
def test_an_envelope_has_the_required_keys(library: ClientTarget, op: str) -> None:
    """`op`, `ctx` and `args` are there."""
    library.decide(op, "WIR-ENV-2")


@each
@pytest.mark.requirement("WIR-ENV-3")
def test_the_operation_is_named_exactly(library: ClientTarget, op: str) -> None:
    """`op` is the operation of the builder's name."""
    library.decide(op, "WIR-ENV-3")


@each
@pytest.mark.requirement("WIR-CTX-1")
def test_the_context_is_sound(library: ClientTarget, op: str) -> None:
    """`ctx` is an object, whose documented members are of their type and range."""
    library.decide(op, "WIR-CTX-1")


@each
@pytest.mark.requirement("WIR-CTX-2")
def test_the_deadline_is_a_point_in_time(library: ClientTarget, op: str) -> None:
    """`deadline_ms` counts milliseconds from the epoch."""
    deadline = json_roundtrip(library.passed(op, "WIR-JSON-2"))["ctx"].get("deadline_ms")
    if deadline is None:
        raise NotApplicable("the request has no deadline")
    that(deadline >= EARLIEST_DEADLINE_MS, "milliseconds of the epoch", "a span, or seconds", "ctx.deadline_ms")


@each
@pytest.mark.requirement("WIR-JSON-1")
def test_an_envelope_can_be_written_as_json(library: ClientTarget, op: str) -> None:
    """Nothing stands in an envelope that JSON does not have."""
    library.decide(op, "WIR-JSON-1")


@each
@pytest.mark.requirement("WIR-JSON-2")
def test_an_envelope_comes_back_from_json_as_it_was(library: ClientTarget, op: str) -> None:
    """What arrives on the other side is what was sent."""
    library.decide(op, "WIR-JSON-2")


@each
@pytest.mark.requirement("WIR-SCHEMA-1")
def test_an_envelope_meets_its_schema(library: ClientTarget, op: str) -> None:
    """The envelope is valid under the request schema of its component."""
    library.decide(op, "WIR-SCHEMA-1")


@each
@pytest.mark.requirement("WIR-ARGS-1")
def test_the_arguments_keep_the_rules(library: ClientTarget, op: str) -> None:
    """The arguments keep what the documents say of them in words."""
    library.decide(op, "WIR-ARGS-1")


@each
@pytest.mark.requirement("WIR-ARGS-2")
def test_the_arguments_meet_their_schema(library: ClientTarget, op: str) -> None:
    """The arguments are those that the operation takes."""
    library.decide(op, "WIR-ARGS-2")


@each
@pytest.mark.requirement("WIR-ARGS-3")
def test_the_arguments_have_their_first_names(library: ClientTarget, op: str) -> None:
    """Nothing stands in the place of `messages` and `vector`."""
    args = json_roundtrip(library.passed(op, "WIR-ARGS-2"))["args"]
    path, other = next(iter(replaced_keys(op, args).items()), ("", ""))
    that(not other, path.rpartition(".")[2], f"{other} in its place", path)
