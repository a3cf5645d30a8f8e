"""Keys of the data in pytest's reports and between the processes of xdist."""

from typing import Any

RECORD = "corpus"
"""User property with the record of a test; also a worker's account of its tests, and the components chosen for it."""

LATE = "corpus_late"  # user property with the component and the seconds after which its writes show
STATUS = "corpus_status"  # user property with the status of a test
CHANNEL = "corpus_channel"  # worker input: the channel on which a worker asks for cases of bundles
TRANSCRIPT = "corpus_transcript"  # user property with what a test recorded; also a worker's last lines
RUN = "corpus_run"  # worker input: the id of the run
BUDGET = "corpus_budget"  # worker input: the worker's share of the budget
REORDERED = "corpus_reordered"  # worker input: long tests go first
USAGE_ERROR = "corpus_usage_error"
"""Attribute of a collection report, and part of a worker's account: a declaration cannot be tested."""


def values_of(report: Any, name: str) -> list[Any]:
    """Return the values of user properties with a name; a report of another plugin may have no properties."""
    return [each[1] for each in getattr(report, "user_properties", None) or () if _key_of(each) == name]


def remove(holder: Any, *names: str) -> None:
    """Remove user properties with some names from a report or an item."""
    if any(values_of(holder, name) for name in names):
        holder.user_properties[:] = [each for each in holder.user_properties if _key_of(each) not in names]


def _key_of(each: Any) -> object:
    """Return the key of a pair; None if the value is not a pair."""
    return each[0] if isinstance(each, (tuple, list)) and len(each) == 2 else None
