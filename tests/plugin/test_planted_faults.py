"""Mistakes in the mapping of errors that a proxy before the provider finds, in an adapter without `reached`.

The adapter is an example; each mistake is a change of its text. `test_tunnelled_adapter.py` has those over TCP.
"""

import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from inner_runs import Project, said, violated

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "llm-ollama"
WIRE = ROOT / "skeletons" / "corpus-wire"
FAULTS = "--corpus-requirement=COM-*"

Edits = tuple[tuple[str, str, str], ...]
"""Files, a part of their text, and what stands there instead."""

ADAPTER, PROVIDER = "llm_ollama/adapter.py", "llm_ollama/provider.py"
ERRORS, WIRE_PY = "corpus_wire/errors.py", "corpus_wire/wire.py"
NO_TIMEOUT = ((PROVIDER, "total=seconds_left()", "total=None"),)

AFTER = (
    'chunks.__anext__() if "begun" in vars(call) else call.in_time(vars(call).setdefault("begun", chunks.__anext__))'
)
END, READS = "yield end_of({}, calls)", "return read(await answer.read())"
EMPTY = 'return {"message": {}, "done": True, "models": [], "model_info": {}}'
UNTIL_RESET = """
async def until_reset(lines):
    try:
        async for line in lines:
            yield line
    except aiohttp.ClientError:
        yield b\'{"message": {}, "done": true}\'
"""

OVER_HTTP: Mapping[str, Edits] = {
    "the hint is lost": ((ERRORS, "retry_after(fault) if name in RETRYABLE else None", "None"),),
    "seconds are taken for milliseconds": (
        (ERRORS, '(("retry-after-ms", 1.0), ("retry-after", 1000.0))', '(("retry-after", 1.0),)'),
    ),
    "429 as unavailable": ((ERRORS, '429: "ResourceExhausted"', '429: "Unavailable"'),),
    "529 as internal": (
        (ERRORS, '    504: "Tr', '    529: "BadRequest",\n    504: "Tr'),
        (ADAPTER, ', "overloaded": "ModelOverloaded"', ""),
    ),
    "503 as auth": ((ERRORS, '    504: "Tr', '    503: "AuthError",\n    504: "Tr'),),
    "502 as bad request": ((ERRORS, '502: "TransientNetwork"', '502: "BadRequest"'),),
    "504 as deadline": ((ERRORS, '504: "TransientNetwork"', '504: "DeadlineExceeded"'),),
    "401 as bad request": ((ERRORS, '401: "AuthError"', '401: "BadRequest"'),),
    "403 as not supported": ((ERRORS, '403: "AuthError"', '403: "NotSupported"'),),
    "400 as retryable": ((ERRORS, '400: "BadRequest"', '400: "Unavailable"'),),
    "reset as auth": ((ADAPTER, 'aiohttp.ClientError: "TransientNetwork"', 'aiohttp.ClientError: "AuthError"'),),
    "the text of the provider in the message": (
        (PROVIDER, 'super().__init__("Ollama refused or failed")', "super().__init__(text)"),
        (ERRORS, "WireError(subtype, MESSAGES[name],", "WireError(subtype, str(fault) or MESSAGES[name],"),
    ),
    "stream cut taken for an end": (
        (PROVIDER, f"{' ' * 20}return\n{' ' * 8}raise stream_interrupted()", f"{' ' * 20}return\n{' ' * 8}{END}"),
    ),
    "reset in mid-stream taken for an end": ((PROVIDER, "in answer.content:", "in until_reset(answer.content):"),
        (PROVIDER, "def read(data", f"{UNTIL_RESET}\n\ndef read(data"),
    ),
    "failure in mid-stream taken for an end": (
        (PROVIDER, "part = read(line)", 'part = {"message": {}, "done": True, **json.loads(line)}'),
    ),
    "an answer that is cut off is an empty one": (
        (PROVIDER, READS, f"try:\n{' ' * 16}{READS}\n{' ' * 12}except aiohttp.ClientError:\n{' ' * 16}{EMPTY}"),
    ),
    "an answer that is not JSON is an empty one": (
        (PROVIDER, READS, f"try:\n{' ' * 16}{READS}\n{' ' * 12}except ValueError:\n{' ' * 16}{EMPTY}"),
    ),
    "deadline ignored while the upstream hangs": (
        *NO_TIMEOUT, (WIRE_PY, "return await asyncio.wait_for(begin(), left)", "return await begin()"),
    ),
    "deadline ignored after the first chunk": (
        *NO_TIMEOUT, (WIRE_PY, "chunk = await call.in_time(chunks.__anext__)", f"chunk = await ({AFTER})"),
    ),
    "the timeout of the client as network": (
        (WIRE_PY, "if late or isinstance(error, TimeoutError):", "if False:"),
        (ADAPTER, '            aiohttp.ClientError: "Tr',
         '            TimeoutError: "TransientNetwork",\n            aiohttp.ClientError: "Tr'),
    ),
    "a failure is not observed": (
        (WIRE_PY, "        except Exception as error:  # noqa: BLE001 - every failure is answered with an envelope\n",
         "        except Exception as error:\n            call.observed = True\n"),
    ),
}  # fmt: skip


@pytest.fixture
def example(project: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the example and its wire, and the stand-in for its server."""
    pytest.importorskip("aiohttp")
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from stand_in import Ollama  # type: ignore[import-not-found]

    for folder in (EXAMPLE / "llm_ollama", WIRE / "corpus_wire"):
        shutil.copytree(folder, project.path / folder.name, ignore=shutil.ignore_patterns("__pycache__"))
    server = Ollama()
    monkeypatch.setenv("OLLAMA_HOST", server.address)
    yield project.path
    server.close()
    for name in [each for each in sys.modules if re.match(r"(llm_ollama|corpus_wire|stand_in)(\.|$)", each)]:
        del sys.modules[name]


def test_without_a_mistake_nothing_is_found(project: Project, example: Path) -> None:
    """The example as it is."""
    result = project.run("--corpus-adapter=llm_ollama:factory", "--corpus-report=r.json", FAULTS)
    assert not violated(project.report()), said(result)


@pytest.mark.slow
@pytest.mark.parametrize("mistake", OVER_HTTP)
def test_a_proxy_finds_a_mistake(project: Project, example: Path, mistake: str) -> None:
    """A MUST is violated."""
    for file, before, after in OVER_HTTP[mistake]:
        text = (example / file).read_text()
        assert before in text, f"{file}: no such text any more: {before}"
        (example / file).write_text(text.replace(before, after))
    result = project.run("--corpus-adapter=llm_ollama:factory", "--corpus-report=r.json", FAULTS)
    assert violated(project.report()), said(result)
