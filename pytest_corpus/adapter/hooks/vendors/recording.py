"""The recording of the traffic through proxies: a file that is read once, and extended by each answer (R149).

Method, address, query and body identify a request; the n-th of equal requests gets the n-th answer. Headers of
requests are not kept. Headers of answers are kept, except those that may hold credentials.
"""

from __future__ import annotations

import base64
import hashlib
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.kept_answers import Secrets, describe_missing_answer, key_of, may_ask
from pytest_corpus.redaction import STARS
from pytest_corpus.text import bounded
from pytest_corpus.text.problems import PlainError
from pytest_corpus.text.strict_json import NOT_PLAIN, read_plainly
from pytest_corpus.validation.sealed_lines import Kind, Writer, dumps, read_sealed_lines

FORMAT = "1.0"
OPTION = "--corpus-record"
SCHEMA = "transcript/recording"
MOST_LINES = 150_000
SPEEDS = ("real", "instant")
OLD_DAYS = 90
"""Reports mention a recording that is older than this number of days."""

Ending = Literal["whole", "cut", "abandoned"]
"""The end of an answer: it is complete (`whole`), the connection broke (`cut`), or the client left (`abandoned`)."""

_SECRET = re.compile(r"auth|cookie|key|token|secret|passw|credential|session|organi[sz]ation|account", re.IGNORECASE)
_LIMITS = re.compile(r"(x|anthropic)-ratelimit-", re.IGNORECASE)
"""Headers about rate limits. They hold no secret, although some of their names contain `token`."""

_CREDENTIALS = re.compile(r"auth|cookie|key|token|secret|passw|credential", re.IGNORECASE)
_WORD = re.compile(r"[^\s;,=]+")


class RecordingError(PlainError, ValueError):
    """The error for a recording that cannot be used: a sentence with the reason and the place."""


FILE = Kind("recording", ("header", "exchange", "end"), MOST_LINES, RecordingError)


@dataclass(slots=True)
class KeptAnswer:
    """An answer of the provider: status, headers and parts. If the client left early, status and headers are absent.

    Attributes:
        at_ms: the time of the headers, in milliseconds since the request.
        parts: the parts of the body, each with its time.
        took_ms: the time of the end of the answer.
    """

    status: int | None = None
    reason: str | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)
    at_ms: float = 0.0
    parts: list[tuple[float, bytes]] = field(default_factory=list)
    ending: Ending = "abandoned"
    took_ms: float = 0.0

    def progress(self) -> tuple[bool, int, float]:
        """Return a value that grows with each part of the answer that arrives."""
        return self.status is not None, len(self.parts), self.took_ms

    def is_as_long_as_stated(self, method: str) -> bool:
        """True if the kept body has the stated length. Otherwise a client would wait or misread the next answer."""
        stated = [value for name, value in self.headers if name.lower() == "content-length"]
        if not stated or self.ending != "whole" or method == "HEAD" or self.status in (204, 304):
            return True
        return stated == [str(sum(len(part) for _, part in self.parts))]


class ProviderExchange:
    """A request that passes through a proxy, with its kept answer, or with the answer that is being recorded.

    Attributes:
        kept: the answer to replay; None if the request goes to the provider.
    """

    def __init__(self, recording: Recording, asked: dict[str, Any], number: int, kept: KeptAnswer | None) -> None:
        self.kept = kept
        self._recording, self._asked, self._number = recording, asked, number
        self._answer = KeptAnswer()
        self._begun = time.monotonic()

    @property
    def _ms(self) -> float:
        return round((time.monotonic() - self._begun) * 1000, 1)

    def begin(self, status: int, reason: str | None, headers: Iterable[tuple[str, str]]) -> None:
        """Record the status and the headers of the provider's answer."""
        kept = [(name, value) for name, value in headers if _LIMITS.match(name) or not _SECRET.search(name)]
        self._answer.status, self._answer.reason, self._answer.headers = status, reason, kept
        self._answer.at_ms = self._ms

    def add(self, part: bytes) -> None:
        """Record a part of the answer."""
        self._answer.parts.append((self._ms, part))

    def end(self, ending: Ending) -> None:
        """Record the end of the answer."""
        self._answer.ending, self._answer.took_ms = ending, self._ms

    def missing_answer_error(self) -> MissingAnswer:
        """Return the error for a client that waits longer than the recorded client, which gave up."""
        named, kept = _describe_address(self._asked), self.kept or self._answer
        why = f"the request {named} was given up after {kept.took_ms / 1000:.1f} s when it was recorded"
        return MissingAnswer(describe_missing_answer(OPTION, self._recording.mode, {}, None, why))

    def keep(self) -> None:
        """Write the noted answer to the file, also if the client left before its end."""
        self._answer.took_ms = self._answer.took_ms or self._ms
        self._recording.write(self._asked, self._number, self._answer)


