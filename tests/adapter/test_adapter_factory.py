"""From a declaration to what reaches wire handlers."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.adapter.transports.protocol import CallFailed


class Handler:
    """The least that is a wire handler."""

    async def handle(self, envelope: Any) -> dict[str, Any]:
        return {"seen": envelope}


@pytest.mark.parametrize(("declared", "expected"), [
    ("mypkg:factory", ("", "mypkg:factory")),
    ("label=mypkg:factory", ("label", "mypkg:factory")),
    (" label = mypkg:factory ", ("label", "mypkg:factory")),
    ("a b=mypkg:factory", ("a b", "mypkg:factory")),
    ("=mypkg:factory", ("", "mypkg:factory")),
    ("http://h:1/a=b=transcript:t.jsonl", ("http://h:1/a=b", "transcript:t.jsonl")),
    ("cmd:serve --x=1=transcript:a=b.jsonl", ("cmd:serve --x=1", "transcript:a=b.jsonl")),
])  # fmt: skip
def test_split_label(declared: str, expected: tuple[str, str]) -> None:
    """Everything before the first equals sign is the label; of a transcript, which may be an address, before it."""
    assert factories.split_label(declared) == expected


def test_resolve() -> None:
    """Dotted attributes are followed."""
    assert factories.import_factory("pathlib:Path.cwd") == Path.cwd


@pytest.mark.parametrize(("spec", "fault"), [
    ("pathlib", "is not of the form 'module:attribute'"),
    ("pathlib:", "is not of the form 'module:attribute'"),
    (":Path", "is not of the form 'module:attribute'"),
    ("", "is not of the form 'module:attribute'"),
    ("no_such_module_here:x", "there is no module 'no_such_module_here'"),
    ("pathlib.nothing:x", "there is no module 'pathlib.nothing'"),
    ("pathlib:Pathh", "did you mean 'Path'?"),
    ("pathlib:Path.cwdd", "did you mean 'cwd'?"),
    ("sys:maxsize", "'maxsize' is a int, which cannot be called"),
    ("..relative:x", "relative"),
    ("a b:x", "there is no module 'a b'"),
])  # fmt: skip
def test_resolve_says_what_is_wrong(spec: str, fault: str) -> None:
    """Any fault of a spec is a declaration error that names the spec and the fault."""
    with pytest.raises(DeclarationError) as caught:
        factories.import_factory(spec)
    assert repr(spec) in str(caught.value)
    assert fault in str(caught.value)


def test_resolve_makes_the_invocation_folder_importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module in the current folder is found."""
    (tmp_path / "only_here_once.py").write_text("def factory(): pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    assert callable(factories.import_factory("only_here_once:factory"))


def test_a_missing_import_of_the_module_is_not_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is there but imports what is not is not said to be missing."""
    (tmp_path / "half_installed.py").write_text("import not_installed_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(DeclarationError, match="importing 'half_installed' raises ModuleNotFoundError"):
        factories.import_factory("half_installed:factory")


def _all(metrics: Any, *, provider: Any, component: Any = None) -> None: ...
def _none() -> None: ...
def _variadic(*args: Any, **kwargs: Any) -> None: ...
def _defaults(metrics: Any = None, url: str = "x") -> None: ...
def _positional_only(metrics: Any, /) -> None: ...
def _required(url: str) -> None: ...
def _required_keyword(*, url: str) -> None: ...


@pytest.mark.parametrize(("factory", "expected"), [
    (_all, ("metrics", "provider", "component")),
    (_none, ()),
    (_variadic, ()),
    (_defaults, ("metrics",)),
    (Handler, ()),
    (dict, ()),
])  # fmt: skip
def test_asked_for(factory: Callable[..., Any], expected: tuple[str, ...]) -> None:
    """A factory is given exactly what it names."""
    assert factories.accepted_hooks(factory, "x:y") == expected


@pytest.mark.parametrize("factory", [_required, _required_keyword, _positional_only])
def test_asks_for_what_there_is_not(factory: Callable[..., Any]) -> None:
    """A required argument of another name, or without one, is refused with the names there are."""
    with pytest.raises(DeclarationError, match="metrics, provider, component"):
        factories.accepted_hooks(factory, "x:y")


def opened(factory: Callable[..., Any], **keywords: Any) -> factories.OpenedAdapter:
    found = factories.OpenedAdapter()
    asyncio.run(factories.open_factory(factory, keywords, None, "x:y", found))
    return found


async def _coroutine() -> Handler:
    return Handler()


def _function() -> Handler:
    return Handler()


@pytest.mark.parametrize("factory", [Handler, _coroutine, _function])
def test_one_handler_serves_every_component(factory: Callable[..., Any]) -> None:
    """A single handler is asked for whatever component."""
    found = opened(factory)
    assert found.has_handler("llm")
    assert asyncio.run(found.transport("llm").send(1)) == b'{"seen":1}'
    assert found.transport("llm") is found.transport("graph")


def test_a_mapping_serves_its_components() -> None:
    """A mapping serves the components it names and no other."""
    found = opened(lambda: {"llm": Handler()})
    assert asyncio.run(found.transport("llm").send(1)) == b'{"seen":1}'
    assert (found.has_handler("llm"), found.has_handler("vector")) == (True, False)


def test_the_keyword_component_decides() -> None:
    """The adapter that a factory returns for a component serves that one alone."""
    found = opened(lambda component: Handler(), component="vector")
    assert asyncio.run(found.transport("vector").send(1)) == b'{"seen":1}'
    assert (found.has_handler("vector"), found.has_handler("llm")) == (True, False)
    with pytest.raises(CallFailed, match="AttributeError"):
        asyncio.run(found.transport("llm").send(1))


@pytest.mark.parametrize(("made", "fault"), [
    (None, "returns None"),
    (7, "an object of type int"),
    (Handler, "the class Handler"),
    ({}, "empty mapping"),
    ({"speech": Handler()}, "the key 'speech'"),
    ({"llm": None}, "returns None"),
    ({1: Handler()}, "the key 1"),
    ([Handler()], "an object of type list"),
])  # fmt: skip
def test_what_is_no_adapter(made: Any, fault: str) -> None:
    """A value that is not an adapter is refused with its type."""
    with pytest.raises(DeclarationError, match=fault):
        opened(lambda: made)


def test_closing_order_and_faults() -> None:
    """The last opened is closed first, and what one raises keeps no other from being closed."""
    closed: list[int] = []
    found = factories.OpenedAdapter()

    def closer(number: int) -> Callable[[], Any]:
        async def close() -> None:
            closed.append(number)
            if number == 2:
                raise ValueError("stuck\nhere")

        return close

    found.closers += [closer(number) for number in (1, 2, 3)]
    assert asyncio.run(found.close()) == ["ValueError: stuck"]
    assert closed == [3, 2, 1]
    assert asyncio.run(found.close()) == []


def test_a_declaration_error_is_one_sentence() -> None:
    """It names declaration, fault and remedy."""
    error = DeclarationError("a:b", "it is gone", "look again")
    assert str(error) == "corpus adapter 'a:b': it is gone; look again"
    assert str(DeclarationError("a:b", "it is gone")) == "corpus adapter 'a:b': it is gone"
