"""The client library under test: an object that builds requests. The object is made once; a builder is called once."""

from __future__ import annotations

import concurrent.futures
import inspect
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pytest_corpus.adapter.event_loop.closing import ClosingBudget
from pytest_corpus.adapter.event_loop.loop import LoopThread, TimeLimit, is_cancelled
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening import factory as factories
from pytest_corpus.redaction import type_name
from pytest_corpus.spec.components import COMPONENTS
from pytest_corpus.validation.requests.cases import (
    CASES,
    WireRequestCase,
    get_adapter_builder,
    has_attribute,
    possible_components,
)


@dataclass(frozen=True, slots=True)
class BuildResult:
    """The envelope that a builder returned, or `fault`: the reason why there is no envelope, without content."""

    envelope: Any = None
    fault: str = ""


class ClientLibrary:
    """A declared client: an object with builders, a class or factory for such objects, or a mapping of them.

    Builders may be coroutine functions. All builders run in one event loop in a separate thread.
    """

    def __init__(
        self, found: Any, declared: str, call_timeout: float = 30.0, closing: ClosingBudget | None = None
    ) -> None:
        self.closing = closing or ClosingBudget()
        self.found, self.declared, self.call_timeout = found, declared, call_timeout
        self.holder: Any = None
        self._opened = factories.OpenedAdapter()
        self._loop: LoopThread | None = None
        self._built: dict[str, BuildResult] = {}

    def open(self) -> ClientLibrary:
        """Make the object that has the builders.

        Raises:
            DeclarationError: a factory raises or takes longer than the call limit, or its result has no builders.
        """
        self._loop = LoopThread("corpus-client")
        self._opened = factories.OpenedAdapter()
        try:
            self.holder = factories.run_within_limit(self._loop, self._make_clients(), self.call_timeout, self.declared)
        except DeclarationError as error:
            error.kind = "client"
            self.close()
            raise
        return self

    @property
    def is_open(self) -> bool:
        """True if the library is open, so its builders can be called."""
        return self._loop is not None

    async def _make_clients(self) -> Any:
        found = self.found
        if _is_factory(found):
            if "component" in factories.accepted_hooks(found, self.declared):
                made, refused = {}, []
                for component in COMPONENTS:
                    try:
                        made[component] = await self._call_factory(partial(found, component=component))
                    except DeclarationError as error:
                        refused.append(error)
                if not made:
                    raise refused[0]
                return made
            found = await self._call_factory(found)
        if not isinstance(found, Mapping):
            return found
        for name in found:
            if name not in COMPONENTS:
                raise self._declaration_error(
                    "the mapping has a key that is not a component", f"use {', '.join(COMPONENTS)}"
                )
        if not found:
            raise self._declaration_error("the mapping is empty")
        return {name: await self._call_factory(part) if _is_factory(part) else part for name, part in found.items()}

    async def _call_factory(self, factory: Callable[[], Any]) -> Any:
        try:
            return await factories.enter_result(factory(), self._opened)
        except BaseException as error:
            if is_cancelled(error):
                raise
            wrong = factories.user_code_error(self.declared, "the factory", error)
            wrong.kind = "client"
            raise wrong from error

    def _declaration_error(self, fault: str, remedy: str = "") -> DeclarationError:
        return DeclarationError(self.declared, fault, remedy, kind="client")

    def close(self) -> list[str]:
        """Close the results of factories and end the loop; return the exceptions of closing."""
        loop, self._loop = self._loop, None
        if loop is None:
            return []
        started = time.monotonic()
        try:
            said = loop.finish(self._opened.close(), self.closing.allot_seconds(last=True))
            left = loop.stop()
        finally:
            self.closing.spend(time.monotonic() - started)
        return [*said, *([f"closing left behind {', '.join(left)}"] if left else [])]

    def name_of(self, case: WireRequestCase) -> str:
        """Return the name of an operation's builder; empty if there is no clear builder."""
        mapped = isinstance(self.holder, Mapping)
        holder = self.holder.get(case.component) if mapped else self.holder
        if has_attribute(holder, case.qualified_method):
            return case.qualified_method
        there = has_attribute(holder, case.build_method)
        return case.build_method if there and (mapped or case.component in possible_components(holder, case)) else ""

    def has_unclear_component(self, case: WireRequestCase) -> bool:
        """True if the only builder has a name that could also mean an operation of another component."""
        clear = isinstance(self.holder, Mapping) or self.name_of(case) != case.build_method
        return not clear and possible_components(self.holder, case) != (case.component,)

    def build(self, case: WireRequestCase) -> BuildResult:
        """Return the result of a case's builder, which is called once in a run."""
        if case.op not in self._built:
            self._built[case.op] = self._call(case)
        return self._built[case.op]

    def _call(self, case: WireRequestCase) -> BuildResult:
        if self._loop is None or self._loop.blocked:
            self.open()
        assert self._loop is not None
        try:
            return self._loop.run(self._call_builder(case), self.call_timeout)
        except TimeLimit as late:
            if late.ended:
                return BuildResult(fault=f"raises {late.ended}")
            return BuildResult(fault=f"has no end after {self.call_timeout:g} s")
        except concurrent.futures.CancelledError:
            return BuildResult(fault="raises CancelledError")

    async def _call_builder(self, case: WireRequestCase) -> BuildResult:
        try:
            builder = get_adapter_builder(self.holder, case)
            if builder is None:
                return BuildResult(fault="cannot be called")
            if missing := _required_parameter(builder):
                return BuildResult(fault=f"requires an argument {missing!r}")
            made = builder()
            return BuildResult(await made if inspect.isawaitable(made) else made)
        except BaseException as error:
            if is_cancelled(error):
                raise
            return BuildResult(fault=f"raises {type_name(error)}")


def _is_factory(found: Any) -> bool:
    """True if the declared object must be called to make the object with the builders."""
    return isinstance(found, type) or (callable(found) and not has_any_builder(found))


def has_any_builder(holder: Any) -> bool:
    """True if an object has a builder of any operation."""
    return any(has_attribute(holder, name) for case in CASES for name in (case.qualified_method, case.build_method))


def _required_parameter(builder: Callable[..., Any]) -> str:
    """Return the first required parameter of a builder; empty if it has none."""
    try:
        parameters = inspect.signature(builder).parameters.values()
    except (TypeError, ValueError):
        return ""
    passed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = (each.name for each in parameters if each.default is each.empty and each.kind not in passed)
    return next(needed, "")
