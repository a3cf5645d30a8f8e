"""The name, the claims and the table of failures of this adapter; `corpus_wire/embedding.py` has the operations."""

from collections.abc import Mapping
from typing import Any

from .corpus_wire import Failures
from .corpus_wire.embedding import EmbeddingAdapter


class Adapter(EmbeddingAdapter):
    """EDIT: the offer of the adapter. A claim is tested, a denied feature is not applicable.

    To offer `stream_embed`, add a method, move it from `denied` to `streams`, and claim `supports_streaming`.
    """

    server = "COMPONENT-adapter"
    version = "0.1.0"
    claims: Mapping[str, Any] = {
        "supports_batch_embedding": True,
        "supports_normalization": True,
        "supports_truncation": True,
        "supports_token_counting": True,
        "concurrency": 64,  # EDIT: the number of calls that your provider takes at once, and in a second
        "rate_limit_qps": 100,
        "supports_deadline": True,
        "supports_streaming": False,
        "supports_multi_tenant": False,
        "supports_caching": False,
        "idempotent_writes": False,
    }

    # EDIT: the exception classes of your client by the classes of the protocol; HTTP statuses are known.
    failures = Failures(classes={}, subtypes={"content_filtered": "ContentFiltered"})
