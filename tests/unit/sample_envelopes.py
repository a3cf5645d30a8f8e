"""Answers of a model, as envelopes."""

CANARY = "canary-5b1e77d0"
COMPLETION = {
    "text": CANARY,
    "model": CANARY,
    "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    "finish_reason": CANARY,
}
SUCCESS = {"ok": True, "code": "OK", "ms": 1.5, "result": COMPLETION}
ERROR = {"ok": False, "code": "UNAVAILABLE", "error": "Unavailable", "message": CANARY, "ms": 1}
