"""Valid and invalid requests of the graph component."""

import math
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import cached
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.requests import Request, Requests, canary, deadline_in
from pytest_corpus.suites.graph.support.answers import items_of, reported_count
from pytest_corpus.suites.graph.support.capabilities import ASKING, GraphCapabilities
from pytest_corpus.suites.graph.support.run_state import MANY

NEEDY = (*ASKING, "traversal", "upsert_edges")
"""The operations whose plain requests name nodes that must exist."""

SPACES = 120
"""The largest number of spaces before and after the text of a query. Plain requests differ in this number."""

FEW = 4
"""The number of different requests of one kind for each test."""


class GraphRequests(Requests):
    """Requests about the nodes that plain requests name (`seeds`), and about other plain nodes."""

    nullable = MappingProxyType(
        {
            "upsert_nodes": ("nodes.labels", "nodes.namespace"),
            "query": ("dialect", "namespace", "timeout_ms"),
            "traversal": ("relationship_types", "node_filters", "relationship_filters"),
        }
    )

    def __init__(self, graph: GraphCapabilities) -> None:
        self._graph = graph

    def minimal(self, name: str) -> dict[str, Any]:
        if name in NEEDY:
            self._graph.seed()
        if name in MANY:
            return {MANY[name]: [self._as_operation(self._graph.plain_nodes())]}
        if name in ASKING:
            return self._graph.question("group", group=self._graph.seeds.group)
        return self._plain_data(name, "")

    def _as_operation(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return an upsert of nodes as an operation of a batch or a transaction."""
        return {"op": self._graph.operation_names.spell_or_bare_name("upsert_nodes"), "args": args}

    def _plain_data(self, name: str, number: str) -> dict[str, Any]:
        """Return plain arguments of an operation on single items, with ids that end in `number`."""
        match name:
            case "upsert_nodes":
                return self._graph.plain_nodes(f"plain{number}")
            case "upsert_edges" if number:
                return {"edges": [self._graph.seeds.edge("s1", "s2", f"e{number}", label="CORPUS_OTHER")]}
            case "upsert_edges":
                return {"edges": [self._graph.seeds.edge("s1", "s2", "e1")]}
            case "delete_nodes" | "delete_edges":
                return {"ids": [self._graph.seeds.id(f"none{number}")]}
            case "bulk_vertices":
                return {"limit": 2 + int(number or 3) % 60}
            case "traversal":
                plain: dict[str, Any] = {"start_nodes": [self._graph.seeds.id("s1")], "max_depth": 1}
                return {**plain, "relationship_types": [f"NONE{number}"]} if number else plain
        return {}

    def distinct(self, name: str) -> dict[str, Any]:
        args = self.minimal(name)
        number = 1 + inputs.unique_ordinal(FEW)
        if name in ASKING:
            most = self._graph.capabilities.limit("max_query_length")
            spaces = SPACES if most is None else max(1, min(SPACES, (most - len(args["text"])) // 2 + 1))
            before, after = divmod(number % spaces**2, spaces)
            return {**args, "text": " " * before + args["text"] + " " * after}
        if name in MANY:
            return {MANY[name]: [{**args[MANY[name]][0], "args": self._graph.plain_nodes(f"plain{number}")}]}
        return self._plain_data(name, str(number))

    def plain_read_of(self, request: Any) -> Request | None:
        args, ctx = (request.get(part) for part in ("args", "ctx")) if isinstance(request, Mapping) else (None, None)
        place = {"namespace": args.get("namespace")} if isinstance(args, Mapping) else {}
        tenant = {"tenant": ctx.get("tenant")} if isinstance(ctx, Mapping) else {}
        place, tenant = ({key: value for key, value in each.items() if value} for each in (place, tenant))
        return Request("query", {**self.distinct("query"), **place}, tenant) if place or tenant else None

    def two_streams(self, name: str) -> list[dict[str, Any]]:
        self._graph.require(name, "upsert_nodes")
        sandbox = self._graph.sandbox(own=False)
        sandbox.put(*(sandbox.node(f"n{number}") for number in range(5)))
        return [self._graph.question("group", group=group) for group in (self._graph.seeds.group, sandbox.group)]

    def wrong_types(self, name: str) -> dict[str, Any]:
        wrong: dict[str, dict[str, Any]] = {
            "upsert_nodes": {"nodes": "n1"},
            "upsert_edges": {"edges": "e1"},
            "delete_nodes": {"ids": 7},
            "delete_edges": {"ids": 7},
            "query": {"text": 7},
            "stream_query": {"text": 7},
            "bulk_vertices": {"limit": "ten"},
            "batch": {"ops": "upsert_nodes"},
            "transaction": {"operations": "upsert_nodes"},
            "traversal": {"start_nodes": 7},
        }
        return wrong.get(name, {})

    def with_unknown_keys(self, unknown: Mapping[str, Any]) -> list[Request]:
        node, edges = self._graph.plain_nodes()["nodes"][0], self.minimal("upsert_edges")["edges"]
        item = self._as_operation(self._graph.plain_nodes())
        found = [
            Request("upsert_nodes", {"nodes": [{**node, **unknown}]}),
            Request("upsert_edges", {"edges": [{**edge, **unknown} for edge in edges]}),
        ]
        for name, key in MANY.items():
            found.append(Request(name, {key: [{**item, **unknown}]}))
            found.append(Request(name, {key: [{**item, "args": {**self._graph.plain_nodes(), **unknown}}]}))
        return found

    def with_number(self, number: float) -> list[Request]:
        found = [
            Request("bulk_vertices", {"limit": number}),
            Request("traversal", {**self.minimal("traversal"), "max_depth": number}),
        ]
        if self._graph.accepts_filters:
            found.append(Request("bulk_vertices", {"limit": 2, "filter": {"corpus_rank": number}}))
        for name in filter(self._graph.works, ASKING if self._graph.dialect else ()):
            plain = self.minimal(name)
            found.append(Request(name, {**plain, "params": {**plain["params"], "group": number}}))
            if self._accepts_structured_parameters(name):
                found.append(Request(name, {**plain, "params": {**plain["params"], "group": [{"a": [number]}]}}))
            if self._graph.claims_timeout:
                found.append(Request(name, {**plain, "timeout_ms": number}))
        return found + [
            Request(op, self.minimal(op), {"deadline_ms": number}) for op in self._graph.deadline_operations()
        ]

    def _accepts_structured_parameters(self, name: str) -> bool:
        """True if an operation does not refuse a parameter that is a list or an object with NOT_SUPPORTED."""
        args = {**self.minimal(name), "params": {"group": [{"a": [1]}]}}
        reply = cached(self._graph, ("structured parameters", name), partial(self._graph.invoke, name, args))
        return not reply.is_a("NotSupported")

    def with_integer(self, number: int) -> list[Request]:
        return [
            Request("bulk_vertices", {"limit": number}),
            Request("traversal", {**self.minimal("traversal"), "max_depth": number}),
        ]

    def with_items(self, count: int) -> list[Request]:
        number = inputs.unique_digits()
        nodes = [
            self._graph.plain_nodes(f"plain{number}x{each}")["nodes"][0]
            for each in range(min(count, self._graph.items_per_request))
        ]
        items = [self._as_operation({"nodes": [node]}) for node in nodes]
        return [Request("upsert_nodes", {"nodes": nodes}), *(Request(name, {MANY[name]: items}) for name in MANY)]

    def with_ids(self, secret: str) -> list[Request]:
        node, edge = self._graph.plain_nodes()["nodes"][0], self.minimal("upsert_edges")["edges"][0]
        held = {"item id": secret}
        wrong: list[tuple[str, dict[str, Any]]] = [
            ("upsert_nodes", {"nodes": [{**node, "id": secret, "labels": 7}]}),
            ("upsert_nodes", {"nodes": [{**node, "id": secret, "properties": {"corpus_rank": math.nan}}]}),
            ("upsert_edges", {"edges": [{**edge, "id": secret, "src": f"{secret}a", "dst": f"{secret}b"}]}),
            ("upsert_edges", {"edges": [{**edge, "id": secret, "label": 7}]}),
            ("delete_nodes", {"ids": [secret, 7]}),
            ("traversal", {**self.minimal("traversal"), "start_nodes": [secret]}),
        ]
        return [Request(name, args, {}, held) for name, args in wrong]

    def distinct_requests(self) -> list[dict[str, Any]]:
        self._graph.require("upsert_nodes")
        sandbox = self._graph.sandbox(own=False)
        sandbox.put(sandbox.node("a"), sandbox.node("b"))
        most = min(4, self._graph.items_per_request, max(2, self._graph.capabilities.limit("concurrency") or 4))
        many = [
            self._graph.envelope("upsert_nodes", {"nodes": [sandbox.node(f"{size}x{n}") for n in range(size)]})
            for size in range(1, most + 1)
        ]
        if not self._graph.works("query"):
            return many
        finds = [self._graph.envelope("query", self._graph.question("find", wanted=sandbox.key(name))) for name in "ab"]
        return [*finds, *many[: max(0, most - 2)]]

    def fingerprint(self, reply: Reply) -> Any:
        result = expect.success(reply, "the answer that the same request gets when sent alone")
        if isinstance(result, Mapping) and "records" in result:
            return " ".join(sorted(map(str, items_of(result, "records", of=object))))
        return reported_count(result)

    def with_canaries(self, *, refused: bool) -> list[Request]:
        secret = canary()
        held = {"content": secret}
        if not refused:
            return [Request(name, args, {}, held) for name, args in self._valid_requests(secret)]
        wrong = [Request(name, args, {}, held) for name, args in self._invalid_requests(secret)]
        late = [
            Request(name, args, {"deadline_ms": deadline_in(-60_000)}, held)
            for name, args in self._valid_requests(secret)[:2]
        ]
        return [*wrong, *late]

    def _node(self, secret: str) -> dict[str, Any]:
        return self._graph.plain.node("secret", secret)

    def _edge(self, secret: str) -> dict[str, Any]:
        self._graph.seed()
        edge = self._graph.seeds.edge("s1", "s2", "secret", label="CORPUS_OTHER")
        return {**edge, "properties": {"corpus_value": secret}}

    def _valid_requests(self, secret: str) -> list[tuple[str, dict[str, Any]]]:
        """Return valid requests whose contents, such as ids and properties, contain a secret."""
        graph, node, edge = self._graph, self._node(secret), self._edge(secret)
        item = self._as_operation({"nodes": [node]})
        requests: list[tuple[str, dict[str, Any]]] = [
            ("upsert_nodes", {"nodes": [node]}),
            ("upsert_edges", {"edges": [edge]}),
            ("batch", {"ops": [item]}),
            ("transaction", {"operations": [item]}),
        ]
        if graph.dialect:
            asked, literal = graph.question("find", wanted=secret), graph.question("literal")
            for name in ASKING:
                requests.append((name, asked))
                if "{literal}" in literal["text"] and graph.dialects.obstacle("literal", graph.dialect) is None:
                    requests.append((name, {**literal, "text": literal["text"].replace("{literal}", secret)}))
            requests += [(name, graph.question("group", group=graph.plain.group)) for name in ASKING]
        requests += [
            ("get_schema", {}),
            ("bulk_vertices", {"limit": 100}),
            ("traversal", {"start_nodes": [node["id"]]}),
        ]
        if graph.accepts_filters:
            wanted = {"corpus_value": secret}
            requests += [
                ("bulk_vertices", {"limit": 5, "filter": wanted}),
                ("delete_nodes", {"filter": wanted}),
                ("traversal", {**self.minimal("traversal"), "node_filters": wanted}),
                ("traversal", {**self.minimal("traversal"), "relationship_filters": wanted}),
            ]
        return requests

    def _invalid_requests(self, secret: str) -> list[tuple[str, dict[str, Any]]]:
        """Return invalid requests that contain a secret."""
        graph, node, edge = self._graph, self._node(secret), self._edge(secret)
        wanted, unknown = {"corpus_value": secret}, {"op": "no_such_operation", "args": {"nodes": [node]}}
        not_finite = {"corpus_value": secret, "corpus_rank": math.nan}
        requests: list[tuple[str, dict[str, Any]]] = [
            ("upsert_nodes", {"nodes": [{**node, "labels": secret}]}),
            ("upsert_nodes", {"nodes": [{**node, "properties": secret}]}),
            ("upsert_nodes", {"nodes": [{**node, "properties": not_finite}]}),
            ("upsert_nodes", {"nodes": [{**node, "id": [secret]}]}),
            ("upsert_edges", {"edges": [{**edge, "dst": graph.seeds.id("none")}]}),
            ("upsert_edges", {"edges": [{**edge, "label": [secret]}]}),
            ("delete_nodes", {"filter": secret}),
            ("delete_edges", {"filter": [secret]}),
            ("bulk_vertices", {"limit": "ten", "filter": wanted}),
            ("bulk_vertices", {"limit": 5, "filter": secret}),
            ("batch", {"ops": [unknown]}),
            ("batch", {"ops": [self._as_operation({"nodes": [node]}), 7]}),
            ("transaction", {"operations": [self._as_operation({"nodes": [node]}), 7]}),
            ("batch", {"ops": [self._as_operation({"nodes": secret})]}),
            ("transaction", {"operations": [unknown]}),
            ("traversal", {**self.minimal("traversal"), "max_depth": -1, "node_filters": wanted}),
            ("traversal", {**self.minimal("traversal"), "relationship_filters": secret}),
        ]
        if graph.dialect:
            asked = graph.question("find", wanted=secret)
            broken = next(iter(graph.dialects.texts("broken", graph.dialect)), None)
            wrong_parts: list[dict[str, Any]] = [
                {"params": [secret]},
                {"text": [secret]},
                {"dialect": "no-such-dialect"},
            ]
            wrong_parts += [{"text": f"{broken} '{secret}'"}] if broken else []
            requests += [("query", {**asked, **each}) for each in wrong_parts]
            requests += [("stream_query", {**asked, **each}) for each in wrong_parts[1::2]]
        return requests
