"""The subject of the tests as the run sees it, and the conditions under which a test runs."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exchange import Exchange
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.adapter.usage.outages import Outages
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Violation
from pytest_corpus.spec.requirements import HOOKS, LOGS, Requirement
from pytest_corpus.spec.transports import TRANSPORT_GROUPS
from pytest_corpus.verdict.ledger import LACKING

CAPABILITIES = "COM-CAP-1"

FOUNDATIONS = ("COM-WIRE-1", "COM-WIRE-2", "COM-WIRE-3", CAPABILITIES)
"""Requirements that can be decided although capabilities do not answer, besides those of transports."""


class Target(Protocol):
    """What every test begins and ends with."""

    @property
    def clients(self) -> Sequence[AdapterClient]:
        """Every instance of an adapter that the current test speaks to."""

    @property
    def calls(self) -> int:
        """How often the adapter was called so far, in all tests."""

    editions: set[str]
    """The schema editions that everything that was successful in the current test is valid under."""

    @property
    def outages(self) -> Outages:
        """When the provider behind the adapter was away."""

    @property
    def disturbances(self) -> int:
        """How often something failed for a reason that may pass: in all tests, and in answers of the current one."""

    @property
    def settle_s(self) -> float | None:
        """The seconds after which a write shows (R46); None where nothing that was written was looked at."""

    @property
    def missed_s(self) -> float:
        """How many seconds a plain write was looked for that did not show at all; 0 where all of them showed."""

    def gate(self, requirement: Requirement) -> None:
        """Go on only where what a requirement needs is there.

        Raises:
            Undecided: it is not.
        """

    def audit(self, *, is_last: bool = False) -> Iterator[tuple[str, Violation, Exchange]]:
        """What everything that was exchanged in the current test breaks, whatever it was asked for.

        The reports of its calls may come late: they are judged after a later test, or now if it `is_last`.
        """

    unsettled: list[Exchange]
    """Exchanges of earlier tests whose reports may still come."""

    def begin(self, *, unlearn: bool = False) -> None:
        """Forget what the test before did; `unlearn`: also what was found out of the adapter."""

    def close_fresh(self) -> None:
        """Close what was opened for the current test alone."""

    def tidy(self) -> None:
        """Remove what the tests left behind."""


def require_transport(requirement: Requirement, client: AdapterClient) -> None:
    """Go on only if the adapter is reached over a transport that the requirement speaks of.

    Raises:
        NotApplicable: it is called in this process, or reached over another one.
    """
    wanted = [need for need in requirement.needs if need in TRANSPORT_GROUPS]
    if wanted and client.remote is None:
        raise NotApplicable("the adapter is called in this process, not over a transport")
    for need in wanted:
        if client.remote is not None and client.remote.address.scheme.module not in TRANSPORT_GROUPS[need]:
            raise NotApplicable(f"the adapter is not reached over {' or '.join(TRANSPORT_GROUPS[need])}")


def gate(requirement: Requirement, client: AdapterClient, capabilities: Capabilities) -> None:
    """Go on only if everything that a requirement needs is there.

    Raises:
        NotApplicable: capabilities deny a feature that the requirement speaks of.
        NotAssessed: a hook is missing, or the adapter's log records cannot be read.
        Blocked: capabilities did not answer.
    """
    speaks_of_transport = any(need in TRANSPORT_GROUPS for need in requirement.needs)
    if not capabilities.document and requirement.id not in FOUNDATIONS and not speaks_of_transport:
        raise Blocked(CAPABILITIES, "capabilities do not answer, so nothing is known of the adapter")
    for need in requirement.needs:
        if need in TRANSPORT_GROUPS:
            continue
        if need in HOOKS:
            if need not in client.hooks:
                absent = f"the adapter has never called the hook {need!r}"
                raise NotAssessed(absent if client.remote else LACKING.format(need), need)
        elif need == LOGS:
            if not client.hears_logs:
                raise NotAssessed(
                    "log records are heard only in this process, and the adapter runs outside it; "
                    "name its log with corpus_log"
                )
        elif need == "supports_caching":
            if not capabilities.caches:
                raise NotApplicable("no cache is claimed")
        elif capabilities.flag(need) is False:
            raise NotApplicable(f"capabilities deny {need}")