class Recording:
    """The answers that the proxies of a run record or replay.

    Attributes:
        run: the id of the recorded run, which the recorded prompts contain; None if this run begins the recording.
        plays: True if no request goes to the provider.
        is_instant: True if answers are replayed without their delays.
        replayed: the number of replayed answers.
        failed: a sentence about a file that could not be written, or empty.
    """

    def __init__(
        self, path: Path, mode: str, environment: Mapping[str, str], *, seed: int = 0, is_instant: bool = False
    ) -> None:
        self.path, self.mode, self.seed, self.is_instant = path, mode, seed, is_instant
        self.run: str | None = None
        self.replayed, self.recorded, self.failed = 0, 0, ""
        self._secrets = Secrets(environment)
        self._lock = threading.Lock()
        self._kept: dict[str, dict[int, KeptAnswer]] = defaultdict(dict)
        self._asked: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self._lines: list[dict[str, Any]] = []
        self._arrived: Counter[str] = Counter()
        self._writer: Writer | None = None
        self._header: dict[str, Any] = {}
        self._sha256 = ""
        exists = mode != "all" and path.exists()
        if exists or mode == "none":
            self._read_file()
        self.plays = not may_ask(mode, is_first=not exists)

    # -- the file ----------------------------------------------------------------------------------------

    def _read_file(self) -> None:
        """Read the file. Raises RecordingError, FileRefused."""
        digest, is_whole = hashlib.sha256(), False
        for line in read_sealed_lines(self.path, FILE, digest.update):
            line.check(SCHEMA, line.kind.title())
            if (line.kind == "header") is bool(self._header) or is_whole:
                raise line.refusal("not the place of such a line" if self._header else "not the header of a recording")
            if line.kind == "header":
                self._header, self.run = line.members, line.members["run"]
                if _parse_day(line.members["recorded_at"]) is None:
                    raise line.refusal("it states a day that does not exist")
            elif line.kind == "exchange":
                self._take_line(line.members, line.refusal)
            else:
                line.check_seal()
                is_whole = True
        if not self._header:
            raise RecordingError(f"{self.path.name}: empty, not a recording")
        if not is_whole and self.mode != "new":
            raise RecordingError(f"{self.path.name}: it was cut off; {OPTION}=new records what is missing")
        if self._header["seed"] != self.seed and self.mode != "new":
            recorded = self._header["seed"]
            raise RecordingError(f"{self.path.name}: it was recorded with --corpus-seed={recorded}; use that seed")
        self._sha256 = digest.hexdigest()

    def _take_line(self, line: Mapping[str, Any], refused: Any) -> None:
        asked = line["request"]
        key, number, answer = key_of(asked), line["number"], line["answer"]
        if number in self._kept[key]:
            raise refused("a second answer to the same request")
        parts = [(ms, _decode_bytes(part)) for ms, part in answer["parts"]]
        self._kept[key][number] = found = KeptAnswer(
            answer.get("status"),
            answer.get("reason"),
            [(name, value) for name, value in answer.get("headers", ())],
            answer.get("ms", 0.0),
            parts,
            answer["ending"],
            answer["took_ms"],
        )
        if not found.is_as_long_as_stated(asked["method"]):
            raise refused("its headers state another length than it has")
        self._asked[_describe_address(asked)].append(asked)
        if self.mode == "new":
            self._lines.append({name: value for name, value in line.items() if name != "n"})

    def write(self, asked: Mapping[str, Any], number: int, answer: KeptAnswer) -> None:
        """Write an answer to the file, with secrets masked. An answer that is compressed or unreadable is left out."""
        if any(name.lower() == "content-encoding" for name, _ in answer.headers):
            return
        whole, parts, at = self._secrets.mask_bytes(b"".join(part for _, part in answer.parts)), [], 0
        for ms, part in answer.parts:
            parts.append([ms, _encode_bytes(whole[at : at + len(part)])])
            at += len(part)
        found: dict[str, Any] = {"ms": answer.at_ms, "parts": parts, "ending": answer.ending, "took_ms": answer.took_ms}
        if answer.status is not None:
            headers = [[name, self._secrets.mask_value(value)] for name, value in answer.headers]
            found |= {"status": answer.status, "reason": answer.reason or "", "headers": headers}
        line = {"kind": "exchange", "number": number, "request": asked, "answer": found}
        with self._lock:
            if not self.failed and _is_same_when_read(line):
                self._write_line(line)

    def _write_line(self, line: dict[str, Any]) -> None:
        try:
            if self._writer is None:
                self._writer = Writer(self.path)
                for each in (self._header or self._header_line(), *self._lines):
                    self._writer.write({name: value for name, value in each.items() if name != "n"})
            self._writer.write(line)
            self.recorded += 1
        except OSError as error:
            self.failed = f"recording: {self.path} could not be written: {error.strerror}"

    def _header_line(self) -> dict[str, Any]:
        started = datetime.now(UTC).isoformat(timespec="seconds")
        return {"kind": "header", "format": FORMAT, "content": "provider", "run": self.run or "", "seed": self.seed,
                "recorded_at": started}  # fmt: skip

    def close(self) -> None:
        """Write the last line."""
        with self._lock:
            if self._writer is not None and not self.failed:
                try:
                    self._writer.close()
                except OSError as error:
                    self.failed = f"recording: {self.path} could not be written: {error.strerror}"

    # -- requests ----------------------------------------------------------------------------------------

    def exchange(
        self, method: str, url: str, headers: Mapping[str, str], data: bytes, *, is_stateless: bool = False
    ) -> ProviderExchange:
        """Return the exchange for a request to the provider. A stateless request may be sent more often than it was
        recorded.

        Raises:
            MissingAnswer: no answer is recorded, and the request may not be sent.
        """
        self._secrets.learn(_credentials(headers, url))
        address, _, query = url.partition("?")
        asked = self._secrets.mask_value(
            {"method": method, "url": address, "query": _drop_credentials(query), "body": _body(data)}
        )
        key = key_of(asked)
        with self._lock:
            self._arrived[key] += 1
            number = self._arrived[key]
            known = self._kept.get(key, {})
            kept = _nth_answer(known, number, is_stateless) if self.plays else known.get(number)
            if kept is None and self.plays:
                raise self._missing_answer_error(asked, len(known))
            self.replayed += kept is not None
        return ProviderExchange(self, asked, number, kept)

    def _missing_answer_error(self, asked: dict[str, Any], known: int) -> MissingAnswer:
        named = _describe_address(asked)
        if known:
            why = f"the request {named} was recorded {known} times in this form, and is sent once more"
            return MissingAnswer(describe_missing_answer(OPTION, self.mode, {}, None, why))
        members = _members(asked)
        others = [_members(each) for each in self._asked.get(named, ())]
        nearest = max(others, key=lambda each: sum(members.get(name) == each[name] for name in each), default=None)
        return MissingAnswer(
            describe_missing_answer(OPTION, self.mode, members, nearest, f"the request {named} is not recorded")
        )

    # -- what reports say --------------------------------------------------------------------------------

    @property
    def is_replay(self) -> bool:
        """True if answers of this run come from the recording. The verdict is then about recorded answers."""
        return self.plays or self.replayed > 0

    def __str__(self) -> str:
        """The replayed answers in words: their day, hosts and file."""
        day = _parse_day(self._header["recorded_at"]) if self._header else None
        hosts = sorted({urlsplit(each["url"]).hostname or "" for every in self._asked.values() for each in every})
        return f"recorded {day} from {', '.join(hosts) or 'nowhere'}, sha256 {self._sha256}"


