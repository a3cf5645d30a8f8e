"""Objects of an adapter's that raise, lie, change or never end: looked at once, and never raising into the suite."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from typing import Any

import pytest
from arrivals import arrived

from pytest_corpus.adapter.client import AdapterClient
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.exchange import non_finite
from pytest_corpus.adapter.hooks.logs import LogTap
from pytest_corpus.adapter.hooks.metrics import RecordingSink
from pytest_corpus.adapter.hooks.provider import ProviderProbe
from pytest_corpus.adapter.snapshot import NotJSON, UnreadableValue, snapshot
from pytest_corpus.text.problems import MAX_DEPTH

Open = Callable[..., AdapterClient]
REQUEST = {"op": "llm.complete", "ctx": {}, "args": {}}
SECRET = "sk_live_51H8xAbCdEf"


class Boom(BaseException):
    """An exception that no `except Exception` catches."""


def boom(*_: Any, **__: Any) -> Any:
    raise Boom(SECRET)


def raising(method: str, base: type = dict) -> Any:
    """An object of a builtin's subclass of which one method raises."""
    kind = type("Hostile", (base,), {method: boom})
    return kind({"ok": True}) if base is dict else kind()


class Endless(Mapping[str, Any]):
    """A mapping that holds another one, for ever."""

    def __getitem__(self, key: str) -> Any:
        return Endless()

    def __iter__(self) -> Iterator[str]:
        return iter(["more"])

    def __len__(self) -> int:
        return 1


class Pretender:
    """An object whose class is a lie that raises."""

    @property
    def __class__(self) -> Any:
        return boom()


class Changing(dict[str, Any]):
    """An object that gives something else at each look."""

    looks = 0

    def items(self) -> Any:
        self.looks += 1
        return [("look", self.looks)]


class Loud(str):
    """A text whose every conversion raises."""

    __str__ = __repr__ = __eq__ = __hash__ = __len__ = __iter__ = boom  # type: ignore[assignment]


def nested(depth: int) -> Any:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def around() -> Any:
    """A list that holds itself."""
    value: list[Any] = []
    value.append(value)
    return value


NO_ANSWERS = {
    "items": lambda: raising("items"),
    "a_list_iter": lambda: type("Hostile", (list,), {"__iter__": boom})([1]),
    "too_deep": lambda: nested(MAX_DEPTH + 1),
    "deep": lambda: {"ok": True, "result": nested(100_000)},
    "itself": around,
    "endless": Endless,
    "pretender": Pretender,
    "a_long_integer": lambda: 10**5000,
    "a_set": lambda: {1},
    "an_object": object,
    "bytes": lambda: b"",
    "a_key": lambda: {(1, 2): 3},
}


@pytest.mark.parametrize("name", [name for name in NO_ANSWERS if name != "a_list_iter"])
def test_what_is_no_json(name: str) -> None:
    """Anything that goes wrong while an answer is read makes it `NotJSON`, and shows nothing of its content."""
    with pytest.raises(NotJSON) as caught:
        arrived({"answer": NO_ANSWERS[name]()})
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("method", ["items", "__iter__", "__len__", "__getitem__", "keys"])
def test_methods_of_a_dict_that_raise(method: str) -> None:
    """A dict whose methods raise is read, or is not JSON; nothing else is raised."""
    try:
        body = arrived(raising(method)).body
    except NotJSON:
        return
    assert type(body) is dict


def test_it_is_looked_at_once() -> None:
    """An object that changes at each look has the content of the first."""
    assert arrived(Changing(a=1)).body == {"look": 1}


def test_texts_are_plain() -> None:
    """A subclass of a text becomes a text."""
    body = arrived({"a": Loud("x")}).body
    assert type(body["a"]) is str
    assert body == {"a": "x"}


def test_an_integer_that_no_double_holds() -> None:
    """It is an infinity, as in the next reader, and is found as one; digits in a text are text."""
    digits = "9" * 400
    body = arrived({"number": int(digits), "text": digits, "large": 10**300}).body
    assert list(non_finite(body)) == ["number"]
    assert (body["text"], body["large"]) == (digits, 10**300)


