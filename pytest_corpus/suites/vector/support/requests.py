"""Valid and invalid requests of the vector component."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.kit import expect
from pytest_corpus.kit.reply import Reply
from pytest_corpus.kit.requests import Request, Requests, canary, deadline_in
from pytest_corpus.kit.store.store import tenant_context, tenant_of
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.suites.vector.support.answers import id_of, matches_of
from pytest_corpus.suites.vector.support.capabilities import VectorCalls
from pytest_corpus.suites.vector.support.geometry import direction
from pytest_corpus.suites.vector.support.shared import Item, namespace_key, namespaces_in

Built = tuple[str, dict[str, Any], dict[str, Any]]

HOME = (10, 45, 80, 115, 150)
"""The directions of the vectors that plain queries look for."""

SORTS = ("a", "b", "a", "b", "c")
"""The metadata `sort` of each vector in `HOME`, in the same order."""

DIGITS = 12
"""The number of random digits in a vector component. A leak of the component is recognized by them."""

MINUTE_AGO_MS = -60_000


class PlainNamespaces(Requests):
    """The two namespaces that plain requests name, `main_namespace` and `scratch`.

    The suite creates each of them just before the first request that names it.
    """

    def __init__(self, vector: VectorCalls) -> None:
        self._vector = vector

    @property
    def main_namespace(self) -> str:
        """The namespace of plain queries. Only a few vectors are ever written to it."""
        self._vector.shared.main_namespace = self._vector.shared.main_namespace or self._new_name("own")
        return self._vector.shared.main_namespace

    @property
    def scratch(self) -> str:
        """The namespace of plain writes."""
        self._vector.shared.scratch = self._vector.shared.scratch or self._new_name("temp")
        return self._vector.shared.scratch

    def _new_name(self, prefix: str) -> str:
        with inputs.fact_scope(f"vector {prefix}"):
            return self._vector.new_name(prefix) if self._vector.has_namespaces else "default"

    @property
    def settled_vectors(self) -> tuple[Item, ...]:
        """The vectors that the suite writes to the main namespace."""

        def make_vectors() -> tuple[Item, ...]:
            return tuple(
                {
                    "id": self._vector.new_name("home"),
                    "vector": direction(degrees, self._vector.dimensions),
                    "metadata": {"kind": "home", "part": number, "sort": SORTS[number], "odd": number % 2},
                }
                for number, degrees in enumerate(HOME)
            )

        return self._vector.shared.find_once("settled", make_vectors)

    @property
    def main_namespace_arg(self) -> dict[str, Any]:
        """The argument that names the main namespace; empty if the adapter has only one namespace."""
        return self._vector.namespace_arg(self.main_namespace)

    @property
    def scratch_namespace_arg(self) -> dict[str, Any]:
        """The argument that names the scratch namespace; empty if the adapter has only one namespace."""
        return self._vector.namespace_arg(self.scratch)

    def query_arguments(self, operation: str, *queries: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of `batch_query` for all queries, or of `query` for the last one."""
        return {"queries": [*queries], **self.main_namespace_arg} if operation == "batch_query" else queries[-1]

    def name_to_delete(self, operation: str) -> str:
        """Return the name of a vector or namespace to delete, which is made just before its deletion if necessary."""
        if left := self._vector.shared.undeleted.get(self._vector.client, {}).get(operation):
            return left.pop()
        item = self._vector.item() if operation == "delete" else None
        name = str(item["id"]) if item else self._vector.new_name("gone")
        self._vector.shared.to_delete[name] = item
        return name