def _nth_answer(known: Mapping[int, KeptAnswer], number: int, is_stateless: bool) -> KeptAnswer | None:
    """Return the n-th answer to equal requests; None if there are fewer, unless the operation is stateless.

    Abandoned answers count only if all are abandoned, because the order of the tests influences which answers are
    abandoned. A stateless operation repeats its last answer, because tests may send more requests on a slow machine.
    """
    answers = [known[each] for each in sorted(known)]
    whole = [each for each in answers if each.ending != "abandoned"] or sorted(answers, key=KeptAnswer.progress)[-1:]
    is_there = number <= len(answers) or (is_stateless and answers)
    return whole[min(number, len(whole)) - 1] if is_there else None


def _parse_day(text: str) -> date | None:
    try:
        return datetime.fromisoformat(text).date()
    except ValueError:
        return None


def notes_on_old_recordings(recorded: Iterable[str], today: str) -> list[str]:
    """Return one sentence for each recording that is too old on the day `today`."""
    found = []
    for sentence in sorted(recorded):
        day, now = _parse_day(sentence.partition(" ")[2][:10]), _parse_day(today[:10])
        if day is not None and now is not None and (now - day).days > OLD_DAYS:
            found.append(f"the provider's answers are older than {OLD_DAYS} days ({day}); {OPTION}=all records anew")
    return found


