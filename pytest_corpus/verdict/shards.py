"""Shards: runs that each execute one part of an adapter's suite."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_corpus.spec.components import COMPONENTS, WIRE

MOST_SHARDS = 20  # the most shards of a suite; a bundle may have more
_WRITTEN = re.compile(r"(?P<number>[0-9]{1,3})/(?P<of>[0-9]{1,3})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `number` (from 1) of a run that is divided into `of` parts."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def gap(self) -> str:
        """The reason why a run of this shard is partial."""
        return f"only shard {self.number} of {self.of} was to run"

    def tests(self, suites: Mapping[str, Sequence[str]]) -> frozenset[tuple[str, str]]:
        """Return the tests of this shard as (component, test), from the ordered tests of each component's suite.

        The order of tests is kept. Chapters stay together if possible, because their tests share cached answers; the
        parameters of a test always stay together.
        """
        every = [(name, test) for name in (*COMPONENTS, *WIRE) for test in suites.get(name, ())]
        groups = [list(group) for _, group in groupby(every, key=lambda pair: (pair[0], pair[1].partition("[")[0]))]
        ends = _split_points([len(group) for group in groups], self.of)
        own = groups[ends[self.number - 1] : ends[self.number]]
        return frozenset(pair for group in own for pair in group)


def parse(text: str, most: int = MOST_SHARDS) -> Shard:
    """Parse a shard such as ``2/5``, with at most `most` shards.

    Raises:
        ValueError: the text is not a shard. The message shows the correct form.
    """
    found = _WRITTEN.fullmatch(text.strip())
    shard = Shard(int(found["number"]), int(found["of"])) if found else Shard(0, 0)
    if not 1 <= shard.number <= shard.of <= most:
        raise ValueError(f"write NUMBER/OF, such as 2/5: which shard, from 1 on, of how many (at most {most})")
    return shard


def _split_points(sizes: Sequence[int], parts: int) -> list[int]:
    """Return the start of each part and the end of the last. Parts have similar sizes; none is empty if possible."""
    ends, total, so_far = [0], sum(sizes), 0
    starts = []
    for size in sizes:
        starts.append(so_far)
        so_far += size
    for part in range(1, parts):
        wanted = next((at for at, start in enumerate(starts) if start * parts >= part * total), len(sizes))
        ends.append(max(ends[-1], min(max(ends[-1] + 1, wanted), len(sizes) - (parts - part))))
    return [*ends, len(sizes)]
