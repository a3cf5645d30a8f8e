"""Shell commands that send recorded requests again, to reproduce a finding without this package.

Text from an adapter or a file is quoted as one shell word or as a Python literal.
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

WAIT_S = 2
"""The seconds that a script waits after each line that it sends to a program or a WebSocket."""

FAULTS = "In the run the suite made the provider fail ({}); without that the answer may be right"

RECORDED = "ADAPTER is {} of the adapter; the recording names {}"

UNSET = ': "${ADAPTER:?set it first, as the comment says}"'

ADAPTER = '"$ADAPTER"'
"""The shell word for an address that only a recording names; the user of the script must set this variable."""

_DEADLINE = re.compile(r'("deadline_ms":)\s*([0-9]{12,14})(?![0-9.eE])')
_VARIABLE = re.compile(r"(\w+ )?\$([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_NAMES = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A sent request: its JSON text, its entry point, and its time in seconds since 1970.

    `faults` are the kinds of failure that the suite planned at the provider.
    """

    text: str
    streaming: bool
    at: float
    faults: Sequence[str] = ()

    @property
    def budgets_ms(self) -> list[int]:
        """The milliseconds from sending to each deadline in the request, without deadlines in the past."""
        return [left for _, end in _DEADLINE.findall(self.text) if (left := round(int(end) - self.at * 1000)) > 0]


@dataclass(frozen=True, slots=True)
class ShellTarget:
    """The adapter that received the requests.

    Attributes:
        declared: the address of the adapter, or `module:factory`.
        component: the called component.
        headers: the headers of each HTTP request; their values are shell words such as `$TOKEN`.
        recorded: None if the address is known. In a replay: the recorded scheme of the address, or empty for a factory.
            The commands of a replay use the variable ADAPTER, and do not expand variables in headers.
    """

    declared: str
    component: str
    headers: Mapping[str, str] = field(default_factory=dict)
    recorded: str | None = None

    @property
    def scheme(self) -> Scheme | None:
        """The kind of the address; None for a factory."""
        if self.recorded is None:
            return scheme_of(self.declared)
        return next((each for each in SCHEMES if each.prefix == self.recorded), None)

    @property
    def address(self) -> str:
        """The address as a shell word."""
        return shlex.quote(self.declared) if self.recorded is None else ADAPTER

    @property
    def is_importable(self) -> bool:
        """True if a script can import the factory by its name."""
        module, _, path = self.declared.partition(":")
        return self.recorded is None and all(map(_NAMES.fullmatch, (module, path)))


def write_script(target: ShellTarget, sent: Iterable[SentRequest]) -> list[str]:
    """Return the lines of a script that sends the requests in order; comments name what a script cannot repeat."""
    found = [each for each in sent if each.text]
    faults = ", ".join(dict.fromkeys(kind for each in found for kind in each.faults))
    lines = [write_comment(FAULTS.format(faults))] if faults else []
    if found and not (target.scheme or target.is_importable):
        lines += [write_comment(RECORDED.format("module:factory", target.declared)), UNSET]
    elif found and target.recorded:
        lines += [write_comment(RECORDED.format("the address", target.declared)), UNSET]
    return [*lines, *_command_lines(target, found)]


def write_comment(text: str) -> str:
    """Return a comment that also works in interactive shells that do not know comments."""
    return f"# {shlex.quote(printable(text))}"


def _command_lines(target: ShellTarget, found: Sequence[SentRequest]) -> list[str]:
    scheme = target.scheme
    if scheme is None:
        return [*_python_script(target, found)]
    if scheme.module in ("http", "grpc"):
        write = _curl_command if scheme.module == "http" else _grpcurl_command
        first = [f"printf '%s' {shlex.quote(PROTO)} > adapter.proto"] if scheme.module == "grpc" else []
        return [*first, *(write(target, each) for each in found)]
    receiver = 'sh -c "${ADAPTER#cmd:}"' if target.recorded else target.declared.partition(":")[2]
    if scheme.module == "websocket":
        receiver = f"websocat{_headers(target)} {target.address}"
    return [f"({'; '.join(map(_channel_line, range(1, len(found) + 1), found))}) | {receiver}"] if found else []


def header_value(name: str, value: str, environment: Mapping[str, str]) -> str:
    """Return a header's value as a shell word: the environment variable that contains it, or else a new variable.

    An authentication scheme before the variable (`Bearer $TOKEN`) is kept.
    """
    for key, secret in environment.items():
        scheme = value.removesuffix(secret)
        if len(secret) >= SHORTEST and value.endswith(secret) and re.fullmatch(r"(\w+ )?", scheme):
            return f"{scheme}${key}"
    return f"${re.sub(r'[^A-Z0-9]', '_', name.upper())}"