def _is_same_when_read(line: dict[str, Any]) -> bool:
    """True if the request in a line of a recording stays the same when the line is written and read again."""
    try:
        return key_of(bounded.parse_value(dumps(line).encode())["request"]) == key_of(line["request"])
    except ValueError:
        return False


def _describe_address(asked: Mapping[str, Any]) -> str:
    return f"{asked['method']} {asked['url']}"


def _members(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members of a request and of its body, by name."""
    body = asked["body"].get("json") if asked["body"] else None
    named = {f"body.{name}": value for name, value in body.items()} if isinstance(body, dict) else None
    return {"query": asked["query"], **({"body": asked["body"]} if named is None else named)}


def _body(data: bytes) -> dict[str, Any] | None:
    """Return a request's body: JSON as a value in which 1.0 is 1, other content as text or base64; None if empty."""
    if not data:
        return None
    if (value := read_plainly(data)) is not NOT_PLAIN:
        return {"json": _normalize_numbers(value)}
    text = _encode_bytes(data)
    return {"text": text} if isinstance(text, str) else text


def _normalize_numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {name: _normalize_numbers(each) for name, each in value.items()}
    return [_normalize_numbers(each) for each in value] if isinstance(value, list) else value


def _encode_bytes(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _decode_bytes(part: str | Mapping[str, str]) -> bytes:
    return part.encode("utf-8", "replace") if isinstance(part, str) else base64.b64decode(part["base64"])


def _drop_credentials(query: str) -> str:
    parts = query.split("&")
    return "&".join(
        f"{part.partition('=')[0]}={STARS}" if "=" in part and _CREDENTIALS.search(part.partition("=")[0]) else part
        for part in parts
    )


def _credentials(headers: Mapping[str, str], url: str) -> Iterator[str]:
    """Yield the words of headers and parameters that hold credentials."""
    for name, value in headers.items():
        if _CREDENTIALS.search(name):
            yield value
            yield from _WORD.findall(value)
    for name, value in parse_qsl(url.partition("?")[2]):
        if _CREDENTIALS.search(name):
            yield from {value, unquote_plus(value)}
