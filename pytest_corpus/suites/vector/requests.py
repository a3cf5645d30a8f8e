"""Good and bad requests of the vector component."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from pytest_corpus.suites.vector.capabilities import VectorCapabilities
from pytest_corpus.suites.vector.geometry import direction
from pytest_corpus.suites.vector.shared import Item

Request = tuple[str, dict[str, Any], dict[str, Any]]

DIGITS = 12
"""So many digits of a vector component are as good as a name."""

MINUTE_AGO_MS = -60_000

HOME = (15, 75, 135)
"""The directions of the vectors that plain queries look for."""


class VectorRequests(VectorCapabilities):
    """Requests in and about the home and scratch namespaces, which `Vector` makes."""

    @property
    def main_namespace(self) -> str:
        """The namespace of plain queries; nothing but a few vectors is ever written to it."""
        self.shared.main_namespace = self.shared.main_namespace or self._named("home")
        return self.shared.main_namespace

    @property
    def scratch(self) -> str:
        """The namespace of plain writes."""
        self.shared.scratch = self.shared.scratch or self._named("scratch")
        return self.shared.scratch

    def _named(self, prefix: str) -> str:
        return self.name(prefix) if self.namespaces else "default"

    @property
    def settled(self) -> tuple[Item, ...]:
        """The vectors of the main namespace."""
        self.shared.settled = self.shared.settled or tuple(
            {
                "id": self.name("home"),
                "vector": direction(degrees, self.dimensions),
                "metadata": {"kind": "home", "part": number},
            }
            for number, degrees in enumerate(HOME)
        )
        return self.shared.settled

    def to_delete(self, item: Item | None = None) -> str:
        """The name of a vector of the scratch namespace, or of a namespace, to be made just before it is deleted."""
        name = str(item["id"]) if item else self.name("doomed")
        self.shared.to_delete[name] = item
        return name

    # -- plain requests --------------------------------------------------------------------------------

    def minimal(self, name: str) -> dict[str, Any]:
        if name == "query":
            return {**self.looking(), **self.at(self.main_namespace)}
        if name == "batch_query":
            return {"queries": [{**self.looking(), **self.at(self.main_namespace)}], **self.at(self.main_namespace)}
        if name == "upsert":
            return {"vectors": [self.item()], **self.at(self.scratch)}
        if name == "delete":
            return {"ids": [self.to_delete(self.item())], **self.at(self.scratch)}
        if name == "create_namespace":
            return self.named()
        return {"namespace": self.to_delete()} if name == "delete_namespace" else {}

    def distinct(self, name: str) -> dict[str, Any]:
        args = self.minimal(name)
        degrees = 10 + self.shared.number() * 0.37 % 150
        if name == "query":
            args.update(self.looking(degrees))
        elif name == "batch_query":
            args["queries"][0].update(self.looking(degrees))
        return args

    def distinguishable(self) -> list[dict[str, Any]]:
        self.require("query")
        many = max(2, min(6, self.capabilities.limit("concurrency") or 6))
        angles = [HOME[number % len(HOME)] for number in range(many)]
        return [self.envelope("query", {**self.looking(degrees), **self.at(self.main_namespace)}) for degrees in angles]

    # -- bad ones --------------------------------------------------------------------------------------

    def wrong_types(self, name: str) -> dict[str, Any]:
        wrong: dict[str, dict[str, Any]] = {
            "query": {"vector": "x", "top_k": 1, **self.at(self.main_namespace)},
            "batch_query": {"queries": "x", **self.at(self.main_namespace)},
            "upsert": {"vectors": "x", **self.at(self.scratch)},
            "delete": {"ids": 7, **self.at(self.scratch)},
            "create_namespace": {**self.named(), "dimensions": "x"},
            "delete_namespace": {"namespace": 7},
        }
        return wrong.get(name, {})

    def requests_with_unknown_keys(self, unknown: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        home, scratch = self.at(self.main_namespace), self.at(self.scratch)
        return [
            ("upsert", {"vectors": [{**self.item(), **unknown}], **scratch}),
            ("batch_query", {"queries": [{**self.minimal("query"), **unknown}], **home}),
        ]

    def requests_with_number(self, number: float) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
        query = self.minimal("query")
        wrong: list[dict[str, Any]] = [{"vector": [number, *query["vector"][1:]]}, {"top_k": number}]
        if self.filters:
            wrong.append({"filter": {"part": number}})
        found: list[Request] = []
        for each in wrong:
            found.append(("query", {**query, **each}, {}))
            found.append(("batch_query", {**self.at(self.main_namespace), "queries": [query, {**query, **each}]}, {}))
        if self.filters:
            found.append(("delete", {"filter": {"part": number}, **self.at(self.scratch)}, {}))
        found.append(("create_namespace", {**self.named(), "dimensions": number}, {}))
        return [*found, *((name, self.minimal(name), {"deadline_ms": number}) for name in self.deadlined())]

    def requests_with_integer(self, number: int) -> list[tuple[str, dict[str, Any]]]:
        return [
            ("query", {**self.minimal("query"), "top_k": number}),
            ("create_namespace", {**self.named(), "dimensions": number}),
        ]

    # -- secrets ---------------------------------------------------------------------------------------

    def requests_with_canaries(
        self, *, refused: bool
    ) -> list[tuple[str, dict[str, Any], dict[str, Any], dict[str, str]]]:
        text, digits = self.canary(), "".join(secrets.choice("123456789") for _ in range(DIGITS))
        telling = [float(f"0.{digits}"), *direction(60, max(self.dimensions, 2))[1 : self.dimensions]]
        requests = self._refused(text, telling) if refused else self._good(text, telling)
        return [(name, args, ctx, {"content": text, "content of a vector": digits}) for name, args, ctx in requests]

    def _good(self, text: str, telling: list[float]) -> list[Request]:
        home, scratch = self.at(self.main_namespace), self.at(self.scratch)
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
        home, scratch = self.at(self.main_namespace), self.at(self.scratch)
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
