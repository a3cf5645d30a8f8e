"""Recordings of what passes through a proxy: matched, replayed in time, without credentials, and not edited."""

import gzip
import hashlib
import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import http_servers
import pytest

from pytest_corpus.adapter.exceptions import MissingAnswer
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.hooks.vendors.proxy import environment_proxy
from pytest_corpus.adapter.hooks.vendors.recording import Recording, RecordingError, notes_on_old_recordings
from pytest_corpus.text.bounded import FileRefused

RUN, SEED = "abcd012345", 0
CHAT, STORE = "v1/chat/completions", "v1/vectors/query"
SECRET, PASSWORD = "sk-live-0123456789abcdef", "correct horse battery"
PAUSE_S = 0.15


class Upstream(http_servers.Server):
    """A provider: it numbers its answers, and repeats what it was asked."""

    def __init__(self) -> None:
        super().__init__(Answering)
        self.asked = 0


class Answering(http_servers.Handler):
    def answer(self) -> None:
        body = self.read()
        self.server.asked += 1  # type: ignore[attr-defined]
        if b'"stream"' in body:
            self._stream(cut=b'"cut"' in body)
            return
        given = {"number": self.server.asked, "echo": body.decode(), "key": self.headers.get("x-api-key")}  # type: ignore[attr-defined]
        given["authorization"] = self.headers.get("Authorization")
        data = json.dumps(given).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(data))}
        self.begin({**headers, "Set-Cookie": f"session={SECRET}", "x-ratelimit-remaining-tokens": "5"})
        self.wfile.write(data[:20])  # a secret may lie across parts
        self.wfile.flush()
        time.sleep(0.02)
        self.wfile.write(data[20:])

    def _stream(self, *, cut: bool) -> None:
        self.begin({"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        for number in range(3):
            event = f'data: {{"delta": {{"content": "{number}"}}}}\n\n'.encode()
            self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
            self.wfile.flush()
            time.sleep(PAUSE_S)
        if cut:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


@pytest.fixture(scope="module")
def served() -> Iterator[Upstream]:
    with http_servers.run_server(Upstream()) as server:
        yield server


@pytest.fixture
def upstream(served: Upstream) -> Upstream:
    served.asked = 0
    return served


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, served: Upstream) -> bytes:
    """A recording of three requests."""
    path = tmp_path_factory.mktemp("recorded") / "r.jsonl"
    with proxied(path, "all", served.url) as probe:
        for body in ({"a": 1}, {"b": 1}, {"stream": True}):
            ask(probe, body)
    return path.read_bytes()


@contextmanager
def proxied(path: Path, mode: str, upstream: str, *, speed: str = "instant", **given: Any) -> Iterator[ProviderProbe]:
    """A probe whose proxy records, or replays."""
    environment = given.pop("environment", {})
    recording = Recording(path, mode, environment, seed=SEED, is_instant=speed == "instant")
    recording.run = recording.run or RUN
    probe = ProviderProbe(recording)
    probe.address = probe.proxy(upstream)  # type: ignore[attr-defined]
    try:
        yield probe
    finally:
        probe.close()
        recording.close()


def ask(
    probe: ProviderProbe, body: Any, path: str = CHAT, headers: Mapping[str, str] | None = None, method: str = "POST"
) -> tuple[int, str, Mapping[str, str]]:
    """Status, body and headers of an answer."""
    host, _, token = probe.address.removeprefix("http://").partition("/")  # type: ignore[attr-defined]
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, f"/{token}/{path}", data, dict(headers or {}))
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.headers.items())
    finally:
        connection.close()


