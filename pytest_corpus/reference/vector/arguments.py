"""Reading the arguments of vector operations (SPECIFICATION 9.2, 17.2; SCHEMA 4.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.request import Call, Fields, copy_json
from pytest_corpus.reference.vector.filters import Filters
from pytest_corpus.reference.vector.store import FilterCondition, Geometry, Item


@dataclass(frozen=True, slots=True)
class QueryArguments:
    """A checked query."""

    vector: list[float]
    top_k: int
    namespace: str
    conditions: list[FilterCondition]
    include_metadata: bool
    include_vectors: bool


class VectorArguments(Geometry, Filters):
    """Reads typed arguments within the limits in the capabilities; every refusal names its field."""

    default_namespace = "default"
    default_metric = "cosine"
    synonyms: Mapping[str, str] = {"dotproduct": "dot"}

    def read_query(self, fields: Fields, namespace: str) -> QueryArguments:
        return QueryArguments(
            vector=self.read_vector(fields),
            top_k=self.read_top_k(fields),
            namespace=namespace,
            conditions=self.read_filter(fields),
            include_metadata=self.read_flag(fields, "include_metadata", default=True),
            include_vectors=self.read_flag(fields, "include_vectors", default=False),
        )

    def read_batch_query(self, fields: Fields, namespace: str) -> QueryArguments:
        """Return one query of a batch; all queries use one namespace."""
        self.check_namespace(fields, namespace)
        return self.read_query(fields, namespace)

    def read_namespace(self, fields: Fields) -> str:
        name = fields.text("namespace")
        return self.default_namespace if name is None else name

    def read_name(self, call: Call) -> str:
        """Return the namespace to create or delete."""
        name = call.args.required_text("namespace")
        self.check_filled(call.args, "namespace", name)
        return name

    def read_vector(self, fields: Fields) -> list[float]:
        vector = fields.items("vector", "a number", required=True)
        self.check_filled(fields, "vector", vector)
        return vector

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
        """Return the vectors of an upsert; one malformed vector refuses them all."""
        vectors = call.args.objects("vectors", required=True)
        self.check_batch_size(len(vectors))
        return [self.read_item(fields, namespace) for fields in vectors]

    def read_item(self, fields: Fields, namespace: str) -> Item:
        self.check_namespace(fields, namespace)
        name = fields.required_text("id")
        self.check_filled(fields, "id", name)
        return Item(name, self.read_vector(fields), self.read_metadata(fields))

    def read_metadata(self, fields: Fields) -> dict[str, Any]:
        """Return a copy of the metadata, which consists of scalars and arrays (SCHEMA 4.2.2)."""
        metadata = fields.read("metadata", "an object") or {}
        if any(isinstance(value, Mapping) for value in metadata.values()):
            raise fields.invalid("metadata", "WRONG_TYPE", "must not hold objects")
        try:
            return dict(copy_json(metadata))
        except RecursionError:
            raise fields.invalid("metadata", "TOO_DEEP", "must not be nested so deeply") from None

    def read_ids(self, call: Call) -> list[str]:
        return call.args.items("ids", "a string")

    def check_namespace(self, fields: Fields, namespace: str) -> None:
        """Refuse a query or an item that names another namespace than its request."""
        if fields.text("namespace") not in (None, namespace):
            raise fields.invalid("namespace", "NOT_ALLOWED", "must be the namespace of the request")

    def check_filled(self, fields: Fields, name: str, value: str | list[Any]) -> None:
        if not value:
            raise fields.invalid(name, "EMPTY", "must not be empty")

    # Refusals
