"""The wire of the Corpus Protocol v1.0: everything of an adapter that does not depend on its back end."""

from .arguments import Arguments
from .errors import Failures, WireError, invalid
from .provider import Probe, Provider, Proxies, Tunnels
from .wire import Call, Metrics, WireHandler

__all__ = [
    "Arguments",
    "Call",
    "Failures",
    "Metrics",
    "Probe",
    "Provider",
    "Proxies",
    "Tunnels",
    "WireError",
    "WireHandler",
    "invalid",
]
