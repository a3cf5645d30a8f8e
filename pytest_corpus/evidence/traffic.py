"""Traffic that was recorded elsewhere: HTTP archives (HAR 1.2), read as exchanges."""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pytest_corpus.adapter.calls import read_frame
from pytest_corpus.adapter.exchange import CallFault, Exchange
from pytest_corpus.adapter.snapshot import NotJSON
from pytest_corpus.spec.transports import NDJSON, SSE
from pytest_corpus.text.problems import PlainError
from pytest_corpus.validation.streams.transport import NdjsonReader, SseReader


class TrafficError(PlainError, ValueError):
    """A file that is not an HTTP archive: one sentence that says why."""


def entries(path: Path) -> Iterator[tuple[int, Exchange]]:
    """The exchanges of an archive, each with the number of its entry; other requests than envelopes are left out.

    Raises:
        TrafficError: it is not an archive.
        OSError: it cannot be read.
    """
    try:
        archive = json.loads(path.read_bytes())
        listed = archive["log"]["entries"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise TrafficError(f"{path}: not an HTTP archive (HAR): it has no log with entries") from None
    if not isinstance(listed, list):
        raise TrafficError(f"{path}: not an HTTP archive (HAR): its entries are not a list")
    for number, entry in enumerate(listed, 1):
        try:
            exchange = _exchange(entry)
        except KeyError as error:
            raise TrafficError(f"{path}, entry {number}: not as HAR 1.2 has it, without {error}") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise TrafficError(f"{path}, entry {number}: not as HAR 1.2 has it ({error})") from None
        if exchange is not None:
            yield number, exchange


def _exchange(entry: Mapping[str, Any]) -> Exchange | None:
    try:
        envelope = json.loads((entry["request"].get("postData") or {}).get("text") or "")
    except (ValueError, RecursionError):
        return None
    if not isinstance(envelope, dict) or not isinstance(envelope.get("op"), str):
        return None
    content = entry["response"]["content"]
    text = content.get("text") or ""
    body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode("utf-8", "surrogatepass")
    kind = str(content.get("mimeType", "")).partition(";")[0].strip().lower()
    made = Exchange(envelope, kind in (NDJSON, SSE), elapsed_s=float(entry.get("time") or 0) / 1000)
    for data in _parts(body, kind):
        try:
            made.frames.append(read_frame(data, made.elapsed_s))
        except NotJSON as error:
            made.fault = CallFault("not_json", str(error))
            break
    return made


def _parts(body: bytes, kind: str) -> Iterator[bytes]:
    """The documents of a body: one, a line each, or an event each."""
    if kind not in (NDJSON, SSE):
        yield body
        return
    reader = (NdjsonReader if kind == NDJSON else SseReader)(len(body))
    yield from (data for data in (*reader.feed(body), *reader.rest()) if data is not None)
