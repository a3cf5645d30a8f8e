"""Parts of mutants of several chapters."""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.scanner import ScannedQuery
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, NamespaceGraph


@dataclass(frozen=True)
class Broken:
    """An item that could not be read."""

    error: AdapterError
    id: str = ""
    namespace: str = DEFAULT_NAMESPACE


class Nothing(ScannedQuery):
    """A query without records."""

    def run(self, graph: NamespaceGraph, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        return []


def are_uuids(*ids: str) -> None:
    """Refuse ids that are not UUIDs."""
    if not all(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", each) for each in ids):
        raise AdapterError("BadRequest", "an id must be a UUID")


def single(number: float) -> float:
    """The nearest number of 32 bits."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def interpolated(args: dict[str, Any]) -> dict[str, Any]:
    """The arguments with every text parameter written into the query."""
    text, params = args.get("text"), args.get("params")
    if not isinstance(text, str) or not isinstance(params, Mapping):
        return args
    for name, value in params.items():
        if isinstance(value, str):
            text = text.replace(f"${name}", f"'{value}'")
    return {**args, "text": text}


def with_params(args: dict[str, Any], kind: type, bound: Any) -> dict[str, Any]:
    """The arguments with another value for each parameter of a type."""
    params = args.get("params")
    if not isinstance(params, Mapping):
        return args
    return {**args, "params": {name: bound(value) if type(value) is kind else value for name, value in params.items()}}