def lines_of(path: Path) -> list[dict[str, Any]]:
    data = gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def sealed(lines: list[dict[str, Any]]) -> bytes:
    """Lines with the numbers and the digest that they should have."""
    digest, out = hashlib.sha256(), []
    for number, line in enumerate(lines, 1):
        members = {**line, "n": number}
        if line["kind"] == "end":
            members |= {"sha256": digest.hexdigest()}
        data = json.dumps(members, separators=(",", ":")).encode() + b"\n"
        digest.update(data)
        out.append(data)
    return b"".join(out)


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_a_recording_gives_the_same_answers_without_the_provider(tmp_path: Path, upstream: Upstream, name: str) -> None:
    """The n-th of equal requests gets the n-th answer; JSON is compared as values; another request has no answer.

    A model that is asked once more gives its last answer again; a store has none, for something may have been written.
    """
    path, asked = tmp_path / name, [{"a": 1}, {"b": 2.5}, {"a": 1}, {"stream": True}]
    with proxied(path, "once", upstream.url) as probe:
        live = [ask(probe, body) for body in asked]
        ask(probe, {"ids": [1]}, STORE)
    known = upstream.asked
    with proxied(path, "none", upstream.url) as probe:
        again = [ask(probe, body) for body in (b'{ "a": 1.0 }', b'{"b":25e-1}', {"a": 1}, {"stream": True})]
        assert ask(probe, {"a": 1})[:2] == live[2][:2], "what depends on nothing before has the last answer again"
        assert [ask(probe, {"ids": [1]}, STORE)[0] for _ in range(2)] == [200, 400]
        assert ask(probe, {"c": 1})[0] == 400
        noted = list(map(str, probe.mistakes.noted))
        with pytest.raises(MissingAnswer):
            probe.mistakes.check_answers()
    assert [each[:2] for each in again] == [each[:2] for each in live]
    assert [each[2].get("Content-Type") for each in again] == [each[2].get("Content-Type") for each in live]
    assert upstream.asked == known == len(asked) + 1
    assert f"{upstream.url}/{STORE} was recorded 1 times in this form, and is sent once more" in noted[0]
    assert noted[1].endswith("what differs from the recorded one: body.a, body.c")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 40, "9" * 400, '"\\ud800"'])
def test_what_no_reader_keeps_is_matched_as_text(tmp_path: Path, upstream: Upstream, number: str) -> None:
    """Numbers that JSON does not have, or no double, and half a character."""
    path, body = tmp_path / "r.jsonl", f'{{"a": {number}}}'.encode()
    for mode in ("all", "none"):
        with proxied(path, mode, upstream.url) as probe:
            assert ask(probe, body)[0] == 200, mode
    assert upstream.asked == 1


def test_modes(tmp_path: Path, upstream: Upstream) -> None:
    """`once` does not add to a file, `new` asks for what is missing, `all` asks for everything."""
    path = tmp_path / "r.jsonl"
    with pytest.raises(FileRefused):
        Recording(path, "none", {})
    for mode, body, status, asked in (
        ("once", {"a": 1}, 200, 1), ("once", {"b": 1}, 400, 1), ("new", {"b": 1}, 200, 2), ("new", {"a": 1}, 200, 2),
        ("none", {"b": 1}, 200, 2), ("all", {"b": 1}, 200, 3), ("none", {"a": 1}, 400, 3),
    ):  # fmt: skip
        with proxied(path, mode, upstream.url) as probe:
            assert ask(probe, body)[0] == status, (mode, body)
        assert upstream.asked == asked, (mode, body)


def test_credentials_never_enter_the_file(tmp_path: Path, upstream: Upstream) -> None:
    """Neither those of headers and queries, nor secrets of the environment, wherever they stand."""
    path, token = tmp_path / "r.jsonl", "Zm9vYmFyOmJhenF1eA=="
    headers = {"Authorization": f"Basic {token}", "x-api-key": SECRET, "Cookie": "sid=0123456789cookie"}
    with proxied(path, "all", upstream.url, environment={"DB_PASSWORD": PASSWORD}) as probe:
        body = {"text": f"say {SECRET} and {PASSWORD}"}
        status, answer, _ = ask(probe, body, f"{CHAT}?key=AIza-0123456789&api_key=other-secret&n=1", headers)
        assert status == 200
        assert SECRET in answer, "the adapter gets what the provider says"
        ask(probe, b"plain 0123456789cookie", CHAT, headers)
    text = path.read_text()
    for secret in (SECRET, PASSWORD, token, "0123456789cookie", "AIza-0123456789", "other-secret", "Set-Cookie"):
        assert secret not in text, secret
    assert "x-ratelimit-remaining-tokens" in text
    with proxied(path, "none", upstream.url, environment={"DB_PASSWORD": PASSWORD}) as probe:
        again, answer, _ = ask(probe, body, f"{CHAT}?key=x&api_key=y&n=1", headers)
        assert again == 200
        assert SECRET not in answer


