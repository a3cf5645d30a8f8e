"""The reports of the hooks during a call."""

from collections.abc import Sequence

from pytest_corpus.adapter.exchange import Exchange, is_observed
from pytest_corpus.adapter.hooks.metrics import Observation, RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.spec.errors import TAXONOMY


class Recording:
    """Everything that an adapter reports to its hooks from now on."""

    def __init__(self, metrics: RecordingSink, provider: ProviderProbe) -> None:
        self._metrics, self._provider = metrics, provider
        self._observed, self._counted = len(metrics.observations), len(metrics.counts)
        self._reached, self._struck, self._arrived = provider.calls(), len(provider.struck), len(provider.handed_on)

    def wait(self, exchanges: Sequence[Exchange]) -> None:
        """Wait for the observations that are due after calls.

        An adapter that was never late is not waited for when a gateway may have answered in its place (R114).
        """
        due = [exchange for exchange in exchanges if is_observed(exchange)]
        if not self._metrics.lateness.seen_s and len(self._provider.struck) == self._struck:
            due = [exchange for exchange in due if not _may_be_retried(exchange)]
        streams = sum(exchange.streaming for exchange in due)
        self._metrics.wait(self._observed, self._counted, calls=len(due), streams=streams)

    def observations(self) -> tuple[Observation, ...]:
        """The observations since then."""
        return tuple(self._metrics.observations[self._observed :])

    def complete(self, exchange: Exchange) -> None:
        """Add the reports to the exchange that they belong to."""
        provider = self._provider
        exchange.observations = self.observations()
        exchange.counts = tuple(self._metrics.counts[self._counted :])
        exchange.reached_provider = provider.calls() - self._reached
        exchange.faults, exchange.hints_ms = provider.struck_since(self._struck)
        exchange.handed_on = tuple(provider.handed_on[self._arrived :])
        canaries = {f"provider text {number}": text for number, text in enumerate(provider.canaries)}
        exchange.secrets = {**exchange.secrets, **canaries}


def _may_be_retried(exchange: Exchange) -> bool:
    """Return whether a call ended with an error that a client may retry."""
    body = exchange.frames[-1].body
    name = body.get("error") if isinstance(body, dict) else None
    return isinstance(name, str) and name in TAXONOMY and TAXONOMY[name].retry == "yes"
