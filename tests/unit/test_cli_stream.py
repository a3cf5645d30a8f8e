"""`pytest-corpus stream check`: captured and live streams."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_runs import COMMAND, call_command, environment, refusal_of, run_command

from pytest_corpus import resources
from pytest_corpus.spec.goldens import GOLDENS, Golden
from pytest_corpus.spec.operations import STREAMING
from pytest_corpus.stream_validator import ValidationMode

GOLDEN = resources.folder("golden")
STREAMS = [golden for golden in GOLDENS if golden.is_stream]
FRAME = b'{"ok":true,"code":"STREAMING","ms":1,"chunk":{"text":"x","is_final":false}}\n'
LAST = FRAME.replace(b"false", b"true")


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("golden", STREAMS, ids=lambda golden: golden.file)
@pytest.mark.parametrize("mode", [mode.value for mode in ValidationMode])
def test_golden_streams_are_valid(golden: Golden, mode: str) -> None:
    """Each golden stream is valid in every mode, as a stream of its component and of no other."""
    for component in STREAMING:
        ended = call_command("stream", "check", GOLDEN / golden.file, "--component", component, "--mode", mode)
        shown = ": valid " if component == golden.component else ": not a valid "
        if component == golden.component or mode != "lazy":
            assert shown in ended.out
            assert ended.code == (component != golden.component)


def test_what_a_verdict_says(tmp_path: Path) -> None:
    """A verdict names file, component, transport, mode, frames and end; errors follow with frame, type and path."""
    path = written(tmp_path / "s.ndjson", FRAME + FRAME.replace(b'"x"', b"7") + FRAME)
    ended = call_command("stream", "check", path, "--component", "llm")
    assert ended.code == 1
    head, chunk, terminal = ended.out.splitlines()
    assert head == f"{path}: not a valid llm stream (NDJSON, strict): 3 frames, not ended, 2 errors"
    assert chunk.startswith("  frame 2: CHUNK_SCHEMA: chunk.text must be string")
    assert terminal.startswith("  the stream: NO_TERMINAL: ")


def test_a_verdict_as_json(tmp_path: Path) -> None:
    """`--format json` gives each stream's report in parts, errors of the stream itself with no frame."""
    path = written(tmp_path / "s.ndjson", FRAME)
    ended = call_command(
        "stream", "check", path, GOLDEN / "llm/llm_stream.ndjson", "--component", "llm", "--format", "json"
    )
    shown = json.loads(ended.out)
    assert (ended.code, shown["valid"]) == (1, False)
    bad, good = shown["streams"]
    assert [(error["frame"], error["type"]) for error in bad["errors"]] == [(None, "NO_TERMINAL")]
    assert (good["valid"], good["terminal"], good["errors"], good["total_frames"]) == (True, "success", [], 4)


def test_the_component_is_never_guessed() -> None:
    """Without component and schema it is asked for, even where the file's name would tell."""
    assert "--component llm|embedding|graph" in refusal_of("stream", "check", GOLDEN / "llm/llm_stream.ndjson")
    for schema in ("llm.envelope.stream.success", "https://corpusos.com/schemas/llm/llm.envelope.success.json"):
        assert call_command("stream", "check", GOLDEN / "llm/llm_stream.ndjson", "--schema", schema).code == 0


@pytest.mark.parametrize(("argv", "said"), [
    (["--schema", "llm.types.mesage"], "did you mean llm.types.message"),
    (["--schema", "llm.types.message"], "says nothing about the frames"),
    (["--component", "llm", "--sample-rate", "7"], "sample_rate must be above 0 and at most 1"),
    (["--component", "embedding", "--framing", "events"], "embedding.stream.frame"),
    (["--component", "vector"], "there is no component 'vector'"),
    (["--component", "llm", "--max-frame-bytes", "0"], "'0' is not a whole number above 0"),
    (["--component", "llm", "--sse", "--ndjson"], "not allowed with"),
])  # fmt: skip
def test_arguments_that_make_no_sense(argv: list[str], said: str) -> None:
    """An argument that the validator refuses is a usage error, never a traceback."""
    ended = call_command("stream", "check", "-", *argv)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err