ODD = {
    "loud": lambda: Loud("complete"),
    "pretender": Pretender,
    "str_raises": lambda: raising("__str__", object),
    "repr_raises": lambda: raising("__repr__", object),
    "eq_raises": lambda: raising("__eq__", object),
    "items_raises": lambda: raising("items"),
    "changing": lambda: Changing(a=1),
    "endless": Endless,
    "deep": lambda: nested(700),
    "itself": around,
    "huge": lambda: 10**5000,
    "a_set": lambda: {1},
    "class": lambda: Loud,
}


@pytest.mark.parametrize("name", ODD)
def test_a_plain_copy(name: str) -> None:
    """The copy of anything that a hook gets holds plain types and can be compared, written, and hashed or not."""
    copy = snapshot(ODD[name]())
    assert copy == copy  # noqa: PLR0124 - it must not raise
    assert isinstance(copy, UnreadableValue) or type(json.loads(json.dumps(copy, default=str))) is type(copy)


@pytest.mark.parametrize("name", ODD)
def test_metrics_raise_nothing(name: str) -> None:
    """Objects of any kind in metrics raise neither into the adapter nor into who reads them."""
    sink, odd = RecordingSink(), ODD[name]
    sink.observe(component=odd(), op=odd(), ms=odd(), ok=odd(), code=odd(), extra=odd())
    sink.observe(component="llm", op="complete", ms=1, ok=True, extra={"tenant_hash": odd(), "more": 1})
    sink.counter(component=odd(), name=odd(), value=odd(), extra={"code": odd()})
    for labels in ([each.labels() for each in sink.observations], [each.labels() for each in sink.counts]):
        json.dumps(labels, default=str)
    assert sink.observations[1].extra["more"] == 1
    assert sink.counts[0].malformed == ""


def test_the_unknown_arguments_are_counted() -> None:
    """The names of arguments may be content, too."""
    sink = RecordingSink()
    sink.observe(component="llm", op="complete", ms=1, ok=True, **{SECRET: 1})
    assert sink.observations[0].malformed == "1 unknown argument"


@pytest.mark.parametrize("name", ODD)
def test_the_provider_probe_raises_nothing(name: str) -> None:
    """Odd arguments of `reached` count as an arrival, and no plan of another op strikes."""
    probe, odd = ProviderProbe(), ODD[name]
    probe.plan("auth", "llm.embed")
    probe.plan("auth", "llm.embed", at_chunk=1)
    asyncio.run(probe.reached(odd(), items=odd()))
    asyncio.run(probe.reached("llm.complete", chunk=odd()))
    assert probe.calls() == 1
    assert all(type(op) is str for op in probe.arrivals)


@pytest.mark.parametrize("name", ODD)
def test_the_log_tap_raises_nothing(name: str) -> None:
    """A record that cannot be written is heard all the same."""
    odd = ODD[name]
    with LogTap() as tap:
        logging.getLogger("tests.hostile").warning("got %s %d", odd(), 1, extra={"field": odd()})
        logging.getLogger("tests.hostile").warning(odd())
        logging.getLogger("tests.hostile").error("broken", exc_info=(Boom, Boom(odd()), None))
    assert len(tap.texts) == 3
    assert all(type(text) is str for text in tap.texts)


def test_a_record_that_cannot_be_written_is_not_handed_on() -> None:
    """`logging` alone would only complain of it; the handlers of a test runner raise into the adapter's call."""
    seen: list[str] = []

    class Strict(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record.getMessage())

    logger, handler = logging.getLogger("tests.strict"), Strict()
    logger.addHandler(handler)
    with LogTap() as tap:
        logger.warning("%d", "no number")
        logger.warning("%s", "")
    logger.removeHandler(handler)
    assert seen == [""]
    assert len(tap.texts) == 2
    assert "no number" in tap.texts[0]


OUTCOMES = (pytest.skip.Exception, pytest.fail.Exception, pytest.xfail.Exception, pytest.exit.Exception)
RAISED: list[Callable[[], BaseException]] = [
    ValueError, asyncio.CancelledError, KeyboardInterrupt, SystemExit, GeneratorExit, StopAsyncIteration, Boom,
    *(lambda kind=kind: kind("odd") for kind in OUTCOMES),
    lambda: BaseExceptionGroup(SECRET, [SystemExit(), KeyboardInterrupt()]),
]  # fmt: skip


