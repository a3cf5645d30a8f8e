"""Obstacles: the reasons why a requirement is not assessed, and what the user can do about each."""

import re
from enum import Enum
from functools import cache
from string import Formatter

IN_TEXT = ""  # no remedy, because the text of the reason contains it
AGAIN = "run again"
SUCCEED = "make that request succeed, and run again"
BACK = "run again when it is back"
SHOW = "return written data from the operations that read it; --corpus-write-delay makes the suite wait longer"
RATE = "allow more calls, or state the limit under `limits` in capabilities, and run again"
REACH = (
    "await provider.reached(...) where the provider is called, or send that call to provider.url, "
    "inside retries and the deadline"
)
USUAL = "test a configuration with a more usual limit"
OWN_STORE = "give the suite a separate store or namespace"
DISTINCT = "make the answer depend on the request"
NEW_OBJECT = "return a new object from each call of the factory"
MODELS = "list the models in capabilities"
TWO_DIMENSIONS = "test a configuration with at least two dimensions"
RECORD = "record it again, or replay it with the version that recorded it"
WITHOUT_PLUGIN = "run again without plugins that change tests or their reports"
WITHOUT_TUNNEL = "send the adapter's requests to provider.url or provider.proxy instead of through provider.tunnel"


class Obstacle(Enum):
    """A reason why a requirement is not assessed, as a text with placeholders in braces; and the remedy."""

    text: str
    remedy: str

    def __init__(self, text: str, remedy: str) -> None:
        self.text, self.remedy = text, remedy

    # of the run
    BLOCKED = "blocked by {requirement}: {seen}", IN_TEXT
    BLOCKS = "this requirement blocks {requirement}, although its own tests passed", "fix the blocked requirement"
    NO_TEST = "none of its tests ran", "run the whole suite"
    NOTHING_SHOWN = (
        "no answer contains what this requirement is about{answers}",
        "make the plain requests of this requirement's tests succeed, and run again",
    )
    UNRELIABLE = "pytest's report does not match the recorded result", WITHOUT_PLUGIN
    UNFINISHED = "the test did not finish", AGAIN
    OWN_FAULT = "a fault of pytest-corpus itself ended the test ({type})", "report it with its traceback, and run again"
    BUDGET = "the budget of {budget} is spent", IN_TEXT
    NOT_RECORDED = "the transcript {lack}", RECORD
    OTHER_REQUEST = "request {number} of this test differs from the one in the transcript", RECORD
    READ_ONLY = "{op} writes, and this run only reads", "run where CORPUS_TEST_ENV is not production"
    PLUGIN = "a plugin {deed}", IN_TEXT
    SURROUNDINGS = "a fixture or a plugin {deed}", IN_TEXT
    SOCKETS = ("sockets were blocked{by} while tests ran; allow the adapter's hosts (--allow-hosts)", IN_TEXT)
    NO_LOGGING = "logging.disable() hides log records; do not call it around the suite's tests", IN_TEXT

    # of the connection to the adapter
    NO_KEYWORD = "the factory takes no keyword argument '{keyword}'", "add it to the factory"
    HOOK_UNUSED = "the adapter has never called the hook {keyword!r}", "call it in the adapter"
    FACTORY_FAILED = "the factory failed when it was called again", "make the factory work for several calls in a run"
    SAME_INSTANCE = "the factory returns the same instance again, so its cache cannot be avoided", NEW_OBJECT
    SAME_OBJECT = "the factory returns the same object each time", NEW_OBJECT
    LOGS_OUTSIDE = (
        "the adapter runs in another process, so its log is not visible here; set corpus_log to its log file",
        IN_TEXT,
    )
    DEBUG_OUTSIDE = (
        "debug logging cannot be switched on in another process",
        "test the adapter in the suite's own process, as module:factory",
    )
    UNCLEAR_CLIENT = (
        "{builder} may belong to several components: name it {method}, or declare a mapping of component to client",
        IN_TEXT,
    )
    CONNECTION_KEPT = (
        "the adapter continues a call after its connection was closed",
        "cancel a call when its connection is closed",
    )

    # of the connection to the provider
    OUTAGE = "the provider has been unavailable since {clock}", BACK
    SHORT_OUTAGE = "the provider was unavailable at {clock}", BACK
    QUOTA = "a quota is used up: {reply}", RATE
    NOT_REACHED = "the adapter does not call the provider", REACH
    NOT_REACHED_FOR = "the adapter does not call the provider for {op}: {remedy}", IN_TEXT
    NOT_WAITED = "the call did not wait for its provider", REACH
    NEVER_FIRED = "the fault planned at {op} did not occur", REACH
    NEVER_HUNG = "the hang planned at a chunk did not occur", REACH
    ENDS_ANYWAY = "the call ended although its provider hung", REACH
    NO_DEADLINE = "this time, a call did not end at its deadline while the provider hung", REACH
    FAILURE_ANSWERED = "{op} is answered with {reply} although its provider failed", REACH
    AFTER_FAILURE = "after a failure {op} is answered with {reply}", SUCCEED
    NO_HEADER = (
        "no request to the provider has the header {header}: set this header to the {fact} of the context",
        IN_TEXT,
    )
    NOT_PASSED_ON = (
        "the adapter never passed a {fact} to the probe: await provider.reached(op, {fact}=...) with the value sent",
        IN_TEXT,
    )
    NOT_TUNNELLED = (
        "a tunnel can neither cause nor see {what}",
        "name it in `without` of provider.tunnel, if the provider's protocol cannot express it",
    )
    TUNNEL_IS_BLIND = "requests cannot be distinguished in a tunnel", WITHOUT_TUNNEL
    STAND_IN = (
        "an endpoint of the provider's stand-in (provider.serve) raised {error}",
        "repair that endpoint, and run again",
    )

    # of answers that did not come, or not in time
    CUT_OFF = "a stream that was cut off: {fault}", AGAIN
    CUT_ANSWER = "no answer (cut_off: {fault})", AGAIN
    LESS_TIME = "{reply}, and the test allowed less time than the call limit", "answer that call faster"
    STILL_SENDING = (
        "{op} exceeded the time limit several times and is no longer called",
        "end it sooner, or raise --corpus-call-timeout",
    )
    SUITE_STOPPED_READING = "the suite stopped reading: {fault}", AGAIN
    ENDED_BEFORE_CANCEL = "the stream ended before it could be cancelled", AGAIN
    ENDED_BEFORE_LEAVING = "the stream ended before the client could leave", AGAIN
    COME_AGAIN = "the adapter asked to retry later", RATE
    FIRST_CALL_WAITS = "the first call of an instance was told to retry later", RATE
    ONE_COMES_AGAIN = "one of two concurrent calls was told to retry later", RATE
    ALL_REFUSED = "every concurrent call was refused", RATE
    QUERIES_REFUSED = "every concurrent query was refused", RATE
    NOT_ALL_AT_ONCE = "not all concurrent calls were carried out", RATE
    TOO_FEW_UPSERTS = "too few of the upserts were accepted", RATE

    # of plain requests
    BACKEND_DOWN = "the backend is down: health answers with an error", BACK
    PLAIN_ANSWERED = "a plain {op} is answered with {reply}", SUCCEED
    QUERY_ANSWERED = "a query is answered with {reply}", SUCCEED
    UPSERT_ANSWERED = "an upsert of {number} is answered with {reply}", SUCCEED
    DEFAULT_UPSERT = "an upsert into the default namespace is answered with {reply}", SUCCEED
    CREATION_ANSWERED = "create_namespace is answered with {reply}", SUCCEED
    NO_VECTOR = "{op} gives no vector{instead}", SUCCEED
    NO_STREAMED_VECTOR = "no vector of a stream can be read", SUCCEED
    NOT_EMBEDDED = "the text is not embedded as a vector of numbers", SUCCEED
    WITHOUT_KEY_TOO = "the same happens without an idempotency key: {violation}", DISTINCT
    SHORT_REFUSED = "the plain stream is long, and a short one is refused: {reply}", SUCCEED
    STREAM_REFUSED = "a plain stream is refused for a reason other than its format", SUCCEED
    NO_FRAMES = "no plain stream is answered with frames", SUCCEED
    NO_MESSAGE = "a plain stream has no message", SUCCEED
    NO_SUCCESS = "the answer is not a success", SUCCEED
    WRONG_TYPES_TAKEN = "a stream with arguments of the wrong type is not refused", SUCCEED
    REFUSED_AFTER = "a call that was answered before is refused after clients left their streams", SUCCEED
    NOT_RELIED_ON = "{op} cannot be relied on: {reason}", SUCCEED
    NOT_ALONE_EITHER = "{op} does not work outside the flow either: {reply}", SUCCEED
    NOT_DISTINGUISHED = "the answers to different requests cannot be distinguished", DISTINCT
    ALWAYS_0_MS = (
        "the adapter reports 0 ms for every call",
        "send `ms` as elapsed milliseconds with fractions, from a monotonic clock",
    )
    MS_NO_NUMBER = "`ms` is not a number", "send `ms` as elapsed milliseconds with fractions, from a monotonic clock"
    UNKNOWN_MODELS = "capabilities list no models, and the suite knows no model name", MODELS

    # of limits
    SMALL_TEXT = "a text of ten words already exceeds the limit", USUAL
    SMALL_WINDOW = "a window of {tokens} tokens may be too small for this request", USUAL
    UNSTATED_WINDOW = (
        "a prompt is too long, and capabilities state no context length",
        "state `max_context_length` under `limits` in capabilities, and run again",
    )
    WINDOW_FOR_NEW = "a window of {tokens} tokens is too small for new prompts", USUAL
    LARGE_WINDOW = "a window of {tokens} tokens is too large to exceed in a test", USUAL
    NO_HALF = "no text was found that fills half of the window by the adapter's count", USUAL
    NO_LONGER = "no text was found that exceeds the window by the adapter's count", USUAL
    LARGE_LIMIT = "a {limit} of {number} is too large for a test", USUAL
    LARGE_BATCH = "a limit of {number} operations is too large for a test", USUAL
    LARGE_DEPTH = "a depth of {number} is too large for a test", USUAL
    LARGE_TEXT = "a limit of {number} characters is too large for a test", USUAL
    LARGE_BODY = "a compressed body has more than {number} MiB", USUAL
    MANY_PAGES = "bulk_vertices has more than {number} pages", USUAL

    # of language models
    NO_COUNT = "without count_tokens, the suite cannot tell if the prompt was too long", "offer count_tokens"
    NO_USAGE = (
        "the length of the completion is unknown without usage and count_tokens",
        "return `usage`, or offer count_tokens",
    )
    NO_STREAM_USAGE = (
        "the length of the stream is unknown without usage_so_far and count_tokens",
        "send `usage_so_far` in the chunks, or offer count_tokens",
    )
    NO_LETTERS = "a completion has no letters to stop at", "answer a plain prompt with a text of several letters"

    # of vectors
    ZEROS = "a vector of zeros has no direction", "embed a plain text as a vector that is not zero"
    NO_DIRECTION = "one-dimensional vectors have no direction to compare", TWO_DIMENSIONS
    HIDDEN_ON_A_LINE = (
        "one-dimensional vectors have no direction to compare, and `top_k` has a low limit",
        TWO_DIMENSIONS,
    )
    ON_A_LINE = "in one dimension the nearest vector depends on the metric", TWO_DIMENSIONS
    NOT_FOUND = "a vector that was written is not found", SHOW
    FOREIGN_MATCHES = "there are matches that the suite did not store", OWN_STORE
    FOREIGN_VECTORS = "the only namespace contains other vectors, or some that could not be deleted", OWN_STORE
    NO_PAGE_TOKEN = (
        "no argument was found that accepts a page token",
        "accept the page token of an answer as `page_token` in the next request",
    )

    # of graphs
    LATE_WRITES = "writes are not visible at once (COM-READ-1)", SHOW
    NOT_SHOWN = "{op} does not return what other operations return", SHOW
    NO_READER = "no operation can {purpose}", SHOW
    NO_BATCHED_UPSERT = "batches do not accept upsert_nodes", SHOW
    NO_NAMESPACE = (
        "a write to a new namespace does not create it: {reply}",
        "support create_namespace, or create the namespace in an upsert",
    )
    INDEX_BUILDING = "the index is still being built", AGAIN
    NO_DIALECT = (
        "no dialect is listed, and no dialect that the suite knows works",
        "list the dialects in capabilities, and give their queries with --corpus-dialects",
    )
    NO_QUERIES = "no probe queries for {dialects}: give them with --corpus-dialects", IN_TEXT
    NO_QUERY = "no probe query {purpose!r} for {dialect}: give one with --corpus-dialects", IN_TEXT
    NO_SPELLING = "no known form of the probe query {purpose!r} works: give one with --corpus-dialects", IN_TEXT
    NO_WRONG_TEXT = "the suite knows no text that is not a query of {dialect}: give one with --corpus-dialects", IN_TEXT
    LINKS_ONCE = "the probe query 'links' must give a record for each edge: change it in --corpus-dialects", IN_TEXT

    def reason(self, **values: object) -> str:
        """Return the text with its placeholders filled in."""
        return self.text.format(**values)


@cache
def _pattern(obstacle: Obstacle) -> re.Pattern[str]:
    parts = Formatter().parse(obstacle.text)
    return re.compile("".join(re.escape(text) + ("" if name is None else ".*") for text, name, *_ in parts), re.DOTALL)


@cache
def _sorted_obstacles() -> list[Obstacle]:
    """Return the obstacles in the order in which they are compared: the most specific texts first."""
    return sorted(Obstacle, key=lambda each: -sum(len(text) for text, *_ in Formatter().parse(each.text)))


def obstacle_of(reason: str) -> Obstacle | None:
    """Return the obstacle whose text matches a reason in a report; None if this version does not know the reason."""
    return next((each for each in _sorted_obstacles() if _pattern(each).fullmatch(reason)), None)


def remedy_for(reason: str) -> str:
    """Return the advice that makes a requirement assessable; empty if the reason already contains it."""
    known = obstacle_of(reason)
    return AGAIN if known is None else known.remedy


def with_remedy(reason: str) -> str:
    """Return a reason followed by its remedy."""
    advice = remedy_for(reason)
    return f"{reason}; to assess it, {advice}" if advice else reason
