"""What must be there before a test runs."""

from __future__ import annotations

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.facts import Capabilities
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed
from pytest_corpus.spec.requirements import HOOKS, LOGS, Requirement
from pytest_corpus.spec.transports import TRANSPORT_GROUPS
from pytest_corpus.verdict.ledger import LACKING

CAPABILITIES = "COM-CAP-1"


FOUNDATIONS = ("COM-WIRE-1", "COM-WIRE-2", "COM-WIRE-3", CAPABILITIES)
"""Requirements that can be judged even where capabilities do not answer; those of transports can, too."""


def way(requirement: Requirement, client: AdapterClient) -> None:
    """Let a test of a transport run only where the adapter is reached by such a one.

    Raises:
        NotApplicable: it is called in this process, or reached by another way.
    """
    wanted = [need for need in requirement.needs if need in TRANSPORT_GROUPS]
    if wanted and client.remote is None:
        raise NotApplicable("the adapter is called in this process, not over a transport")
    for need in wanted:
        if client.remote is not None and client.remote.address.scheme.module not in TRANSPORT_GROUPS[need]:
            raise NotApplicable(f"the adapter is not reached over {' or '.join(TRANSPORT_GROUPS[need])}")


def gate(requirement: Requirement, client: AdapterClient, capabilities: Capabilities) -> None:
    """Let a test run only where what it needs is there.

    Raises:
        NotApplicable: capabilities deny a feature that the requirement speaks of.
        NotAssessed: a hook is missing, or the adapter's log records cannot be heard.
        Blocked: capabilities did not answer, so nothing is known of the adapter.
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
        elif need == "idempotent_writes":
            if capabilities.flag(need) is not True:
                raise NotApplicable("idempotent_writes is not claimed")
        elif capabilities.flag(need) is False:
            raise NotApplicable(f"capabilities deny {need}")
