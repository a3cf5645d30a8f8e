"""Lets a test begin the work of the next one."""

import pytest

NEXT = pytest.StashKey[pytest.Item | None]()
"""On an item: the one that comes after it."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    item.stash[NEXT] = nextitem
