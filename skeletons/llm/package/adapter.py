"""The name, the claims and the table of failures of this adapter; `corpus_wire/llm.py` has the operations."""

from collections.abc import Mapping
from typing import Any

from .corpus_wire import Failures
from .corpus_wire.llm import LLMAdapter


class Adapter(LLMAdapter):
    """EDIT: the offer of the adapter. A claim is tested, a denied feature is not applicable."""

    server = "COMPONENT-adapter"
    version = "0.1.0"
    claims: Mapping[str, Any] = {
        "supports_streaming": True,
        "supports_roles": True,
        "supports_system_message": True,
        "supports_count_tokens": True,
        "concurrency": 64,  # EDIT: the number of calls that your provider takes at once, and in a second
        "rate_limit_qps": 100,
        "supports_deadline": True,
        "sampling": {"temperature_range": [0.0, 2.0], "top_p_range": [0.0, 1.0]},
        "supports_json_output": False,
        "supports_tools": False,
        "supports_parallel_tool_calls": False,
        "supports_tool_choice": False,
        "supports_multi_tenant": False,
        "supports_caching": False,
        "idempotent_writes": False,
    }

    # EDIT: the exception classes of your client by the classes of the protocol; HTTP statuses are known.
    failures = Failures(classes={}, subtypes={"content_filtered": "ContentFiltered", "overloaded": "ModelOverloaded"})
