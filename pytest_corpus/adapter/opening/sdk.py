"""Wrapping an instance of a `corpus_sdk` base adapter in the SDK's own wire handler.

The SDK is only looked at when the adapter brought it along: nothing here imports it by itself.
"""

import sys
from dataclasses import dataclass
from typing import Any

from pytest_corpus.spec.components import COMPONENTS, TITLES


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A wire handler over an SDK adapter, the component that it serves, and whether it reports to our sink."""

    component: str
    handler: Any
    attached: bool


def wrapped(candidate: Any, metrics: Any) -> Wrapped | None:
    """`candidate` behind the SDK's wire handler, or None where it is not an SDK adapter.

    Where the adapter's own metrics sink is the SDK's no-op, `metrics` takes its place.
    """
    for component in COMPONENTS:
        module = sys.modules.get(f"corpus_sdk.{component}.{component}_base")
        if module is None:
            continue
        base = getattr(module, f"Base{TITLES[component]}Adapter", None)
        if isinstance(base, type) and isinstance(candidate, base):
            attached = _attach(candidate, metrics, module.NoopMetrics)
            handler = getattr(module, f"Wire{TITLES[component]}Handler")(candidate)
            return Wrapped(component, handler, attached)
    return None


def _attach(adapter: Any, metrics: Any, no_op: type) -> bool:
    """Put `metrics` wherever the adapter holds the SDK's no-op sink."""
    names = [name for name, value in vars(adapter).items() if isinstance(value, no_op)]
    for name in names:
        setattr(adapter, name, metrics)
    return bool(names)