def named(make: Callable[[], BaseException]) -> str:
    return type(make()).__name__


class Frames:
    """Frames of which one method raises."""

    def __init__(self, where: str, error: BaseException) -> None:
        self.where, self.error, self.left = where, error, 2

    def _reach(self, where: str) -> None:
        if where == self.where:
            raise self.error

    def __aiter__(self) -> Frames:
        self._reach("aiter")
        return self

    async def __anext__(self) -> Any:
        self._reach("anext")
        self.left -= 1
        if self.left < 0:
            raise StopAsyncIteration
        return {"left": self.left}

    async def aclose(self) -> None:
        self._reach("aclose")


class Hostile:
    """A handler that raises at one place."""

    def __init__(self, where: str, make: Callable[[], BaseException]) -> None:
        self.where, self.make, self.calls = where, make, 0

    def _reach(self, where: str) -> None:
        if where == self.where:
            raise self.make()

    async def handle(self, envelope: Any) -> Any:
        self.calls += 1
        if self.calls == 1:
            self._reach("handle")
        return {"ok": True}

    def handle_stream(self, envelope: Any) -> Any:
        self._reach("handle_stream")
        return Frames(self.where, self.make())


@pytest.mark.parametrize("make", RAISED, ids=named)
@pytest.mark.parametrize("where", ["handle", "handle_stream", "aiter", "anext", "aclose"])
def test_raised_at_every_await(opened: Open, where: str, make: Callable[[], BaseException]) -> None:
    """It is a fault that names the type, or nothing where a reader leaves; frames stay, and the next call works."""
    client = opened(lambda: Hostile(where, make))
    exchange = client.send(REQUEST, "llm", streaming=where != "handle")
    assert client.part.exchanges == [exchange]
    if where == "aclose" or (where == "anext" and named(make) == "StopAsyncIteration"):
        assert exchange.fault is None
        assert len(exchange.frames) == (2 if where == "aclose" else 0)
    else:
        assert exchange.fault is not None
        assert exchange.fault.kind == "raised"
        assert SECRET not in exchange.fault.text
    assert client.send(REQUEST, "llm").frames[0].body == {"ok": True}


@pytest.mark.parametrize("make", RAISED, ids=named)
@pytest.mark.parametrize("where", ["factory", "aenter", "aexit", "close"])
def test_raised_in_a_life(where: str, make: Callable[[], BaseException], opened: Open) -> None:
    """An exception while opening is a bad declaration, one while closing is reported; nothing else is raised."""

    class Living(Hostile):
        async def __aenter__(self) -> None:
            self._reach("aenter")

        async def __aexit__(self, *_: Any) -> None:
            self._reach("aexit")

    class Closing(Hostile):
        def close(self) -> None:
            self._reach("close")

    def factory() -> Any:
        if where == "factory":
            raise make()
        return (Closing if where == "close" else Living)(where, make)

    if where in ("factory", "aenter"):
        with pytest.raises(DeclarationError, match=named(make)):
            opened(factory)
    else:
        [said] = opened(factory).close()
        assert said.startswith(f"closing raised {named(make)}")


def test_a_door_that_raises(opened: Open) -> None:
    """A `handle_stream` that cannot even be looked up is there, and calling it is a fault."""

    class Door:
        async def handle(self, envelope: Any) -> Any:
            return {}

        @property
        def handle_stream(self) -> Any:
            return boom()

    client = opened(Door)
    assert client.instance.has_stream("llm")
    fault = client.send(REQUEST, "llm", streaming=True).fault
    assert fault is not None
    assert (fault.kind, fault.text) == ("raised", "Boom")


@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer(opened: Open, name: str) -> None:
    """An answer of any kind is an answer or a fault, unary or framed."""

    class Odd:
        async def handle(self, envelope: Any) -> Any:
            return ODD[name]()

        async def handle_stream(self, envelope: Any) -> AsyncIterator[Any]:
            yield ODD[name]()

    client = opened(Odd)
    for streaming in (False, True):
        exchange = client.send(REQUEST, "llm", streaming=streaming)
        assert bool(exchange.frames) == (exchange.fault is None)
        assert exchange.fault is None or (exchange.fault.kind, SECRET in exchange.fault.text) == ("not_json", False)
