"""The commands of `pytest-corpus`. Each module has `arguments(parser)` and `run(given) -> int`, the exit code.

Instead of `run`, a command may have one such function for each of its actions. The functions raise a `PlainError` if
they cannot do what was requested.
"""

from pytest_corpus.text.problems import PlainError

COMMANDS = {
    "init": "write an adapter repository to start from",
    "verify": "run the conformance suite against an adapter",
    "watch": "run what is open again whenever the adapter changes",
    "judge": "judge a recorded run again, without the adapter",
    "replay": "send the requests of recorded findings again",
    "audit": "find violations in recorded traffic, without a verdict",
    "sweep": "delete what earlier runs left in an adapter's store",
    "serve": "put a Python adapter behind HTTP, WebSocket, gRPC or stdio",
    "schema": "schemas: list, stats, show, lint; check messages against them",
    "stream": "streams: check the frames of a file or of stdin",
    "golden": "golden messages: check, show, generate, diff",
    "bundle": "behaviour bundles: init, check, run, combine, diff",
    "report": "reports: merge, combine, diff, sign, check, badge, render",
    "site": "a static site over many attestations",
    "edition": "editions of the requirements: list, diff",
    "list": "requirements: id, level, sentence",
    "explain": "a requirement, ruling or operation, with an example",
    "docs": "the documentation: pages, operations, requirements, a search",
    "completion": "completion of this command line by a shell",
}
"""The summary of each command, in the order of `--help`."""

FINE, FINDINGS, USAGE = 0, 1, 2  # the exit codes of every command
INTERRUPTED, NO_READER = 130, 141
"""The exit codes after Ctrl-C, and after the program that reads the output closed the pipe; as in shells."""


class CommandError(PlainError):
    """A request that cannot be fulfilled. The message says in one sentence what is wrong, where, and what to do."""