def test_transports(tmp_path: Path) -> None:
    """NDJSON is read unless --sse or a name in .sse says otherwise; the wrong one gets a hint, not a guess."""
    events = b"".join(b"data: %s\n\n" % frame.strip() for frame in (FRAME, LAST))
    named, plain = written(tmp_path / "s.sse", events), written(tmp_path / "s.txt", events)
    assert (
        ": valid llm stream (server-sent events, strict)"
        in call_command("stream", "check", named, "--component", "llm").out
    )
    assert call_command("stream", "check", plain, "--component", "llm", "--sse").code == 0
    ended = call_command("stream", "check", plain, "--component", "llm")
    assert ended.code == 1
    assert "say --sse" in ended.out
    lines = written(tmp_path / "t.sse", FRAME + LAST)
    assert "say --ndjson" in call_command("stream", "check", lines, "--component", "llm").out
    assert call_command("stream", "check", lines, "--component", "llm", "--ndjson").code == 0


def test_overlay_frames(tmp_path: Path) -> None:
    """`--framing events` reads the gateway overlay, which is refused as canonical frames."""
    lines = [json.loads((GOLDEN / f"llm/llm_stream_frame_{event}.json").read_bytes()) for event in ("data", "end")]
    path = written(tmp_path / "o.ndjson", "\n".join(map(json.dumps, lines)).encode())
    assert call_command("stream", "check", path, "--component", "llm", "--framing", "events").code == 0
    assert "FRAMING" in call_command("stream", "check", path, "--component", "llm").out


def test_many_errors_are_counted(tmp_path: Path) -> None:
    """Of many errors --max-errors are shown and the others counted."""
    path = written(tmp_path / "s.ndjson", b"nonsense\n" * 50)
    ended = call_command("stream", "check", path, "--component", "llm", "--max-errors", 3)
    assert ended.out.count("FRAME_JSON") == 3
    assert "50 errors" in ended.out
    assert "and 47 more" in ended.out


@pytest.mark.parametrize(("data", "said"), [
    (b"", "is empty"),
    (b"\x7fELF\0\0" * 99, "is binary"),
    (gzip.compress(FRAME + LAST, mtime=0), "is compressed with gzip"),
    ((FRAME + LAST).decode().encode("utf-16"), "is UTF-16"),
])  # fmt: skip
def test_a_file_that_is_no_stream_is_one_line(data: bytes, said: str, tmp_path: Path) -> None:
    """A file that plainly is not a stream is one finding of one line, not an error for each frame."""
    ended = call_command("stream", "check", written(tmp_path / "x", data), "--component", "llm")
    assert (ended.code, ended.err, ended.out.count("\n")) == (1, "", 1)
    assert said in ended.out


def test_a_stream_that_is_cut_off(tmp_path: Path) -> None:
    """A last frame that ends in the middle is an error with a hint at the cause."""
    ended = call_command("stream", "check", written(tmp_path / "x", FRAME + LAST[:30]), "--component", "llm")
    assert ended.code == 1
    assert "frame 2: FRAME_JSON" in ended.out
    assert "is the stream cut off?" in ended.out


def test_stdin() -> None:
    """`-` is stdin."""
    ended = run_command("stream", "check", "-", "--component", "llm", stdin=FRAME + LAST)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("stdin: valid llm stream")
    assert call_command("stream", "check", "-", "-", "--component", "llm").code == 2


# The peak of getrusage is no good: a process inherits that of the one that started it.
MEASURED = """
import sys
from pytest_corpus.cli import main
code = main()
print(*(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("kind", ["frames", "one line"])
def test_memory_is_bounded(kind: str, tmp_path: Path) -> None:
    """A stream of 160 MB takes no memory to speak of, in many frames and in one line without end."""
    path = tmp_path / "big.ndjson"
    with path.open("wb") as file:
        for _ in range(160):
            file.write(FRAME * (1_000_000 // len(FRAME)) if kind == "frames" else b"x" * 1_000_000)
        file.write(LAST if kind == "frames" else b"")
    ended = run_command(
        *("stream", "check", path, "--component", "llm", "--mode", "lazy"), command=(sys.executable, "-c", MEASURED)
    )
    assert ended.code == (kind == "one line"), ended.out
    assert int(ended.err) < 100_000


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or os.name == "nt", reason="needs signals")
def test_ctrl_c_is_one_line() -> None:
    """A live stream that is interrupted ends with 130 and one line that says how far it came."""
    command = [*COMMAND, "stream", "check", "-", "--component", "llm"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        process.stdin.write(FRAME * 3)
        process.stdin.flush()
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, b"")
    assert err == b"pytest-corpus stream check: stdin: interrupted after 3 frames, before the end of the stream\n"
