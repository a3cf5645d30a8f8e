"""Requests as commands that can be pasted into a shell, to show a finding without this package.

Everything that comes from an adapter or a file is one word of the shell, or a literal of Python.
"""

import base64
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pytest_corpus.adapter.opening.address import scheme_of
from pytest_corpus.evidence.encoding import text_of
from pytest_corpus.redaction import SHORTEST, printable
from pytest_corpus.spec.operations import BY_OP
from pytest_corpus.spec.transports import GRPC_SERVICE, NDJSON, SCHEMES, Scheme

PROTO = (
    'syntax="proto3";package corpus.v1;message Frame{bytes json=1;}'
    "service Adapter{rpc Handle(Frame) returns(Frame);rpc HandleStream(Frame) returns(stream Frame);}"
)

ANSWERED_S = 2
"""The seconds after a line for a program or a WebSocket, before the next one or the end of its input."""

FAULTS = "In the run the suite made the provider fail ({}); without that the answer may be right"

RECORDED = "ADAPTER is {} of the adapter; the recording names {}"

UNSET = ': "${ADAPTER:?set it first, as the comment says}"'

ADAPTER = '"$ADAPTER"'
"""The word for an address that only a recording names; whoever sends the requests says where they go."""

_DEADLINE = re.compile(r'("deadline_ms":)\s*([0-9]{12,14})(?![0-9.eE])')
_VARIABLE = re.compile(r"(\w+ )?\$([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_NAMES = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Sent:
    """A request that was sent: its JSON text, its entry point, and when, in seconds since 1970.

    `faults` are the kinds of the faults that the suite let the provider have.
    """

    text: str
    streaming: bool
    at: float
    faults: Sequence[str] = ()

    @property
    def budgets_ms(self) -> list[int]:
        """The time that its deadlines left; deadlines that had passed are not among them."""
        return [left for _, end in _DEADLINE.findall(self.text) if (left := round(int(end) - self.at * 1000)) > 0]


@dataclass(frozen=True, slots=True)
class Target:
    """The adapter that the requests went to.

    Attributes:
        declared: its address, or `module:factory`.
        component: the component that was called.
        headers: the headers of each request over HTTP; their values are words of a shell, such as `$TOKEN`.
        recorded: the beginning of the address if a recording alone names it (empty: a factory), else None. Then the
            commands go to what the variable ADAPTER holds, and the headers' variables stay as they are.
    """

    declared: str
    component: str
    headers: Mapping[str, str] = field(default_factory=dict)
    recorded: str | None = None

    @property
    def scheme(self) -> Scheme | None:
        """The kind of its address; None for a factory."""
        if self.recorded is None:
            return scheme_of(self.declared)
        return next((each for each in SCHEMES if each.prefix == self.recorded), None)

    @property
    def address(self) -> str:
        """Its address as a word of a shell."""
        return shlex.quote(self.declared) if self.recorded is None else ADAPTER

    @property
    def is_importable(self) -> bool:
        """True if a script can import its factory by its name."""
        module, _, path = self.declared.partition(":")
        return self.recorded is None and all(map(_NAMES.fullmatch, (module, path)))


def script(target: Target, sent: Iterable[Sent]) -> list[str]:
    """The lines of a script that sends the requests in their order; a comment names what it cannot do."""
    found = [each for each in sent if each.text]
    faults = ", ".join(dict.fromkeys(kind for each in found for kind in each.faults))
    lines = [comment(FAULTS.format(faults))] if faults else []
    if found and not (target.scheme or target.is_importable):
        lines += [comment(RECORDED.format("module:factory", target.declared)), UNSET]
    elif found and target.recorded:
        lines += [comment(RECORDED.format("the address", target.declared)), UNSET]
    return [*lines, *_lines(target, found)]


def comment(text: str) -> str:
    """A line that no shell carries out, also one that has no comments when it is used by hand."""
    return f"# {shlex.quote(printable(text))}"


def _lines(target: Target, found: Sequence[Sent]) -> list[str]:
    scheme = target.scheme
    if scheme is None:
        return [*_python(target, found)]
    if scheme.module in ("http", "grpc"):
        write = _http if scheme.module == "http" else _grpc
        first = [f"printf '%s' {shlex.quote(PROTO)} > adapter.proto"] if scheme.module == "grpc" else []
        return [*first, *(write(target, each) for each in found)]
    receiver = 'sh -c "${ADAPTER#cmd:}"' if target.recorded else target.declared.partition(":")[2]
    if scheme.module == "websocket":
        receiver = f"websocat{_headers(target)} {target.address}"
    return [f"({'; '.join(map(_message, range(1, len(found) + 1), found))}) | {receiver}"] if found else []


def variable(name: str, value: str, environment: Mapping[str, str]) -> str:
    """The value of a header as a word of a shell: a variable of the environment, after a scheme or none, or its own."""
    for key, secret in environment.items():
        scheme = value.removesuffix(secret)
        if len(secret) >= SHORTEST and value.endswith(secret) and re.fullmatch(r"(\w+ )?", scheme):
            return f"{scheme}${key}"
    return f"${re.sub(r'[^A-Z0-9]', '_', name.upper())}"


def _quoted(text: str, sent: Sent) -> str:
    """A text as one word of a shell, in which a deadline is as far away as it was."""

    def later(found: re.Match[str]) -> str:
        left = round(int(found[2]) - sent.at * 1000)
        return f"{found[1]}'\"$(($(date +%s) * 1000 + {left}))\"'" if left > 0 else found[0]

    return _DEADLINE.sub(later, shlex.quote(_plain(text)))


def _plain(text: str) -> str:
    """A JSON text in which no character moves the cursor of a terminal: such characters are escaped, as in strings."""
    if text.isprintable():
        return text
    escaped = "".join(
        char if char.isprintable() else " " if char in "\n\r\t" else _ESCAPED(char)[1:-1] for char in text
    )
    return escaped.replace("\x7f", r"\u007f")


_ESCAPED = json.JSONEncoder().encode


def _headers(target: Target) -> str:
    return "".join(f" -H {_header(target, name, value)}" for name, value in target.headers.items())


def _header(target: Target, name: str, value: str) -> str:
    """A header as a word of a shell, in which only a variable that the run itself named is replaced."""
    found = _VARIABLE.fullmatch(value) if target.recorded is None else None
    if found is None:
        return shlex.quote(printable(f"{name}: {value}"))
    if _HEADER.fullmatch(name):
        return f'"{name}: {value}"'
    beginning = printable(f"{name}: {found[1] or ''}")
    return f'{shlex.quote(beginning)}"${found[2]}"'


def _http(target: Target, sent: Sent) -> str:
    accept = f" -N -H 'Accept: {NDJSON}'" if sent.streaming else ""
    head = rf"curl -gsS -w '\n'{accept} -H 'Content-Type: application/json'{_headers(target)}"
    return f"{head} --data-raw {_quoted(sent.text, sent)} {target.address}"


def _message(number: int, sent: Sent) -> str:
    """A line of a channel of messages, all for one program, and the time that its answer may take.

    The entry point is named where the operation does not tell it.
    """
    op = next(iter(re.findall(r'"op":\s*"([^"]*)"', sent.text)), "")
    usual = op in BY_OP and BY_OP[op].streaming
    stream = "" if usual == sent.streaming else f',"stream":{json.dumps(sent.streaming)}'
    line = f'{{"id":{number},"envelope":{sent.text}{stream}}}'
    return f"printf '%s\\n' {_quoted(line, sent)}; sleep {ANSWERED_S}"


def _grpc(target: Target, sent: Sent) -> str:
    method = "HandleStream" if sent.streaming else "Handle"
    data = base64.b64encode(_plain(sent.text).encode()).decode()
    if sent.budgets_ms:
        data = f"'\"$(printf '%s' {_quoted(sent.text, sent)} | base64 -w0)\"'"
    host = shlex.quote(target.declared.partition("://")[2].partition("/")[0])
    if target.recorded:
        host = '"${ADAPTER#grpc://}"'
    body = f'\'{{"json":"{data}"}}\''
    return f"grpcurl -plaintext -proto adapter.proto{_headers(target)} -d {body} {host} {GRPC_SERVICE}/{method}"


def _python(target: Target, sent: Sequence[Sent]) -> Iterator[str]:
    """A script for an adapter that a factory makes in Python."""
    spec = repr(target.declared) if target.is_importable else 'os.environ["ADAPTER"]'
    yield "python - <<'END'"
    yield "import asyncio, json, os, time"
    yield "from pytest_corpus.evidence.sending import adapter_of"
    yield "async def main():"
    yield f"    async with adapter_of({spec}, {target.component!r}) as send:"
    for each in sent:
        yield f"        request = json.loads({_plain(each.text)!r})"
        for left in each.budgets_ms[:1]:
            yield f'        request["ctx"]["deadline_ms"] = int(time.time() * 1000) + {left}'
        yield f"        async for frame in send(request, streaming={each.streaming}): print(frame)"
    yield "asyncio.run(main())"
    yield "END"


def sent_of(line: Mapping[str, Any]) -> list[Sent]:
    """The requests of a line of a transcript."""
    entry_point = line.get("entry_point")
    requests = [each["request"] for each in line.get("calls", [line]) if "request" in each and entry_point != "raw"]
    faults = line.get("faults_struck", ())
    return [Sent(text_of(each), entry_point == "handle_stream", line["at"], faults) for each in requests]