class VectorRequests(PlainNamespaces):
    """Requests that name the plain namespaces."""

    nullable = MappingProxyType({"query": ("filter", "include_metadata", "include_vectors"), "delete": ("filter",)})

    def minimal(self, name: str) -> dict[str, Any]:
        if name == "query":
            return {**self._vector.query_args(), **self.main_namespace_arg}
        if name == "batch_query":
            return {"queries": [{**self._vector.query_args(), **self.main_namespace_arg}], **self.main_namespace_arg}
        if name == "upsert":
            return {"vectors": [self._vector.item()], **self.scratch_namespace_arg}
        if name == "delete":
            return {"ids": [self.name_to_delete(name)], **self.scratch_namespace_arg}
        if name == "create_namespace":
            return self._vector.namespace_args()
        return {"namespace": self.name_to_delete(name)} if name == "delete_namespace" else {}

    def distinct(self, name: str) -> dict[str, Any]:
        args = self.minimal(name)
        degrees = 10 + inputs.unique_number() * 0.37 % 150
        if name == "query":
            args.update(self._vector.query_args(degrees))
        elif name == "batch_query":
            args["queries"][0].update(self._vector.query_args(degrees))
        return args

    def plain_read_of(self, request: Any) -> Request | None:
        if not isinstance(request, Mapping):
            return None
        tenant, name = tenant_of(request), next(namespaces_in(request), "")
        if not (tenant or name):
            return None
        place = namespace_key(tenant, name or "default")
        known = (each.dimensions for each in self._vector.shared.sandboxes if each.store_key == place)
        vector = direction(10 + inputs.unique_number() * 0.37 % 150, next(known, self._vector.dimensions))
        where = self._vector.namespace_arg(name) if name else {}
        return Request("query", {"vector": vector, "top_k": 1, **where}, tenant_context(tenant))

    def with_items(self, count: int) -> list[Request]:
        many = range(min(count, self._vector.limits.most_in_batch or count))
        queries = [self.distinct("batch_query")["queries"][0] for _ in many]
        return [
            Request("upsert", {"vectors": [self._vector.item() for _ in many], **self.scratch_namespace_arg}),
            Request("batch_query", {"queries": queries, **self.main_namespace_arg}),
        ]

    def with_ids(self, secret: str) -> list[Request]:
        held, item = {"item id": secret}, self._vector.item()
        wrong = [
            {**item, "id": secret, "vector": [*item["vector"], 0.5]},
            {**item, "id": secret, "vector": "x"},
            {**item, "id": secret, "metadata": 7},
        ]
        found = [Request("upsert", {"vectors": [each], **self.scratch_namespace_arg}, {}, held) for each in wrong]
        return [*found, Request("delete", {"ids": [secret, 7], **self.scratch_namespace_arg}, {}, held)]

    def distinct_requests(self) -> list[dict[str, Any]]:
        self._vector.require("query")
        many = max(2, min(6, self._vector.capabilities.limit("concurrency") or 6))
        angles = [HOME[number % len(HOME)] for number in range(many)]
        return [
            self._vector.envelope("query", {**self._vector.query_args(degrees), **self.main_namespace_arg})
            for degrees in angles
        ]

    def fingerprint(self, reply: Reply) -> Any:
        expect.assessable(reply.is_success, Obstacle.QUERY_ANSWERED, reply=reply)
        return next((id_of(match) for match in matches_of(reply.result)), None)

    def wrong_types(self, name: str) -> dict[str, Any]:
        wrong: dict[str, dict[str, Any]] = {
            "query": {"vector": "x", "top_k": 1, **self.main_namespace_arg},
            "batch_query": {"queries": "x", **self.main_namespace_arg},
            "upsert": {"vectors": "x", **self.scratch_namespace_arg},
            "delete": {"ids": 7, **self.scratch_namespace_arg},
            "create_namespace": {**self._vector.namespace_args(), "dimensions": "x"},
            "delete_namespace": {"namespace": 7},
        }
        return wrong.get(name, {})

    def with_unknown_keys(self, unknown: Mapping[str, Any]) -> list[Request]:
        main, scratch = self.main_namespace_arg, self.scratch_namespace_arg
        return [
            Request("upsert", {"vectors": [{**self._vector.item(), **unknown}], **scratch}),
            Request("batch_query", {"queries": [{**self.minimal("query"), **unknown}], **main}),
        ]

    def with_number(self, number: float) -> list[Request]:
        vector, query = self._vector, self.minimal("query")
        wrong: list[dict[str, Any]] = [{"vector": [number, *query["vector"][1:]]}, {"top_k": number}]
        if vector.features.accepts_filters:
            wrong.append({"filter": {"part": number}})
        found: list[Request] = []
        for each in wrong:
            queries = {**self.main_namespace_arg, "queries": [query, {**query, **each}]}
            found += [Request("query", {**query, **each}), Request("batch_query", queries)]
        if vector.features.deletes_by_filter:
            found.append(Request("delete", {"filter": {"part": number}, **self.scratch_namespace_arg}))
        found.append(Request("create_namespace", {**vector.namespace_args(), "dimensions": number}))
        return found + [Request(op, self.minimal(op), {"deadline_ms": number}) for op in vector.deadline_operations()]

    def with_integer(self, number: int) -> list[Request]:
        return [
            Request("query", {**self.minimal("query"), "top_k": number}),
            Request("create_namespace", {**self._vector.namespace_args(), "dimensions": number}),
        ]

    def with_canaries(self, *, refused: bool) -> list[Request]:
        text, digits = canary(), inputs.random_letters("123456789", DIGITS)
        dimensions = self._vector.dimensions
        telling = [float(f"0.{digits}"), *direction(60, max(dimensions, 2))[1:dimensions]]
        found = self._invalid_requests(text, telling) if refused else self._valid_requests(text, telling)
        held = {"content": text, "content of a vector": digits}
        return [Request(op, args, ctx, held) for op, args, ctx in found]

    def _valid_requests(self, text: str, telling: list[float]) -> list[Built]:
        home, scratch = self.main_namespace_arg, self.scratch_namespace_arg
        query = {**self._vector.query_args(), "vector": telling, **home}
        item = self._vector.item(metadata={"note": text}, vector=telling)
        requests: list[Built] = [
            ("query", query, {}),
            ("batch_query", {"queries": [query], **home}, {}),
            ("upsert", {"vectors": [item], **scratch}, {}),
            ("query", {**query, "include_vectors": True, **scratch}, {}),
        ]
        if self._vector.features.accepts_filters:
            requests += [
                ("query", {**query, "filter": {"note": text}}, {}),
                ("delete", {"filter": {"note": text}, **scratch}, {}),
            ]
        return requests

    def _invalid_requests(self, text: str, telling: list[float]) -> list[Built]:
        home, scratch = self.main_namespace_arg, self.scratch_namespace_arg
        query = {**self._vector.query_args(), "vector": telling, **home}
        expired = {"deadline_ms": deadline_in(MINUTE_AGO_MS)}
        queries: list[dict[str, Any]] = [
            {**query, "vector": [*telling, 0.5]},
            {**query, "vector": text},
            {**query, "vector": [text]},
            {**query, "top_k": 0},
            {**query, "top_k": text},
            {**query, "filter": text},
            {**query, "filter": {"note": {"$no_such_operator": text}}},
        ]
        items: list[dict[str, Any]] = [
            {**self._vector.item(), "vector": [*telling, 0.5]},
            {**self._vector.item(), "vector": text},
            {**self._vector.item(), "vector": [text]},
            {**self._vector.item(), "metadata": text},
            {"vector": telling, "metadata": {"note": text}},
        ]
        requests: list[Built] = [("query", args, {}) for args in queries]
        requests += [("batch_query", {"queries": [query, args], **home}, {}) for args in queries[:4]]
        requests += [("upsert", {"vectors": [item], **scratch}, {}) for item in items]
        requests += [
            ("upsert", {"vectors": text, **scratch}, {}),
            ("delete", {"ids": {"note": text}, **scratch}, {}),
            ("delete", {"filter": text, **scratch}, {}),
            ("query", query, expired),
            ("upsert", {"vectors": [self._vector.item(metadata={"note": text})], **scratch}, expired),
        ]
        return requests
