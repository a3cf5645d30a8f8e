"""Names of the data in pytest's reports and in the messages between xdist's processes."""

from typing import Any

RECORD = "corpus"
"""The name of three things: a test's record in user properties, the components in a worker's input, and the ledgers
in a worker's output.
"""

LATE = "corpus_late"  # user property: a component, and the seconds until its writes become visible
STATUS = "corpus_status"  # user property with the status of a test
CHANNEL = "corpus_channel"  # worker input: the channel to the stores of bundles
FACTS = "corpus_facts"  # worker input: the channel to the facts that workers share
TRANSCRIPT = "corpus_transcript"  # user property with the lines of a test's transcript; also in a worker's output
RUN = "corpus_run"  # worker input: the id of the run
BUDGET = "corpus_budget"  # worker input: the worker's share of the budget
REORDERED = "corpus_reordered"  # worker input: True if long tests are moved to the front
USAGE_ERROR = "corpus_usage_error"
"""Attribute of a collection report, and key in a worker's output: True if a declaration cannot be tested."""


def values_of(report: Any, name: str) -> list[Any]:
    """Return the values of a report's user properties with this name; empty if the report has no user properties."""
    return [each[1] for each in getattr(report, "user_properties", None) or () if _key_of(each) == name]


def remove(holder: Any, *names: str) -> None:
    """Remove the user properties with these names from a report or an item."""
    if any(values_of(holder, name) for name in names):
        holder.user_properties[:] = [each for each in holder.user_properties if _key_of(each) not in names]


def _key_of(each: Any) -> object:
    """Return the first element of a pair; None if the value is not a pair."""
    return each[0] if isinstance(each, (tuple, list)) and len(each) == 2 else None
