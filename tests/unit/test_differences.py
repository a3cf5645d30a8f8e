"""Findings on a store name what is missing or too many, and answers show the names of the suite."""

import json

import pytest

from pytest_corpus.kit.outcomes import difference
from pytest_corpus.redaction import show_content

OWN = "corpusrunabcdefghij012"


@pytest.mark.parametrize(
    ("wanted", "found", "said"),
    [
        ([OWN], [], f"1 ({OWN}) missing, 0 too many"),
        (["n1", "n2"], ["n2", "n2"], "1 (n1) missing, 1 (n2) too many"),
        ([], ["a secret", f"v-{OWN}-a-7"], f"0 missing, 2 (v-{OWN}-a-7, ...) too many"),
        ([], ["a secret", 7, {"a": 1}], "0 missing, 3 too many"),
        ([], [*"abc"], "0 missing, 3 (a, b, ...) too many"),
    ],
)
def test_what_is_missing_and_too_many(wanted: list[object], found: list[object], said: str) -> None:
    """Names that an adapter chose are counted and not shown."""
    assert difference(wanted, found) == said


def test_names_of_the_suite_are_shown_in_answers() -> None:
    """Wherever they stand; a planted text and what looks like a credential are masked."""
    named = {"id": f"{OWN}-b", "key": f"k-{OWN}-b", "namespace": f"{OWN}A", "t": OWN}
    answer = {**named, "by": "sk-x9Jq2LmPz8RtVwYb3Nc5Kd7F", "note": "planted text 481"}
    shown = json.loads(show_content(answer, ["planted text 481"], 1000, foreign=True))
    assert shown == {**named, "by": "***", "note": "***"}
