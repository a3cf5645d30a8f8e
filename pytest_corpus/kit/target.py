"""The interface of the subject of tests, and the preconditions of a test."""

import logging
from collections import deque
from collections.abc import Iterator

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.scope import Part
from pytest_corpus.adapter.usage import Outages
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Violation
from pytest_corpus.kit.store.settling import SettleTime
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.requirements import HOOKS, LOGS, Requirement
from pytest_corpus.spec.schemas import SCHEMA_VERSIONS
from pytest_corpus.spec.transports import TRANSPORT_GROUPS

CAPABILITIES = "COM-CAP-1"

FOUNDATIONS = ("COM-WIRE-1", "COM-WIRE-2", "COM-WIRE-3", CAPABILITIES)
"""These requirements, and those on transports, can be decided even if capabilities do not answer."""


class Auditor:
    """Judges the exchanges of a test against all requirements; by default there are no requirements.

    Attributes:
        editions: the schema versions under which all successful answers of the current test are valid.
        unsettled: the exchanges of finished tests whose reports may still come.
    """

    def __init__(self) -> None:
        self.editions = set(SCHEMA_VERSIONS)
        self.unsettled: deque[Exchange] = deque()

    def audit(self, *, is_last: bool = False) -> Iterator[Violation]:  # noqa: ARG002
        """Yield the violations in the exchanges of the current test.

        Reports of its calls may come late. They are judged after a later test, or now if this test `is_last`.
        """
        yield from ()


class Target:
    """The subject of the tests, with steps before and after each test. By default, these steps make no calls."""

    auditor: Auditor

    @property
    def part(self) -> Part:
        """The exchanges of the current test."""
        return Part()

    @property
    def calls(self) -> int:
        """The number of calls of the adapter so far."""
        return 0

    @property
    def outages(self) -> Outages:
        """The outages of the provider behind the adapter."""
        return Outages()

    @property
    def disturbance_count(self) -> int:
        """The number of transient failures so far, including the failures in the current test."""
        return 0

    @property
    def settle_time(self) -> SettleTime:
        """The knowledge about the write delay (R46)."""
        return SettleTime()

    def gate(self, requirement: Requirement) -> None:
        """Check the preconditions of a requirement. Raises Undecided if they are not met."""

    def begin(self, *, unlearn: bool = False) -> None:  # noqa: ARG002 - nothing is learnt here
        """Forget the last test; with `unlearn`, also the knowledge about the adapter."""
        self.auditor.editions = set(SCHEMA_VERSIONS)

    def close_fresh(self, *, is_last: bool = False) -> None:
        """Close the instances of the current test, and with `is_last` the instances that tests share."""

    def tidy(self) -> None:
        """Remove the data of the tests from the adapter's store; called once, before the adapter is closed."""


def require_transport(requirement: Requirement, client: AdapterClient) -> None:
    """Raise NotApplicable if the adapter is not reached over a transport of the requirement."""
    wanted = [need for need in requirement.needs if need in TRANSPORT_GROUPS]
    if wanted and client.remote is None:
        raise NotApplicable("the adapter is called in this process, not over a transport")
    for need in wanted:
        if client.remote is not None and client.remote.address.scheme.module not in TRANSPORT_GROUPS[need]:
            raise NotApplicable(f"the adapter is not reached over {' or '.join(TRANSPORT_GROUPS[need])}")


def gate(requirement: Requirement, client: AdapterClient, capabilities: Capabilities) -> None:
    """Check the preconditions of a requirement.

    Raises:
        NotApplicable: capabilities deny a feature in the requirement.
        NotAssessed: a hook is missing, or the adapter's log records cannot be read.
        Blocked: capabilities did not answer.
    """
    speaks_of_transport = any(need in TRANSPORT_GROUPS for need in requirement.needs)
    if not capabilities.document and requirement.id not in FOUNDATIONS and not speaks_of_transport:
        why = f" ({capabilities.refused})" if capabilities.refused else ""
        raise Blocked(CAPABILITIES, f"capabilities do not answer{why}, so nothing is known about the adapter")
    for need in requirement.needs:
        if need in TRANSPORT_GROUPS:
            continue
        if need in HOOKS:
            if need not in client.hooks:
                raise NotAssessed(Obstacle.HOOK_UNUSED if client.remote else Obstacle.NO_KEYWORD, keyword=need)
        elif need == LOGS:
            if not client.hears_logs:
                raise NotAssessed(Obstacle.LOGS_OUTSIDE)
            if client.declaration.in_process and inputs.read(
                "disabled logs", lambda: logging.root.manager.disable >= logging.INFO
            ):
                raise NotAssessed(Obstacle.NO_LOGGING)
        elif need == "supports_caching":
            if not capabilities.claims_caching:
                raise NotApplicable("no cache is claimed")
        elif capabilities.flag(need) is False:
            raise NotApplicable(f"capabilities deny {need}")
