"""The order in which to repair violations: MUSTs first, and those first that block most."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pytest_corpus.reports.text import count
from pytest_corpus.spec.requirements import Requirement
from pytest_corpus.verdict.verdict import Status, Verdict


@dataclass(frozen=True, slots=True)
class Violated:
    """A requirement that is violated, in one component or in several.

    `blocked` is how many others it keeps from being assessed, `failed` how many tests found it broken.
    """

    requirement: Requirement
    components: tuple[str, ...]
    blocked: int
    failed: int

    def __str__(self) -> str:
        why = f"blocks {count(self.blocked, 'other')}" if self.blocked else f"fails {count(self.failed, 'test')}"
        where = f" ({', '.join(self.components)})" if len(self.components) > 1 else ""
        return f"{self.requirement.id}{where} {why}: {self.requirement.text}"


def violations(verdict: Verdict) -> list[Status]:
    """Every violation, in the order of repair; what is alike stays in the order of the catalogue."""
    blocks = {part.component: blocked(part.statuses) for part in verdict.components}

    def key(status: Status) -> tuple[bool, int, int]:
        number = blocks[status.component][status.requirement.id]
        return status.requirement.level != "MUST", -number, -failed(status)[0]

    return sorted(verdict.of_status("violated"), key=key)


def ranked(verdict: Verdict) -> list[Violated]:
    """The MUSTs that are violated, one each for all components, in the order of repair."""
    blocks: Counter[str] = Counter()
    fails: Counter[str] = Counter()
    found: dict[str, tuple[Requirement, list[str]]] = {}
    for part in verdict.components:
        blocks.update(blocked(part.statuses))
    for status in violations(verdict):
        if status.requirement.level == "MUST":
            fails[status.requirement.id] += failed(status)[0] or 1
            found.setdefault(status.requirement.id, (status.requirement, []))[1].append(status.component)
    every = [Violated(entry, tuple(where), blocks[name], fails[name]) for name, (entry, where) in found.items()]
    return sorted(every, key=lambda each: (-each.blocked, -each.failed))


def blocked(statuses: Iterable[Status]) -> Counter[str]:
    """The number of requirements that each one blocks, the most first."""
    found = Counter(by for status in statuses for by in status.blocked_by)
    return Counter(dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))))


def failed(status: Status) -> tuple[int, int]:
    """The number of its own tests that found it violated, and of those that checked it."""
    looked = [record for record in status.tests if record.outcome in ("satisfied", "violated")]
    broken = [
        record for record in looked if any(finding.requirement == status.requirement.id for finding in record.findings)
    ]
    return len(broken), len(looked)
