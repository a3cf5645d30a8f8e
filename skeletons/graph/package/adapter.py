"""The name, the claims and the table of failures of this adapter; `corpus_wire/graph.py` has the operations."""

from collections.abc import Mapping
from typing import Any

from .corpus_wire import Failures
from .corpus_wire.graph import GraphAdapter


class Adapter(GraphAdapter):
    """EDIT: the offer of the adapter. A claim is tested, a denied feature is not applicable.

    To offer an operation of `denied`, add a method, move it to `unary`, and claim its flag.
    """

    server = "COMPONENT-adapter"
    version = "0.1.0"
    claims: Mapping[str, Any] = {
        "supports_stream_query": True,
        "supports_namespaces": True,
        "supports_property_filters": True,
        "supports_bulk_vertices": True,
        "concurrency": 64,  # EDIT: the number of calls that your provider takes at once, and in a second
        "rate_limit_qps": 100,
        "supports_deadline": True,
        "supports_batch": False,
        "supports_transaction": False,
        "supports_traversal": False,
        "supports_schema": False,
        "supports_path_queries": False,
        "supports_multi_tenant": False,
        "supports_caching": False,
        "idempotent_writes": False,
    }

    # EDIT: the exception classes of your client by the classes of the protocol; HTTP statuses are known.
    failures = Failures(classes={})
