"""The commands of `pytest-corpus`, a module each: `SUMMARY`, `arguments(parser)` and `run(given) -> int`."""

COMMANDS = ("init", "verify", "sweep", "serve", "schema", "stream", "golden", "bundle", "report", "list", "explain")
"""The commands, in the order in which `--help` shows them; each is a module of this package."""

FINE, FINDINGS, USAGE = 0, 1, 2
"""The exit codes of every command."""

INTERRUPTED, NO_READER = 130, 141
"""Those of one that was stopped with Ctrl-C, and of one whose output nobody reads any more, as shells have it."""


class CommandError(Exception):
    """What was asked for cannot be done: one sentence that says what is wrong, where, and what to do."""
