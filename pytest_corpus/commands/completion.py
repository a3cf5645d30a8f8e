"""`pytest-corpus completion SHELL`: print a script with which a shell completes commands, actions and options."""

import argparse
import importlib.util
import sys

from pytest_corpus.commands import FINE, CommandError

SHELLS = ("bash", "zsh", "fish", "tcsh")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))
    parser.epilog = 'In bash, for example: eval "$(pytest-corpus completion bash)"'


def run(given: argparse.Namespace) -> int:
    """Print the script."""
    if importlib.util.find_spec("shtab") is None:
        raise CommandError("this needs shtab: pip install 'pytest-corpus[completion]'")
    import shtab

    sys.stdout.write(shtab.complete(given.whole, shell=given.shell) + "\n")
    return FINE
