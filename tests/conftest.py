"""What all of the project's own tests share."""

import os
import signal

import hypothesis
import pytest

from pytest_corpus.integration.collecting import collection_hooks

pytest_plugins = ["pytester"]

collect_ignore = ["question-answering"]  # a bundle that tests read, and that asks a provider

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script; processes would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # many processes import the same


def pytest_configure(config: pytest.Config) -> None:
    """Generated cases have no deadline: how long one takes says more about the machine than about us."""
    hypothesis.settings.register_profile("patient", deadline=None)
    hypothesis.settings.load_profile("patient")
    collection_hooks.register(config)  # tests import modules of the suite
