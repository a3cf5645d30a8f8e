"""Deletes data of earlier runs in an adapter's store. The suite recognizes the data by the prefix of the names."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit.reply import Reply, hint_s
from pytest_corpus.kit.retries import PAUSES_S, is_retryable
from pytest_corpus.kit.store.leftovers import DELETES, Kind, Leftovers, Place, deletion_request, run_of, uuid_of

AT_ONCE, PAGE, MOST_PAGES = 10, 100, 1000

MOST_S = 10.0
"""The longest wait that an answer may ask for."""

Send = Callable[[Mapping[str, Any], str], Reply]
"""Sends an envelope to a component."""


def retry_when_asked(send: Send) -> Send:
    """Return a function that sends an envelope, and repeats it after the wait that an answer asks for."""

    def send_and_retry(envelope: Mapping[str, Any], component: str) -> Reply:
        reply = send(envelope, component)
        for pause_s in PAUSES_S:
            if not is_retryable(reply):
                break
            inputs.sleep(min(hint_s(reply) or pause_s, MOST_S))
            reply = send(envelope, component)
        return reply

    return send_and_retry


def sweep(left: Leftovers, send: Send) -> tuple[int, int]:
    """Delete the leftovers of a run; return the numbers of deleted and of absent things. All others stay in `left`."""
    gone = absent = 0
    for place in sorted(left.names, key=lambda each: [*DELETES].index(each[3])):
        own = (name for name in left.names[place] if left.run in (run_of(name), run_of(place[2] or "")))
        names = [*own, *left.names[place].keys() & {uuid_of(left.run)}]
        left.remove(place, set(left.names[place]).difference(names))  # others may have made them
        size = 1 if place[3] == "namespace" else AT_ONCE
        for start in range(0, len(names), size):
            for name, was_there in list(_delete(place, names[start : start + size], send)):
                gone, absent = gone + was_there, absent + (not was_there)
                left.remove(place, [name])
    return gone, absent


def _delete(place: Place, names: list[str], send: Send) -> Iterator[tuple[str, bool]]:
    """Delete names of one place; yield each name that is gone, with False if its namespace did not exist."""
    reply = send(deletion_request(place, names), place[0])
    if reply.is_success or reply.is_a("NamespaceNotFound"):
        yield from ((name, reply.is_success) for name in names)
    elif len(names) > 1 and reply.is_error:
        for name in names:
            yield from _delete(place, [name], send)


def list_leftovers(components: Iterable[str], send: Send) -> dict[str, Leftovers]:
    """Return the leftovers that an adapter lists, by run: namespaces in `health`, nodes in the default namespace."""
    found: dict[str, Leftovers] = {}
    for component in components:
        kind: Kind = "node" if component == "graph" else "namespace"
        names = _nodes(send) if component == "graph" else _namespaces(send) if component == "vector" else iter(())
        for name in names:
            if (run := run_of(name)) is not None:
                found.setdefault(run, Leftovers(run)).add((component, None, None, kind), [name])
    return found


def _namespaces(send: Send) -> Iterator[str]:
    result = send({"op": "vector.health", "ctx": {}, "args": {}}, "vector").result
    stated = result.get("namespaces") if isinstance(result, Mapping) else None
    yield from (str(name) for name in stated) if isinstance(stated, (Mapping, list)) else ()


def _nodes(send: Send) -> Iterator[str]:
    args: dict[str, Any] = {"limit": PAGE}
    for _ in range(MOST_PAGES):
        result = send({"op": "graph.bulk_vertices", "ctx": {}, "args": args}, "graph").result
        nodes = result.get("nodes") if isinstance(result, Mapping) else None
        if not isinstance(nodes, list):
            return
        yield from (str(node["id"]) for node in nodes if isinstance(node, Mapping) and "id" in node)
        cursor = result.get("next_cursor")
        if not cursor or result.get("has_more") is False:
            return
        args = {"limit": PAGE, "cursor": cursor}
