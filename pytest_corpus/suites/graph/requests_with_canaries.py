"""Requests that carry secrets: good ones, and ones to be refused (R21)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_corpus.suites.graph.component import Graph

Requests = list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]]
ASKING = ("query", "stream_query")


def good(graph: Graph) -> Requests:
    """Valid requests with a secret wherever content goes in."""
    secret = graph.canary()
    node, edge = _node(graph, secret), _edge(graph, secret)
    item = {"op": graph._spelling("upsert_nodes"), "args": {"nodes": [node]}}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("upsert_nodes", {"nodes": [node]}),
        ("upsert_edges", {"edges": [edge]}),
        ("batch", {"ops": [item]}),
        ("transaction", {"operations": [item]}),
    ]
    if graph.dialect:
        asked = graph.question("find", wanted=secret)
        literal = graph.question("literal")
        for operation in ASKING:
            requests.append((operation, asked))
            if "{literal}" in literal["text"] and graph.dialects.obstacle("literal", graph.dialect) is None:
                requests.append((operation, {**literal, "text": literal["text"].replace("{literal}", secret)}))
    if graph.filters:
        wanted = {"corpus_value": secret}
        requests += [
            ("bulk_vertices", {"limit": 5, "filter": wanted}),
            ("delete_nodes", {"filter": wanted}),
            ("traversal", {**graph.minimal("traversal"), "node_filters": wanted}),
            ("traversal", {**graph.minimal("traversal"), "relationship_filters": wanted}),
        ]
    return [(name, args, {}, {"content": secret}) for name, args in requests]


def refused(graph: Graph) -> Requests:
    """Requests with a secret that are wrong in some way."""
    secret = graph.canary()
    node, edge = _node(graph, secret), _edge(graph, secret)
    wanted = {"corpus_value": secret}
    unknown = {"op": "no_such_operation", "args": {"nodes": [node]}}
    requests: list[tuple[str, dict[str, Any]]] = [
        ("upsert_nodes", {"nodes": [{**node, "labels": secret}]}),
        ("upsert_nodes", {"nodes": [{**node, "properties": secret}]}),
        ("upsert_nodes", {"nodes": [{**node, "properties": {"corpus_value": secret, "corpus_rank": math.nan}}]}),
        ("upsert_nodes", {"nodes": [{**node, "id": [secret]}]}),
        ("upsert_edges", {"edges": [{**edge, "dst": graph.seeds.id("none")}]}),
        ("upsert_edges", {"edges": [{**edge, "label": [secret]}]}),
        ("delete_nodes", {"filter": secret}),
        ("delete_edges", {"filter": [secret]}),
        ("bulk_vertices", {"limit": "ten", "filter": wanted}),
        ("bulk_vertices", {"limit": 5, "filter": secret}),
        ("batch", {"ops": [unknown]}),
        ("batch", {"ops": [{"op": graph._spelling("upsert_nodes"), "args": {"nodes": secret}}]}),
        ("transaction", {"operations": [unknown]}),
        ("traversal", {**graph.minimal("traversal"), "max_depth": -1, "node_filters": wanted}),
        ("traversal", {**graph.minimal("traversal"), "relationship_filters": secret}),
    ]
    if graph.dialect:
        asked = graph.question("find", wanted=secret)
        broken = next(iter(graph.dialects.texts("broken", graph.dialect)), None)
        for operation in ASKING:
            requests.append((operation, {**asked, "dialect": "no-such-dialect"}))
            requests.append((operation, {**asked, "params": [secret]}))
            requests.append((operation, {**asked, "text": [secret]}))
            requests += [(operation, {**asked, "text": f"{broken} '{secret}'"})] if broken else []
    expired = {"deadline_ms": graph.in_ms(-60_000)}
    late = [(name, args, expired, {"content": secret}) for name, args, _, _ in good(graph)[:2]]
    late = [(name, args, ctx, {"content": _secret_of(name, args)}) for name, args, ctx, _ in late]
    return [*((name, args, {}, {"content": secret}) for name, args in requests), *late]


def _secret_of(name: str, args: dict[str, Any]) -> str:
    item = args["nodes" if name == "upsert_nodes" else "edges"][0]
    return str(item["properties"]["corpus_value"])


def _node(graph: Graph, secret: str) -> dict[str, Any]:
    return graph.plain.node("secret", secret)


def _edge(graph: Graph, secret: str) -> dict[str, Any]:
    graph.seed()
    return {**graph.seeds.edge("s1", "s2", "secret", label="CORPUS_OTHER"), "properties": {"corpus_value": secret}}
