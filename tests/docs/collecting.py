"""Collects what each of some pytest command lines means, in one process; run as a script, with JSON on stdin."""

import contextlib
import io
import json
import sys

import pytest


def main() -> None:
    """Read lists of arguments; write for each the exit code and what pytest said."""
    ended = []
    for arguments in json.load(sys.stdin):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            code = pytest.main(["-p", "no:cacheprovider", "-p", "no:asyncio", "-p", "no:randomly", "--co", *arguments])
        ended.append((int(code), out.getvalue()[-600:]))
    json.dump(ended, sys.stdout)


if __name__ == "__main__":
    main()