def test_times_are_kept_unless_they_are_not_wanted(tmp_path: Path, upstream: Upstream) -> None:
    """A stream takes as long as it took, or no time."""
    path = tmp_path / "r.jsonl"
    with proxied(path, "all", upstream.url) as probe:
        ask(probe, {"stream": True})
    took = {}
    for speed in ("real", "instant"):
        with proxied(path, "none", upstream.url, speed=speed) as probe:
            began = time.monotonic()
            assert ask(probe, {"stream": True})[1].count("data:") == 3
            took[speed] = time.monotonic() - began
    assert took["real"] > 2.5 * PAUSE_S > took["instant"], took


def test_what_was_cut_off_is_cut_off_and_what_was_given_up_goes_on(tmp_path: Path, upstream: Upstream) -> None:
    """A broken connection breaks again. If the client went away, the rest is recorded, and comes when it came."""
    path = tmp_path / "r.jsonl"

    def gives_up(probe: ProviderProbe) -> None:
        host, _, token = probe.address.removeprefix("http://").partition("/")  # type: ignore[attr-defined]
        connection = http.client.HTTPConnection(host, timeout=PAUSE_S / 2)
        connection.request("POST", f"/{token}/{CHAT}", b'{"stream": 1}')
        answer = connection.getresponse()
        with pytest.raises(TimeoutError):
            answer.read()
        connection.close()

    for mode in ("all", "none"):
        with proxied(path, mode, upstream.url, speed="real") as probe:
            gives_up(probe)
            with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
                ask(probe, {"stream": True, "cut": True})
            time.sleep(0.1)
    endings = [line["answer"]["ending"] for line in lines_of(path) if line["kind"] == "exchange"]
    assert sorted(endings) == ["cut", "whole"]
    with proxied(path, "none", upstream.url) as probe:
        assert ask(probe, {"stream": 1})[1].count("data:") == 3


def test_an_answer_that_was_given_up_is_unknown_to_who_waits_longer(tmp_path: Path, upstream: Upstream) -> None:
    """If an equal request got a whole answer, it is that one."""
    path = tmp_path / "r.jsonl"
    with proxied(path, "all", upstream.url) as probe:
        ask(probe, {"stream": True})
        ask(probe, {"stream": True, "n": 2})
    lines = lines_of(path)
    again = {**lines[1], "number": 2, "answer": {"parts": [], "ending": "abandoned", "ms": 0, "took_ms": 20.0}}
    lines[2]["answer"]["ending"] = "abandoned"
    path.write_bytes(sealed([*lines[:3], again, lines[3]]))
    with proxied(path, "none", upstream.url) as probe:
        assert [ask(probe, {"stream": True})[1].count("data:") for _ in range(2)] == [3, 3]
        with pytest.raises((http.client.IncompleteRead, ConnectionResetError)):
            ask(probe, {"stream": True, "n": 2})
        assert "was given up after 0." in str(probe.mistakes.noted[0])


def test_planned_faults_need_no_recording(tmp_path: Path, upstream: Upstream) -> None:
    """They happen in the proxy; within a stream they strike the recorded one."""
    path = tmp_path / "r.jsonl"
    with proxied(path, "all", upstream.url) as probe:
        probe.plan("rate_limited")
        assert ask(probe, {"a": 1})[0] == 429
        ask(probe, {"stream": True})
    assert upstream.asked == 1
    with proxied(path, "none", upstream.url) as probe:
        probe.plan("overloaded")
        assert ask(probe, {"never": "recorded"})[0] == 529
        probe.plan("overloaded", at_chunk=1)
        text = ask(probe, {"stream": True})[1]
        assert text.count('"content"') == 1
        assert "error" in text


def _removed(lines: list[Any]) -> None:
    del lines[2]


def _doubled(lines: list[Any]) -> None:
    lines.insert(2, dict(lines[1]))


