"""The limits of vector operations, as stated in the capabilities."""

import math
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.request import Admission, Call, Fields


class VectorLimits(Admission):
    """Reads sizes in arguments, and refuses sizes above a limit."""

    max_dimensions = 64
    max_batch_size = 16
    max_top_k = 32

    def read_size(self, fields: Fields, name: str, limit: str, largest: int) -> int:
        """Return a positive integer within a limit; a refusal states the limit."""
        fields.read(name, "a number", required=True)
        size = fields.integer(name, at_least=1) or 1
        if size > largest:
            raise self.limit_error(f"{fields.path}.{name}", limit, largest)
        return size

    def read_top_k(self, fields: Fields) -> int:
        return self.read_size(fields, "top_k", "max_top_k", self.max_top_k)

    def read_dimensions(self, call: Call) -> int:
        return self.read_size(call.args, "dimensions", "max_dimensions", self.max_dimensions)

    def check_batch_size(self, size: int) -> None:
        if size > self.max_batch_size:
            reduction = math.ceil(100 * (size - self.max_batch_size) / size)
            raise self.limit_error(
                "args.vectors", "max_batch_size", self.max_batch_size, suggested_batch_reduction=reduction
            )

    def limit_error(self, path: str, limit: str, largest: int, **details: Any) -> AdapterError:
        """Return the error for a value above a limit in the capabilities."""
        return invalid(path, "OUT_OF_RANGE", f"must be at most {limit}", **{limit: largest, **details})