def _quote(text: str, sent: SentRequest) -> str:
    """Return a text as one shell word. Future deadlines in the text are shifted, so that the same time remains."""

    def shift_deadline(found: re.Match[str]) -> str:
        left = round(int(found[2]) - sent.at * 1000)
        return f"{found[1]}'\"$(($(date +%s) * 1000 + {left}))\"'" if left > 0 else found[0]

    return _DEADLINE.sub(shift_deadline, shlex.quote(_escape(text)))


def _escape(text: str) -> str:
    """Escape the characters of a JSON text that would move the cursor of a terminal."""
    if text.isprintable():
        return text
    escaped = "".join(
        char if char.isprintable() else " " if char in "\n\r\t" else _ESCAPED(char)[1:-1] for char in text
    )
    return escaped.replace("\x7f", r"\u007f")


_ESCAPED = json.JSONEncoder().encode


def _headers(target: ShellTarget) -> str:
    return "".join(f" -H {_header(target, name, value)}" for name, value in target.headers.items())


def _header(target: ShellTarget, name: str, value: str) -> str:
    """Return a header as a shell word. The shell expands a variable only if the run itself named the variable."""
    found = _VARIABLE.fullmatch(value) if target.recorded is None else None
    if found is None:
        return shlex.quote(printable(f"{name}: {value}"))
    if _HEADER.fullmatch(name):
        return f'"{name}: {value}"'
    beginning = printable(f"{name}: {found[1] or ''}")
    return f'{shlex.quote(beginning)}"${found[2]}"'


def _curl_command(target: ShellTarget, sent: SentRequest) -> str:
    accept = f" -N -H 'Accept: {NDJSON}'" if sent.streaming else ""
    head = rf"curl -gsS -w '\n'{accept} -H 'Content-Type: application/json'{_headers(target)}"
    return f"{head} --data-raw {_quote(sent.text, sent)} {target.address}"


def _channel_line(number: int, sent: SentRequest) -> str:
    """Return a command that writes one message for a program or a WebSocket, and waits for the answer.

    The message names the entry point if the operation does not determine it.
    """
    op = next(iter(re.findall(r'"op":\s*"([^"]*)"', sent.text)), "")
    usual = op in BY_OP and BY_OP[op].streaming
    stream = "" if usual == sent.streaming else f',"stream":{json.dumps(sent.streaming)}'
    line = f'{{"id":{number},"envelope":{sent.text}{stream}}}'
    return f"printf '%s\\n' {_quote(line, sent)}; sleep {WAIT_S}"


def _grpcurl_command(target: ShellTarget, sent: SentRequest) -> str:
    method = "HandleStream" if sent.streaming else "Handle"
    data = base64.b64encode(_escape(sent.text).encode()).decode()
    if sent.budgets_ms:
        data = f"'\"$(printf '%s' {_quote(sent.text, sent)} | base64 -w0)\"'"
    host = shlex.quote(target.declared.partition("://")[2].partition("/")[0])
    if target.recorded:
        host = '"${ADAPTER#grpc://}"'
    body = f'\'{{"json":"{data}"}}\''
    return f"grpcurl -plaintext -proto adapter.proto{_headers(target)} -d {body} {host} {GRPC_SERVICE}/{method}"


def _python_script(target: ShellTarget, sent: Sequence[SentRequest]) -> Iterator[str]:
    """Yield the lines of a script for an adapter that a Python factory creates."""
    spec = repr(target.declared) if target.is_importable else 'os.environ["ADAPTER"]'
    yield "python - <<'END'"
    yield "import asyncio, json, os, time"
    yield "from pytest_corpus.evidence.sending import open_adapter"
    yield "async def main():"
    yield f"    async with open_adapter({spec}, {target.component!r}) as send:"
    for each in sent:
        yield f"        request = json.loads({_escape(each.text)!r})"
        for left in each.budgets_ms[:1]:
            yield f'        request["ctx"]["deadline_ms"] = int(time.time() * 1000) + {left}'
        yield f"        async for frame in send(request, streaming={each.streaming}): print(frame)"
    yield "asyncio.run(main())"
    yield "END"


def sent_requests(line: Mapping[str, Any]) -> list[SentRequest]:
    """Return the requests in a line of a transcript."""
    entry_point = line.get("entry_point")
    requests = [each["request"] for each in line.get("calls", [line]) if "request" in each and entry_point != "raw"]
    faults = line.get("faults_struck", ())
    return [SentRequest(text_of(each), entry_point == "handle_stream", line["at"], faults) for each in requests]