EDITS: Mapping[str, Callable[[list[Any]], Any]] = {
    "answer": lambda lines: lines[1]["answer"]["parts"][0].__setitem__(1, "{}"),
    "status": lambda lines: lines[1]["answer"].update(status=201),
    "status no answer has": lambda lines: lines[1]["answer"].update(status=99),
    "ending": lambda lines: lines[3]["answer"].update(ending="cut"),
    "time": lambda lines: lines[1]["answer"].update(ms=99999.0),
    "time backwards": lambda lines: lines[1]["answer"].update(ms=-1),
    "header": lambda lines: lines[1]["answer"]["headers"].append(["a", "b"]),
    "header with a line feed": lambda lines: lines[1]["answer"]["headers"].append(["a", "b\nc: d"]),
    "request": lambda lines: lines[1]["request"].update(body={"json": {"a": 5}}),
    "method": lambda lines: lines[1]["request"].update(method="PUT"),
    "address": lambda lines: lines[1]["request"].update(url="https://elsewhere.example/v1"),
    "address of a file": lambda lines: lines[1]["request"].update(url="file:///etc/passwd"),
    "number": lambda lines: lines[1].update(number=2),
    "number from zero": lambda lines: lines[1].update(number=0),
    "another member": lambda lines: lines[1].update(command="rm"),
    "a line removed": _removed,
    "a line doubled": _doubled,
    "lines exchanged": lambda lines: lines.__setitem__(slice(1, 3), lines[2:0:-1]),
    "the day": lambda lines: lines[0].update(recorded_at="2031-01-01T00:00:00+00:00"),
    "a day that does not exist": lambda lines: lines[0].update(recorded_at="2026-02-31T00:00:00+00:00"),
    "the run": lambda lines: lines[0].update(run="../../etc"),
    "the seed": lambda lines: lines[0].update(seed=7),
    "the end cut off": lambda lines: lines.pop(),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edits_are_told(tmp_path: Path, recorded: bytes, upstream: Upstream, edit: str) -> None:
    """The digest tells every edit; with a new digest the request has no answer, or the file is another recording."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(recorded)
    before = str(Recording(path, "none", {}, seed=SEED))
    lines = lines_of(path)
    EDITS[edit](lines)
    path.write_bytes(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines))
    with pytest.raises(RecordingError):
        Recording(path, "none", {}, seed=SEED)
    path.write_bytes(sealed(lines))
    try:
        with proxied(path, "none", upstream.url) as probe:
            statuses = [ask(probe, body)[0] for body in ({"a": 1}, {"b": 1})]
        changed = str(Recording(path, "none", {}, seed=SEED))
    except RecordingError:
        return
    assert 400 in statuses or changed != before


def test_an_old_recording_is_noted() -> None:
    """After more than 90 days."""
    said = "recorded 2026-01-01 from api.example, sha256 0"
    assert notes_on_old_recordings([said], "2026-04-01T00:00:00+00:00") == []
    assert "older than 90 days (2026-01-01)" in notes_on_old_recordings([said], "2026-04-02T00:00:00+00:00")[0]


def test_a_proxy_uses_proxies_of_the_environment_but_not_its_credentials(
    tmp_path: Path, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Credentials of a `.netrc` for the host are not the adapter's, which may have to show that it has none."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret-of-mine\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    with proxied(tmp_path / "r.jsonl", "all", upstream.url) as probe:
        assert json.loads(ask(probe, {"a": 1})[1])["authorization"] is None
    for name in ("http_proxy", "no_proxy"):
        monkeypatch.setenv(name, {"http_proxy": "http://proxy.example:3128", "no_proxy": "here.example"}[name])
    assert environment_proxy("http://api.example/v1") == "http://proxy.example:3128"
    assert environment_proxy("http://here.example/v1") is None


def test_a_tunnel_to_another_machine_is_refused_in_a_replay(
    tmp_path: Path, recorded: bytes, upstream: Upstream
) -> None:
    """No call leaves the machine."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(recorded)
    with proxied(path, "none", upstream.url) as probe:
        with pytest.raises(ValueError, match="a tunnel is not recorded"):
            probe.tunnel("db.example", 5432)
        probe.tunnel("localhost", 5432)


def test_what_a_vendor_does_not_filter_is_not_filtered_in_mid_stream() -> None:
    """The stand-in of Cohere goes on, as a proxy before it does; it used to break off."""
    own, before = ProviderProbe(), ProviderProbe()
    own.address, before.address = own.url, before.proxy(own.url)  # type: ignore[attr-defined]
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hm"}]}
    for probe in (own, before):
        probe.plan("content_filtered", form="in_answer", at_chunk=1)
        assert "message-end" in ask(probe, body, "v2/chat")[1]
    before.close()
    own.close()
