"""Records and replays answers (R85): one JSON file per case, sorted, with a hash of each request as the key.

The files contain requests and answers, but no headers and no API keys.
"""

import difflib
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pytest_corpus.adapter import kept_answers
from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.kept_answers import Secrets, may_ask, usual_mode
from pytest_corpus.bundles.providers.protocol import Answer, CompletionRequest
from pytest_corpus.redaction import shorten
from pytest_corpus.text import bounded
from pytest_corpus.text.atomic_write import write_atomically
from pytest_corpus.validation.schema.evidence import first_flaw

MODES = ("off", *kept_answers.MODES)
""""off": cassettes are not used. The other modes are those of `kept_answers`, applied to each case."""

FOLDER = "cassettes"
FORMAT = "1.0"


def mode_of(given: str | None, folder: Path, environment: Mapping[str, str]) -> str:
    """Return the given mode, or the default: `none` in a CI job if the bundle has cassettes, otherwise `off`."""
    return usual_mode(given, environment, "off", exists=any((folder / FOLDER).glob("*.json")))


class Cassettes:
    """The recordings of one bundle."""

    def __init__(self, folder: Path, mode: str, environment: Mapping[str, str] | None = None) -> None:
        self.mode = mode
        self._folder = folder / FOLDER
        self._secrets = Secrets(os.environ if environment is None else environment)
        self._lock = threading.Lock()
        self._recorded: set[tuple[str, str]] = set()

    def replay(self, provider: str, request: CompletionRequest) -> Answer | None:
        """Return the recorded answer; None if the provider must be asked. Raises MissingAnswer if that is forbidden."""
        if self.mode == "all":
            return None
        path = self._path(request.case)
        with self._lock:
            entries = self._read_entries(path)
        key = key_of(provider, request)
        for entry in entries:
            if entry["key"] == key:
                return Answer(**entry["answer"])
        own = any(entry["request"].get("provider") == provider for entry in entries)
        if may_ask(self.mode, is_first=not own or (provider, request.case) in self._recorded):
            return None
        raise self._explain_missing_answer(provider, request, entries)

    def record(self, provider: str, request: CompletionRequest, answer: Answer) -> None:
        """Write the answer to the file of its case. Raises MissingAnswer if the file cannot be written."""
        try:
            self._folder.mkdir(exist_ok=True)
            with _lock_folder(self._folder):
                self._write(provider, request, answer)
        except OSError as error:
            raise MissingAnswer(f"the recording cannot be written to {FOLDER}: {error.strerror}") from None

    def _write(self, provider: str, request: CompletionRequest, answer: Answer) -> None:
        path = self._path(request.case)
        asked = _request_members(provider, request)
        entry = {
            "key": key_of(provider, request),
            **self._secrets.mask_value({"request": asked, "answer": {name: getattr(answer, name) for name in _KEPT}}),
        }
        with self._lock:
            fresh = self.mode == "all" and (provider, request.case) not in self._recorded
            known = [each for each in self._read_entries(path) if each["key"] != entry["key"]]
            kept = [each for each in known if not (fresh and each["request"]["provider"] == provider)]
            self._recorded.add((provider, request.case))
            entries = sorted([*kept, entry], key=_sort_key)
            document = {"format": FORMAT, "case": request.case, "recordings": entries}
            write_atomically(json.dumps(document, sort_keys=True, indent=2) + "\n", path)

    def unused_files(self, cases: Iterable[str]) -> list[str]:
        """Return the names of the files that belong to none of these cases."""
        known = {self._path(case).name for case in cases}
        return sorted(path.name for path in self._folder.glob("*.json") if path.name not in known)

    def _path(self, case: str) -> Path:
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", case)[:60]
        return self._folder / f"{plain}-{hashlib.sha256(case.encode()).hexdigest()[:8]}.json"

    def _read_entries(self, path: Path) -> list[dict[str, Any]]:
        try:
            document = bounded.read_document(path)
            said = first_flaw("bundle/cassette", document)
        except bounded.FileRefused as error:
            if not path.exists():
                return []
            said = error.why
        if said:
            raise MissingAnswer(f"{FOLDER}/{path.name} is not a cassette; remove it ({said})")
        recordings: list[dict[str, Any]] = document["recordings"]
        return recordings

    def _explain_missing_answer(
        self, provider: str, request: CompletionRequest, entries: list[dict[str, Any]]
    ) -> MissingAnswer:
        every = [each["request"] for each in entries]
        own = [each for each in every if each.get("provider") == provider] or every
        asked = _request_members(provider, request)
        nearest = next((each for each in own if each.get("sample") == request.sample), own[0] if own else None)
        said = kept_answers.describe_missing_answer("--corpus-bundle-cassettes", self.mode, asked, nearest)
        if nearest is None:
            return MissingAnswer(said)
        before, now = str(nearest.get("prompt", "")).splitlines(), request.prompt.splitlines()
        lines = difflib.unified_diff(before, now, "recorded", "asked now", lineterm="")
        return MissingAnswer(said, "\n    ".join((said, *(shorten(line, 200) for line in lines))))


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for writing, because several providers and workers write the files of the same cases."""
    with _WRITING:
        if os.name == "nt":  # no flock; recording works in one process only
            yield
            return
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


_WRITING = threading.Lock()


def _sort_key(entry: Mapping[str, Any]) -> tuple[str, int, str]:
    return entry["request"]["provider"], entry["request"]["sample"], entry["key"]


def key_of(provider: str, request: CompletionRequest) -> str:
    """Return the key of a recording: a hash of everything in the request that can influence the answer."""
    return kept_answers.key_of(_request_members(provider, request))


_ASKED = ("model", "prompt", "system", "temperature", "max_tokens", "sample")
_KEPT = ("text", "finish_reason", "prompt_tokens", "completion_tokens", "total_tokens", "cached", "id")
"""The recorded fields of an answer. `cached` and `id` show in a replay which samples came from a cache."""


def _request_members(provider: str, request: CompletionRequest) -> dict[str, Any]:
    named = {name: getattr(request, name) for name in _ASKED}
    return {"provider": provider, **named, "options": dict(request.options)}
