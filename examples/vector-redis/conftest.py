"""Declares the adapter: `pytest` runs the conformance suite."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

from vector_redis import factory


def pytest_configure(config: pytest.Config) -> None:
    """Without `REDIS_URL`, start a Redis in a temporary folder, and end it with the run."""
    if "REDIS_URL" in os.environ:  # workers inherit the variable from the process that started them
        return
    if shutil.which("redis-server") is None:
        raise pytest.UsageError("redis-server is not installed; install it, or name a server with REDIS_URL")
    folder = tempfile.mkdtemp()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"--dir": folder, "--bind": "127.0.0.1", "--port": str(port), "--save": "", "--logfile": "redis.log"}
    server = subprocess.Popen(["redis-server", *(word for setting in settings.items() for word in setting)])
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    config.add_cleanup(lambda: (server.terminate(), server.wait(10)))
    limit = time.monotonic() + 10
    while not answers(port):
        if server.poll() is not None or time.monotonic() > limit:
            raise pytest.UsageError("redis-server does not start; start one yourself, and name it with REDIS_URL")
        time.sleep(0.05)
    os.environ["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


def pytest_corpus_adapter() -> object:
    return factory
