"""A client library in the form that the tests of request builders use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pytest_corpus.adapter.client_library import BuildResult, ClientLibrary
from pytest_corpus.kit import expect
from pytest_corpus.kit.judgement import note_check
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.target import Auditor, Target
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.validation.requests import arguments, cases, exceptions, pipeline, roundtrip
from pytest_corpus.validation.requests.cases import CASES, WireRequestCase
from pytest_corpus.validation.requests.exceptions import WireValidationError
from pytest_corpus.validation.schema.registry import registry

BUILDS = "WIR-BUILD-1"
"""The requirement that a builder returns an envelope."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of the pipeline: its demand, and a check that raises a `WireValidationError`."""

    expected: str
    check: Callable[[Any, WireRequestCase], object]


def _check_json(envelope: Any, case: WireRequestCase) -> None:
    try:
        roundtrip.json_roundtrip(envelope, case.id)
    except exceptions.RoundTripError:
        return  # the next stage reports this


def _check_schema(envelope: Any, case: WireRequestCase) -> None:
    pipeline.validate_schema(roundtrip.json_roundtrip(envelope), case.schema_id, case.id, case.schema_versions)


def _check_rules(envelope: Any, case: WireRequestCase) -> None:
    arguments.validate_rules(case.op, roundtrip.json_roundtrip(envelope)["args"], case.id)


def _check_request_schema(envelope: Any, case: WireRequestCase) -> None:
    arguments.validate_request_schema(
        case.op, roundtrip.json_roundtrip(envelope)["args"], case.id, case.schema_versions
    )


STAGES = {
    "WIR-ENV-1": Stage("a dict", lambda envelope, case: roundtrip.string_keyed_members(envelope, case.id)),
    "WIR-ENV-2": Stage("op, ctx and args", lambda envelope, case: pipeline.validate_envelope_shape(envelope, case.id)),
    "WIR-ENV-3": Stage(
        "the op of this operation", lambda envelope, case: pipeline.validate_op_field(envelope, case.op, case.id)
    ),
    "WIR-CTX-1": Stage("a valid ctx", lambda envelope, case: pipeline.validate_ctx_field(envelope, case.id)),
    "WIR-JSON-1": Stage("JSON values only", _check_json),
    "WIR-JSON-2": Stage(
        "an envelope that JSON does not change", lambda envelope, case: roundtrip.json_roundtrip(envelope, case.id)
    ),
    "WIR-SCHEMA-1": Stage("a valid envelope", _check_schema),
    "WIR-ARGS-1": Stage("args that keep the rules", _check_rules),
    "WIR-ARGS-2": Stage("args that the schema of the operation allows", _check_request_schema),
}
"""The stages of SCHEMA 6.3 in order, by the requirement that each decides."""


class ClientTarget(Target):
    """Checks the envelopes of the builders, one stage of the pipeline after another.

    If a stage fails, its requirement reports it, and the later stages are blocked. No adapter is called, and nothing
    is written.
    """

    def __init__(self, library: ClientLibrary, edition: str | None = None) -> None:
        self.library = library
        self.accepted = SCHEMA_VERSIONS if edition is None else (edition,)
        self.auditor = Auditor()

    def case(self, op: str) -> WireRequestCase:
        """Return the case of an operation, in the accepted schema versions."""
        return cases.case_of(op).accepting(self.accepted)

    @property
    def offered(self) -> list[str]:
        """The operations whose builder has an unambiguous name."""
        return [
            case.op for case in CASES if self.library.name_of(case) and not self.library.has_unclear_component(case)
        ]

    def check_stage(self, op: str, requirement: str) -> None:
        """Check that the envelope of an operation passes the stage that decides a requirement.

        Raises Violation if it fails, NotApplicable if there is no builder or nothing to check, NotAssessed if the
        builder is ambiguous, Blocked if an earlier stage fails.
        """
        stages = list(STAGES)
        before = stages[: stages.index(requirement)]
        envelope, case = self.envelope_after_stages(op, before[-1] if before else ""), self.case(op)
        if requirement == "WIR-ARGS-2" and not arguments.request_editions(op, self.accepted):
            raise NotApplicable(f"edition {' or '.join(self.accepted)} has no schema of this request")
        stage = STAGES[requirement]
        note_check()
        try:
            stage.check(envelope, case)
        except WireValidationError as error:
            raise Violation(stage.expected, f"{self.builder_name(op)}: {error.fault}", error.path) from None
        if requirement == "WIR-SCHEMA-1":
            self.auditor.editions = set(registry().editions_met(case.schema_id, roundtrip.json_roundtrip(envelope)))

    def envelope_after_stages(self, op: str, last: str) -> Any:
        """Return the envelope of an operation, if it passes all stages up to the stage of the requirement `last`.

        Raises NotApplicable, NotAssessed or Blocked, as `check_stage` does.
        """
        case, built = self.case(op), self.run_builder(op)
        if built.fault:
            raise Blocked(BUILDS, f"{self.builder_name(op)} {built.fault}")
        envelope = built.envelope
        for requirement, stage in STAGES.items() if last else ():
            try:
                stage.check(envelope, case)
            except WireValidationError:
                raise Blocked(requirement, f"the envelope of {self.builder_name(op)} fails an earlier check") from None
            if requirement == last:
                break
        return envelope

    def run_builder(self, op: str) -> BuildResult:
        """Call the builder of an operation and return the result.

        Raises NotApplicable if there is no builder, NotAssessed if the builder is ambiguous.
        """
        case = self.case(op)
        name = self.library.name_of(case)
        expect.applicable(name, f"the client does not offer {case.build_method}")
        if self.library.has_unclear_component(case):
            raise NotAssessed(Obstacle.UNCLEAR_CLIENT, builder=name, method=case.qualified_method)
        return self.library.build(case)

    def builder_name(self, op: str) -> str:
        """Return the client's name for the builder of an operation."""
        return self.library.name_of(self.case(op))
