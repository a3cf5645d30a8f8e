"""What would make a requirement assessable that is not assessed, by the reason."""

import re
from collections.abc import Mapping

AGAIN = "make that request succeed, and run again"
RATE = "let more calls through, or state the limit under `limits` in capabilities, and run again"
REACHED = "await provider.reached(...) where the provider is called, inside retries and the deadline"
USUAL = "run the suite against a configuration with a more usual limit"
OWN = "give the suite a store or a namespace of its own"

REMEDIES: Mapping[str, str] = {
    r"a tunnel does not make": "name it in `without` of provider.tunnel, if the provider's protocol cannot express it",
    r"shows what this requirement": "make the plain requests of this requirement's tests succeed, and run again",
    r"give (one|them) with|give it the|send its requests?|await provider|name (it|its log)|^blocked by|budget": "",
    r"logging.disable\(\)|^a (fixture|plugin) |^sockets were blocked": "",
    r"fault of pytest-corpus": "report it with its traceback, and run again",
    r"endpoint of the provider's stand-in": "mend that endpoint, and run again",
    r"keyword argument": "add it to the factory",
    r"neither usage_so_far nor count_tokens": "give `usage_so_far` in the chunks, or offer count_tokens",
    r"neither usage nor count_tokens": "return `usage`, or offer count_tokens",
    r"without count_tokens": "offer count_tokens",
    r"provider is not reached|never (fired|struck)|wait for its provider|provider (hangs|hung)|provider fails": REACHED,
    r"every concurrent|not all carried out|too few of|asked to|to come again|no room|quota": RATE,
    r"the same (instance|object)|one and the same": "let the factory return a new object each time",
    r"the factory failed": "let the factory be called several times in a run",
    r"window|no text was found|too large|too small|already beyond|a (limit|depth) of|MiB|pages": USUAL,
    r"distinguished|told apart|without a key": "let the answer depend on the request",
    r"letters to stop": "answer a plain prompt with a text of several letters",
    r"takes 0 ms|`ms` is": "give `ms` as elapsed milliseconds with fractions, from a monotonic clock",
    r"vector of zeros": "embed a plain text as a vector that is not zero",
    r"no direction|on a line": "run the suite against a configuration of two dimensions or more",
    r"debug logging": "test the adapter in the suite's own process, as module:factory",
    r"no dialect": "list the dialects in capabilities, and give their queries with --corpus-dialects",
    r"list no models": "list the models in capabilities",
    r"page token": "accept `page_token` in the request, as the answer gave it",
    r"only namespace|did not store": OWN,
    r"new namespace": "support create_namespace, or let an upsert make the namespace",
    r"writes do not show|is not found|no operation can|does not show|no upsert_nodes": (
        "let what was written be found by the operations that return it; --corpus-write-delay waits longer"
    ),
    r"cannot be repeated": "answer equal requests equally, and run again",
    r"connection was closed": "cancel a call when its connection is closed",
    r"is down|unavailable|outage": "run again when it is back",
    r"less time": "answer that call faster",
    r"did not finish|stopped reading|in time|timed out|ended before|late reports": "run again",
    r"read-only|writes are|production": "run where CORPUS_TEST_ENV is not production",
    r"answered|refused|relied on|carried out|not a success|no message|embedded as|can be read": AGAIN,
    r"although its own tests passed": "fix the requirement that it blocks",
    r"no test of it ran": "run the whole suite",
}
"""The change that helps, by a pattern in the reason; empty if the reason says it itself."""


def remedy(reason: str) -> str:
    """The change that would make a requirement assessable; `run again` if nothing else is known."""
    return next((said for pattern, said in REMEDIES.items() if re.search(pattern, reason)), "run again")


def with_remedy(reason: str) -> str:
    """A reason followed by its remedy."""
    said = remedy(reason)
    return f"{reason}; to assess it, {said}" if said else reason
