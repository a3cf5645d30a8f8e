"""Reading the arguments of vector operations (SPECIFICATION 9.2, 17.2; SCHEMA 4.2)."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.request import Admission, Call, Fields
from pytest_corpus.reference.vector.store import Condition, Conditions, Geometry, Item, is_number

FIELD_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class Query:
    """A checked query."""

    vector: list[float]
    top_k: int
    namespace: str
    conditions: list[Condition]
    include_metadata: bool
    include_vectors: bool


class VectorRequests(Geometry, Conditions, Admission):
    """Typed arguments, within the limits that capabilities tell; every refusal names its field."""

    max_dimensions = 64
    max_batch_size = 16
    max_top_k = 32
    max_filter_terms = 4
    default_namespace = "default"
    default_metric = "cosine"
    synonyms: Mapping[str, str] = {"dotproduct": "dot"}

    # Readers

    def read_query(self, fields: Fields, namespace: str) -> Query:
        return Query(
            vector=self.read_vector(fields),
            top_k=self.read_top_k(fields),
            namespace=namespace,
            conditions=self.read_filter(fields),
            include_metadata=self.read_flag(fields, "include_metadata", default=True),
            include_vectors=self.read_flag(fields, "include_vectors", default=False),
        )

    def read_batched(self, fields: Fields, namespace: str) -> Query:
        """One query of several, all of one namespace."""
        self.check_namespace(fields, namespace)
        return self.read_query(fields, namespace)

    def read_namespace(self, fields: Fields) -> str:
        name = fields.text("namespace")
        return self.default_namespace if name is None else name

    def read_name(self, call: Call) -> str:
        """The namespace that is created or deleted."""
        name = call.args.required_text("namespace")
        self.check_filled(call.args, "namespace", name)
        return name

    def read_vector(self, fields: Fields) -> list[float]:
        vector = fields.items("vector", "a number", required=True)
        self.check_filled(fields, "vector", vector)
        return vector

    def read_top_k(self, fields: Fields) -> int:
        return self.read_size(fields, "top_k", "max_top_k", self.max_top_k)

    def read_dimensions(self, call: Call) -> int:
        return self.read_size(call.args, "dimensions", "max_dimensions", self.max_dimensions)

    def read_size(self, fields: Fields, name: str, limit: str, largest: int) -> int:
        """A positive integer within a limit, which the refusal tells."""
        fields.read(name, "a number", required=True)
        size = fields.integer(name, at_least=1) or 1
        if size > largest:
            raise self.beyond(f"{fields.path}.{name}", limit, largest)
        return size

    def read_flag(self, fields: Fields, name: str, *, default: bool) -> bool:
        value = fields.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise fields.invalid(name, "WRONG_TYPE", "must be a boolean")
        return default if value is None else value

    def read_metric(self, call: Call) -> str:
        name = call.args.text("distance_metric")
        metric = self.default_metric if name is None else self.synonyms.get(name, name)
        if metric not in self.measures:
            raise AdapterError("NotSupported", "args.distance_metric must be one of supported_metrics")
        return metric

    def read_items(self, call: Call, namespace: str) -> list[Item]:
        """The vectors of an upsert; anything malformed refuses them all."""
        vectors = call.args.objects("vectors", required=True)
        self.check_batch_size(len(vectors))
        return [self.read_item(fields, namespace) for fields in vectors]

    def read_item(self, fields: Fields, namespace: str) -> Item:
        self.check_namespace(fields, namespace)
        name = fields.required_text("id")
        self.check_filled(fields, "id", name)
        return Item(name, self.read_vector(fields), self.read_metadata(fields))

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        """A copy, for the caller may change his: of scalars and arrays (SCHEMA 4.2.2)."""
        metadata = fields.read("metadata", "an object") or {}
        if any(isinstance(value, Mapping) for value in metadata.values()):
            raise fields.invalid("metadata", "WRONG_TYPE", "must not hold objects")
        try:
            return copy.deepcopy(dict(metadata))
        except RecursionError:
            raise fields.invalid("metadata", "TOO_DEEP", "must not be nested so deeply") from None

    def read_ids(self, call: Call) -> list[str]:
        return call.args.items("ids", "a string")

    def read_filter(self, fields: Fields) -> list[Condition]:
        """The terms of a filter, none where there is none; what cannot be served is refused (R31)."""
        terms = fields.read("filter", "an object") or {}
        if terms:
            self.require("supports_filters")
        conditions = [condition for name, term in terms.items() for condition in self.read_term(name, term)]
        if max(len(terms), len(conditions)) > self.max_filter_terms:
            raise self.beyond(f"{fields.path}.filter", "max_filter_terms", self.max_filter_terms)
        return conditions

    def read_term(self, name: str, term: Any) -> list[Condition]:
        """One name's conditions: `{operator: operand}`, or a value that must be equal."""
        if not FIELD_NAME.fullmatch(name) or term == {} or isinstance(term, list):
            raise self.unreadable()
        if not isinstance(term, Mapping):
            return [Condition(name, self.equality, term)]
        return [self.read_condition(name, sign, operand) for sign, operand in term.items()]

    def read_condition(self, name: str, sign: str, operand: Any) -> Condition:
        kind = sign.removeprefix("$")
        sound = isinstance(operand, list) if kind == "in" else is_number(operand)
        if sign not in self.operators or not sound:
            raise self.unreadable()
        return Condition(name, kind, operand)

    # Checks

    def check_namespace(self, fields: Fields, namespace: str) -> None:
        """What a query or an item names for itself must be what the whole request names."""
        if fields.text("namespace") not in (None, namespace):
            raise fields.invalid("namespace", "NOT_ALLOWED", "must be the namespace of the request")

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_size:
            reduction = math.ceil(100 * (size - self.max_batch_size) / size)
            raise self.beyond(
                "args.vectors", "max_batch_size", self.max_batch_size, suggested_batch_reduction=reduction
            )

    def check_filled(self, fields: Fields, name: str, value: str | list[Any]) -> None:
        if not value:
            raise fields.invalid(name, "EMPTY", "must not be empty")

    # Refusals

    def beyond(self, path: str, limit: str, largest: int, **details: Any) -> AdapterError:
        """More than a limit of the capabilities allows."""
        return invalid(path, "OUT_OF_RANGE", f"must be at most {limit}", **{limit: largest, **details})

    def unreadable(self) -> AdapterError:
        rule = "must map names to scalars or to known operators"
        return invalid("args.filter", "SYNTAX", rule, error="FilterSyntaxError")
