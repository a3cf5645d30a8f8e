"""Good and bad requests of the vector component."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from pytest_corpus.suites.subject import Subject
from pytest_corpus.suites.vector.geometry import direction

Request = tuple[str, dict[str, Any], dict[str, Any]]

DIGITS = 12
"""So many digits of a vector component are as good as a name."""

MINUTE_AGO_MS = -60_000


class VectorRequests(Subject):
    """Requests in and about the home and scratch namespaces, which `Vector` makes."""

    namespaces: bool
    filters: bool
    dimensions: int
    usual: int
    metrics: tuple[str, ...]
    home: str
    scratch: str

    def doom(self, item: Mapping[str, Any] | None = None) -> str:
        raise NotImplementedError

    def at_most(self, top_k: int) -> int:
        raise NotImplementedError

    def name(self, prefix: str = "v") -> str:
        """A name that no other vector or namespace of this run or worker has."""
        self._made.count += 1
        return f"{prefix}-{self.settings.run}-{self._made.count}"

    def unique(self, prefix: str = "note") -> str:
        return self.name(prefix)

    def item(self, degrees: float = 45, metadata: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        """A vector of unit length with an id of its own."""
        named = {"id": self.name(), "vector": direction(degrees, self.dimensions)}
        return {**named, **({} if metadata is None else {"metadata": dict(metadata)}), **more}

    def at(self, namespace: str) -> dict[str, Any]:
        """The argument that names a namespace, where there is more than one."""
        return {"namespace": namespace} if self.namespaces else {}

    def named(self, name: str = "", dimensions: int | None = None, metric: str | None = None) -> dict[str, Any]:
        """The arguments that create a namespace."""
        chosen = metric or next(iter(self.metrics), None)
        return {
            "namespace": name or self.name("corpus"),
            "dimensions": dimensions or self.usual,
            **({"distance_metric": chosen} if chosen else {}),
        }

    # -- plain requests --------------------------------------------------------------------------------

    def minimal(self, name: str) -> dict[str, Any]:
        if name == "query":
            return {**self.looking(), **self.at(self.home)}
        if name == "batch_query":
            return {"queries": [{**self.looking(), **self.at(self.home)}], **self.at(self.home)}
        if name == "upsert":
            return {"vectors": [self.item()], **self.at(self.scratch)}
        if name == "delete":
            return {"ids": [self.doom(self.item())], **self.at(self.scratch)}
        if name == "create_namespace":
            return self.named()
        return {"namespace": self.doom()} if name == "delete_namespace" else {}

    def looking(self, degrees: float = 15) -> dict[str, Any]:
        """The arguments of a query without its namespace."""
        return {"vector": direction(degrees, self.dimensions), "top_k": self.at_most(3)}

    def distinct(self, name: str) -> dict[str, Any]:
        args = self.minimal(name)
        self._made.count += 1
        degrees = 10 + self._made.count * 0.37 % 150
        if name == "query":
            args.update(self.looking(degrees))
        elif name == "batch_query":
            args["queries"][0].update(self.looking(degrees))
        return args

    def distinguishable(self) -> list[dict[str, Any]]:
        self.require("query")
        many = max(2, min(6, self.capabilities.limit("concurrency") or 6))
        angles = [(15, 75, 135)[number % 3] for number in range(many)]
        return [self.envelope("query", {**self.looking(degrees), **self.at(self.home)}) for degrees in angles]

    # -- bad ones --------------------------------------------------------------------------------------

    def wrong_types(self, name: str) -> dict[str, Any]:
        wrong: dict[str, dict[str, Any]] = {
            "query": {"vector": "x", "top_k": 1, **self.at(self.home)},
            "batch_query": {"queries": "x", **self.at(self.home)},
            "upsert": {"vectors": "x", **self.at(self.scratch)},
            "delete": {"ids": 7, **self.at(self.scratch)},
            "create_namespace": {**self.named(), "dimensions": "x"},
            "delete_namespace": {"namespace": 7},
        }
        return wrong.get(name, {})

    def numbers(self, number: float) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        query = self.minimal("query")
        wrong = [{"vector": [number, *query["vector"][1:]]}, {"top_k": number}]
        if self.filters:
            wrong.append({"filter": {"part": number}})
        found: list[Request] = []
        for each in wrong:
            found.append(("query", {**query, **each}, {}))
            found.append(("batch_query", {**self.at(self.home), "queries": [query, {**query, **each}]}, {}))
        if self.filters:
            found.append(("delete", {"filter": {"part": number}, **self.at(self.scratch)}, {}))
        found.append(("create_namespace", {**self.named(), "dimensions": number}, {}))
        return [*found, *((name, self.minimal(name), {"deadline_ms": number}) for name in self.deadlined())]

    def integers(self, number: int) -> list[tuple[str, dict[str, Any]]]:
        return [
            ("query", {**self.minimal("query"), "top_k": number}),
            ("create_namespace", {**self.named(), "dimensions": number}),
        ]

    # -- secrets ---------------------------------------------------------------------------------------

    def secretive(self, *, refused: bool) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]]:
        text, digits = self.canary(), "".join(secrets.choice("123456789") for _ in range(DIGITS))
        telling = [float(f"0.{digits}"), *direction(60, max(self.dimensions, 2))[1 : self.dimensions]]
        requests = self._refused(text, telling) if refused else self._good(text, telling)
        return [(name, args, ctx, {"content": text, "content of a vector": digits}) for name, args, ctx in requests]

    def _good(self, text: str, telling: list[float]) -> list[Request]:
        home, scratch = self.at(self.home), self.at(self.scratch)
        query = {**self.looking(), "vector": telling, **home}
        item = self.item(metadata={"note": text})
        requests: list[Request] = [
            ("query", query, {}),
            ("batch_query", {"queries": [query], **home}, {}),
            ("upsert", {"vectors": [item], **scratch}, {}),
            ("upsert", {"vectors": [{**self.item(), "vector": telling}], **scratch}, {}),
        ]
        if self.filters:
            requests += [
                ("query", {**query, "filter": {"note": text}}, {}),
                ("delete", {"filter": {"note": text}, **scratch}, {}),
            ]
        return requests

    def _refused(self, text: str, telling: list[float]) -> list[Request]:
        home, scratch = self.at(self.home), self.at(self.scratch)
        query = {**self.looking(), "vector": telling, **home}
        expired = {"deadline_ms": self.in_ms(MINUTE_AGO_MS)}
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
            {**self.item(), "vector": [*telling, 0.5]},
            {**self.item(), "vector": text},
            {**self.item(), "vector": [text]},
            {**self.item(), "metadata": text},
            {"vector": telling, "metadata": {"note": text}},
        ]
        requests: list[Request] = [("query", args, {}) for args in queries]
        requests += [("batch_query", {"queries": [query, args], **home}, {}) for args in queries[:4]]
        requests += [("upsert", {"vectors": [item], **scratch}, {}) for item in items]
        requests += [
            ("upsert", {"vectors": text, **scratch}, {}),
            ("delete", {"ids": {"note": text}, **scratch}, {}),
            ("delete", {"filter": text, **scratch}, {}),
            ("query", query, expired),
            ("upsert", {"vectors": [self.item(metadata={"note": text})], **scratch}, expired),
        ]
        return requests
