"""Declared deviations: requirements that an adapter is known to violate at present (BEHAVIORAL_CONFORMANCE 10).

[[deviation]]
requirement = "LLM-STREAM-3"
adapter = "mypkg:*"          # optional: a glob over the adapter's name; without it, any adapter
reason = "The provider sends an empty first chunk."
removal_plan = "Drop the chunk in the client, release 2.1."
issue = "https://example.org/issues/12"   # optional
expires = 2027-03-31         # the last day on which it counts
"""

import tomllib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from pytest_corpus.spec.requirements import catalogue, nearest_ids
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import write_atomically

FILE = "corpus-deviations.toml"  # the default path of the file of deviations
LARGEST = 2**20  # bytes of the file
TABLE = "deviation"
TODO = "TODO"  # the first word of a reason or plan that is still to be written; such an entry does not count
GRACE = timedelta(days=90)  # the duration of a drafted deviation


class DeviationError(Exception):
    """A file of deviations that cannot be used. One sentence names the entry and the mistake."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """An entry of the file; `expires` is the last day (UTC) on which it counts."""

    requirement: str
    reason: str
    removal_plan: str
    expires: date
    adapter: str = "*"
    issue: str = ""

    def covers(self, requirement: str, adapter: str) -> bool:
        """True if the deviation applies to a requirement of an adapter, by the adapter's name in the run."""
        return self.requirement == requirement and fnmatchcase(adapter, self.adapter)

    def has_expired(self, today: date) -> bool:
        """True if the last day of the deviation has passed."""
        return today > self.expires

    def document(self) -> dict[str, str]:
        """Return the deviation in the form of reports."""
        found = {
            "reason": self.reason,
            "removal_plan": self.removal_plan,
            "expires": self.expires.isoformat(),
            "adapter": self.adapter,
        }
        return {**found, "issue": self.issue} if self.issue else found


def today() -> date:
    """Return the current day in UTC."""
    return datetime.now(UTC).date()


def read(path: Path, *, drafting: bool = False) -> tuple[Deviation, ...]:
    """Read the deviations in a file; with `drafting`, incomplete entries are skipped.

    Raises:
        DeviationError: the file cannot be read, is not TOML, or an entry is incomplete.
    """
    entries = []
    for number, raw in enumerate(_read_entries(path), start=1):
        texts = (raw.get("reason"), raw.get("removal_plan")) if isinstance(raw, dict) else ()
        if not (drafting and any(map(_is_unwritten, texts))):
            entries.append(_parse_entry(number, raw))
    taken: set[tuple[str, str]] = set()
    for entry in entries:
        if (entry.requirement, entry.adapter) in taken:
            raise DeviationError(f"{entry.requirement} is declared twice for the adapter {entry.adapter!r}")
        taken.add((entry.requirement, entry.adapter))
    return tuple(entries)


def _read_entries(path: Path) -> list[Any]:
    try:
        document = tomllib.loads(bounded.read_contents(path, LARGEST).decode("utf-8"))
    except bounded.FileRefused as error:
        raise DeviationError(error.why) from None
    except UnicodeDecodeError as error:
        raise DeviationError(f"it is not UTF-8 (byte {error.start})") from None
    except ValueError as error:
        raise DeviationError(f"it is not TOML: {error}") from None
    except RecursionError:
        raise DeviationError("it is not TOML of this kind: it is nested too deep") from None
    unknown = sorted(set(document) - {TABLE})
    if unknown:
        raise DeviationError(f"there is no key {unknown[0]!r}; declare each deviation as a table [[{TABLE}]]")
    found = document.get(TABLE, [])
    if not isinstance(found, list):
        raise DeviationError(f"declare each deviation as [[{TABLE}]], with double brackets")
    return found


def _parse_entry(number: int, raw: Any) -> Deviation:
    named = raw.get("requirement") if isinstance(raw, dict) else None
    where = f"entry {number}" + (f" ({named})" if isinstance(named, str) else "")
    if not isinstance(raw, dict):
        raise DeviationError(f"{where} is not a table")
    known = {field.name for field in fields(Deviation)}
    for key in raw:
        if key not in known:
            raise DeviationError(f"{where} has an unknown key {key!r}; use {', '.join(sorted(known))}")
    texts = {key: _required_text(where, raw, key) for key in ("requirement", "reason", "removal_plan")}
    texts |= {key: _required_text(where, raw, key) for key in ("adapter", "issue") if key in raw}
    if texts["requirement"] not in catalogue():
        near = nearest_ids(texts["requirement"])
        hint = f"did you mean {' or '.join(near)}?" if near else "pytest-corpus list shows them all"
        raise DeviationError(f"{where}: there is no requirement {texts['requirement']!r}; {hint}")
    return Deviation(**texts, expires=_parse_day(where, raw))


def _is_unwritten(value: Any) -> bool:
    return isinstance(value, str) and value.strip().upper().startswith(TODO)


def _required_text(where: str, raw: dict[str, Any], key: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str) or not value.strip():
        raise DeviationError(f"{where} has no {key!r}; say it in a string")
    if key != "adapter" and _is_unwritten(value):  # "todo" is a possible name of an adapter
        raise DeviationError(f"{where} has a {key!r} that is still to be written: {value.strip()[:60]!r}")
    return value.strip()


def _parse_day(where: str, raw: dict[str, Any]) -> date:
    value = raw.get("expires")
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, datetime):
        value = value.date()
    if not isinstance(value, date):
        raise DeviationError(f"{where} has no 'expires'; give the last day on which it counts, such as 2027-03-31")
    return value


def draft(violated: Iterable[tuple[str, str]], day: date) -> str:
    """Return TOML entries for (requirement, adapter) pairs. They do not count until a person completes them."""
    entries = [
        f"[[{TABLE}]]\n"
        f"requirement = {_quote(requirement)}\n"
        f"adapter = {_quote(''.join(f'[{char}]' if char in '*?[' else char for char in adapter))}\n"
        f'reason = "{TODO}: say why the adapter does not keep it"\n'
        f'removal_plan = "{TODO}: say what will be done, and in which release"\n'
        f"expires = {(day + GRACE).isoformat()}\n"
        for requirement, adapter in sorted(set(violated))
    ]
    return "\n".join(entries)


def _quote(text: str) -> str:
    safe = "".join(char if char.isprintable() and char not in '"\\' else f"\\U{ord(char):08X}" for char in text)
    return f'"{safe}"'


def append(path: Path, violated: Collection[tuple[str, str]], day: date) -> int:
    """Add entries for violations that the file does not contain; return the number of new entries.

    Raises:
        OSError: the file cannot be read or written.
    """
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    named = [
        (str(raw.get("requirement")), str(raw.get("adapter", "*"))) for raw in tomllib.loads(before).get(TABLE, [])
    ]
    new = [
        (requirement, adapter)
        for requirement, adapter in violated
        if not any(requirement == known and fnmatchcase(adapter, glob) for known, glob in named)
    ]
    if not new:
        return 0
    text = "\n".join(part for part in (before.rstrip("\n") + "\n" if before.strip() else "", draft(new, day)) if part)
    write_atomically(text, path)
    return len(new)
