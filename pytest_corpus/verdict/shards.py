"""Shards: runs that each execute one part of the suite of an adapter."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_corpus.spec.components import COMPONENTS, WIRE

MOST_SHARDS = 20  # the most shards of a suite; a bundle may have more
_WRITTEN = re.compile(r"(?P<number>[0-9]{1,3})/(?P<of>[0-9]{1,3})")


@dataclass(frozen=True, slots=True)
class Shard:
    """The shard `number` of `of`, from 1 on."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def gap(self) -> str:
        """The reason why a run of it is partial."""
        return f"only shard {self.number} of {self.of} was to run"

    def tests(self, suites: Mapping[str, Sequence[str]]) -> frozenset[tuple[str, str]]:
        """Its tests as (component, test), of the tests that each component's suite has, in their order.

        The cuts keep the order of tests, so that chapters stay together as far as possible, because their tests share
        cached answers; the parameters of a test always stay together.
        """
        every = [(name, test) for name in (*COMPONENTS, *WIRE) for test in suites.get(name, ())]
        groups = [list(group) for _, group in groupby(every, key=lambda pair: (pair[0], pair[1].partition("[")[0]))]
        ends = _ends([len(group) for group in groups], self.of)
        own = groups[ends[self.number - 1] : ends[self.number]]
        return frozenset(pair for group in own for pair in group)


def parse(text: str, most: int = MOST_SHARDS) -> Shard:
    """The shard that a text such as ``2/5`` names, of at most `most`.

    Raises:
        ValueError: it names none; says what to write.
    """
    found = _WRITTEN.fullmatch(text.strip())
    shard = Shard(int(found["number"]), int(found["of"])) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.of <= most:
        raise ValueError(f"write NUMBER/OF, such as 2/5: which shard, from 1 on, of how many (at most {most})")
    return shard


def _ends(sizes: Sequence[int], parts: int) -> list[int]:
    """The end of each part, in groups: parts of about the same size, none empty if possible."""
    ends, total, so_far = [0], sum(sizes), 0
    starts = []
    for size in sizes:
        starts.append(so_far)
        so_far += size
    for part in range(1, parts):
        wanted = next((at for at, start in enumerate(starts) if start * parts >= part * total), len(sizes))
        ends.append(max(ends[-1], min(max(ends[-1] + 1, wanted), len(sizes) - (parts - part))))
    return [*ends, len(sizes)]
