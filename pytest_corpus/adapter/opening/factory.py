"""Finds the factory in a declaration, and opens its wire handlers; an SDK adapter gets a wire handler."""

import concurrent.futures
import importlib
import inspect
import os
import pkgutil
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pytest_corpus.adapter.event_loop.loop import LoopThread, TimeLimit, is_cancelled
from pytest_corpus.adapter.exceptions import DeclarationError
from pytest_corpus.adapter.opening import address
from pytest_corpus.adapter.opening.remote import RemoteAdapter
from pytest_corpus.adapter.snapshot import safe_str
from pytest_corpus.adapter.tracebacks import escaped_exception
from pytest_corpus.adapter.transports.in_process import InProcess
from pytest_corpus.adapter.transports.protocol import Transport
from pytest_corpus.redaction import display_path, redact, type_name
from pytest_corpus.spec.components import COMPONENTS, TITLES
from pytest_corpus.text.values import most_similar


@dataclass(frozen=True, slots=True)
class SdkHandler:
    """A wire handler for an SDK adapter. `attached` is True if the adapter reports to the suite's metrics sink."""

    component: str
    handler: Any
    attached: bool


def wrap_sdk_adapter(candidate: Any, metrics: Any) -> SdkHandler | None:
    """Return the SDK's wire handler for an SDK adapter; None if `candidate` is not an SDK adapter.

    If the adapter's metrics sink is the SDK's no-op sink, `metrics` replaces it.
    """
    for component in COMPONENTS:
        module = sys.modules.get(f"corpus_sdk.{component}.{component}_base")
        if module is None:
            continue
        base = getattr(module, f"Base{TITLES[component]}Adapter", None)
        if isinstance(base, type) and isinstance(candidate, base):
            unset = [name for name, value in vars(candidate).items() if isinstance(value, module.NoopMetrics)]
            for name in unset:
                setattr(candidate, name, metrics)
            handler = getattr(module, f"Wire{TITLES[component]}Handler")(candidate)
            return SdkHandler(component, handler, bool(unset))
    return None


KEYWORDS = ("metrics", "provider", "component")
"""The arguments that a factory may ask for by name."""

TRANSCRIPT = "transcript:"
"""The beginning of a declaration that names a transcript."""

MOST_PLACES = 3
"""The number of innermost lines of a traceback that are shown."""

T = TypeVar("T")

Closer = Callable[[], Awaitable[None]]


def split_label(declared: str) -> tuple[str, str]:
    """Split ``label=mypkg:factory`` into label and spec. The default label is the address, or empty."""
    label, recorded, path = declared.rpartition(f"={TRANSCRIPT}")
    if recorded:  # the label of a transcript may be an address
        return label, f"{TRANSCRIPT}{path}"
    if (found := address.split_label(declared)) is not None:
        return found
    label, equals, spec = declared.partition("=")
    return (label.strip(), spec.strip()) if equals else ("", declared.strip())


def import_factory(spec: str) -> Callable[..., Any]:
    """Import the factory ``module:attr.attr``. Raises DeclarationError if it cannot be imported or called."""
    found = import_object(spec)
    if not callable(found):
        path = spec.partition(":")[2]
        raise DeclarationError(spec, f"{path!r} is a {type(found).__name__}, which cannot be called")
    return found  # type: ignore[no-any-return]


def import_object(spec: str) -> Any:
    """Import the object ``module:attr.attr``, also from the working folder. Raises DeclarationError."""
    module_name, colon, path = spec.partition(":")
    if not colon or not module_name or not path:
        raise DeclarationError(spec, "is not of the form 'module:attribute'", "write it as mypkg.module:factory")
    if "/" in module_name or os.sep in module_name or (module_name.endswith(".py") and Path(module_name).is_file()):
        raise DeclarationError(spec, "names a file and not a module", _module_advice(Path(module_name), path))
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name and module_name.startswith(error.name):
            raise DeclarationError(
                spec, f"there is no module {error.name!r}", _missing_module_advice(error.name)
            ) from error
        if isinstance(error, ImportError) and "no known parent package" in str(error):
            fault = "uses relative imports, and is imported without its package"
            raise DeclarationError(spec, fault, _module_advice(Path(f"{module_name}.py"), path)) from error
        raise user_code_error(spec, f"importing {module_name!r}", error) from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            known = [key for key in dir(found) if not key.startswith("_")]
            raise DeclarationError(
                spec, f"{module_name!r} has no attribute {path!r}", _suggest_name(name, known)
            ) from None
        except BaseException as error:
            raise user_code_error(spec, f"reading {path!r}", error) from error
    return found


def spec_of(factory: Any) -> str:
    """Return the `module:attribute` under which a factory is defined; empty if it is unknown."""
    module, path = getattr(factory, "__module__", None), getattr(factory, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str):
        return ""
    found: Any = sys.modules.get(module)
    for name in path.split("."):
        found = getattr(found, name, None)
    return f"{module}:{path}" if found is factory else ""


def _module_advice(file: Path, attribute: str) -> str:
    """Return the advice to name a module of a package instead of a file."""
    file = file.absolute().with_suffix("")
    names, folder = [file.name], file.parent
    while (folder / "__init__.py").is_file() or (folder != Path.cwd() and Path.cwd() in folder.parents):
        names, folder = [folder.name, *names], folder.parent
    where = "" if folder == Path.cwd() else f", and run pytest in {folder}"
    return f"write it as {'.'.join(names)}:{attribute}{where}"


def _missing_module_advice(name: str) -> str:
    """Return the advice about a missing module: a similar name, or the folders where Python looks for modules."""
    package, _, last = name.rpartition(".")
    places = getattr(sys.modules[package], "__path__", ()) if package else None
    return _suggest_name(
        last, [each.name for each in pkgutil.iter_modules(places)], f"{package}." if package else ""
    ) or (
        f"{os.getcwd()} and installed packages were searched: run pytest where {name!r} can be imported, or install it"
    )


def user_code_error(declared: str, what: str, error: BaseException) -> DeclarationError:
    """Return the error for an exception in the user's code, with the lines of that code that raised it.

    For a failed import only names are shown.
    """
    found = escaped_exception(error)
    way = ", ".join(f"{place} in {place.function}" for place in found.own_places[-MOST_PLACES:])
    if isinstance(error, SyntaxError) and error.filename:  # its traceback lacks the line of the error
        way = f"{display_path(error.filename)}:{error.lineno}"
    fault = f"{what} raises {describe(error)}" + (f" (at {way})" if way else "")
    plain = isinstance(error, (ImportError, SyntaxError))
    return DeclarationError(declared, fault, shape="" if plain else f"{what} raises {found}")


def describe(error: BaseException) -> str:
    """Return an exception in one line: its type and the first line of its text, without possible credentials."""
    first = safe_str(error.msg if isinstance(error, SyntaxError) else error).strip().splitlines()
    return f"{type_name(error)}: {redact(first[0][:200])}" if first else type_name(error)


def _suggest_name(name: str, known: list[str], prefix: str = "") -> str:
    near = most_similar(name, known)
    return f"did you mean {prefix + near!r}?" if near else ""


def accepted_hooks(factory: Callable[..., Any], declared: str) -> tuple[str, ...]:
    """Return the hooks that a factory accepts, by name. Raises DeclarationError if it requires other arguments."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a signature of the adapter's own making may raise anything
        return ()
    keyword = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    asked = []
    for parameter in parameters:
        if parameter.name in KEYWORDS and parameter.kind in keyword:
            asked.append(parameter.name)
        elif parameter.default is parameter.empty and parameter.kind in (*keyword, parameter.POSITIONAL_ONLY):
            raise DeclarationError(
                declared,
                f"the factory requires an argument {parameter.name!r}",
                f"a factory is given only {', '.join(KEYWORDS)}; give the others a default",
            )
    return tuple(asked)


class OpenedAdapter:
    """The opened result of a factory: its transports, and the functions that close it.

    Attributes:
        transports: the transport of each component that the factory named.
        shared: the transport to all other components, or None.
        parts: the objects that the factory returned.
        closers: the functions that close these objects; a transport with a connection adds its `aclose`.
        metrics_attached: True if an SDK adapter got the recording sink.
        remote: the adapter, if it is outside of this process.
    """

    def __init__(self) -> None:
        self.transports: dict[str, Transport] = {}
        self.shared: Transport | None = None
        self.parts: list[Any] = []
        self.closers: list[Closer] = []
        self.metrics_attached = False
        self.remote: RemoteAdapter | None = None

    def has_handler(self, component: str) -> bool:
        """True if there is a handler for the operations of a component."""
        return component in self.transports or self.shared is not None

    def transport(self, component: str) -> Transport:
        """Return the transport to a component. If no handler serves the component, each call of the transport fails."""
        return self.transports.get(component, self.shared) or InProcess(None)

    async def close(self) -> list[str]:
        """Close everything in reverse order; return the exceptions, for a warning."""
        raised = []
        while self.closers:
            try:
                await self.closers.pop()()
            except BaseException as error:
                if is_cancelled(error):
                    raise
                raised.append(describe(error))
        return raised


def run_within_limit(loop: LoopThread, work: Coroutine[Any, Any, T], limit_s: float, declared: str) -> T:
    """Run work of a factory in the event loop of its adapter, and return its result.

    Raises:
        DeclarationError: the factory exceeds the limit, stops the loop, or raises CancelledError.
    """
    try:
        return loop.run(work, limit_s)
    except TimeLimit as late:
        fault = f"raises {late.ended}" if late.ended else f"takes longer than {limit_s:g} s"
    except concurrent.futures.CancelledError:
        fault = "raises CancelledError"
    raise DeclarationError(declared, f"the factory {fault}")


async def open_factory(
    factory: Callable[..., Any], keywords: Mapping[str, Any], sink: Any, declared: str, opened: OpenedAdapter
) -> None:
    """Call `factory` in the event loop of the adapter, and add its result to `opened`.

    `sink` replaces the no-op sink of an SDK adapter, even if the factory does not take `metrics`.

    Raises:
        DeclarationError: the factory raises, or its result is not an adapter.
    """
    try:
        made = await enter_result(factory(**keywords), opened)
        parts: Mapping[str, Any] = made if isinstance(made, Mapping) else {keywords.get("component") or "": made}
        if not parts:
            raise DeclarationError(declared, "the factory returns an empty mapping")
        for name, part in parts.items():
            if name and name not in COMPONENTS:
                raise DeclarationError(
                    declared, f"the factory returns a mapping with the key {name!r}", f"use {', '.join(COMPONENTS)}"
                )
            _add_part(part, name, sink, declared, opened)
    except BaseException as error:
        if isinstance(error, DeclarationError) or is_cancelled(error):
            raise
        raise user_code_error(declared, "the factory", error) from error


def _add_part(part: Any, component: str, sink: Any, declared: str, opened: OpenedAdapter) -> None:
    if isinstance(part, RemoteAdapter):
        opened.shared, opened.remote = part.transport, part
        return
    sdk = wrap_sdk_adapter(part, sink)
    handler = sdk.handler if sdk else part
    if not callable(getattr(handler, "handle", None)) or isinstance(handler, type):
        raise DeclarationError(
            declared,
            f"the factory returns {_component_names(part)}, which is not an adapter",
            "return an object with 'async handle(envelope)', a corpus_sdk adapter, or a mapping of those",
        )
    if sdk and sdk.attached:
        opened.metrics_attached = True
    opened.parts.append(part)
    where = sdk.component if sdk else component
    if where:
        opened.transports[where] = InProcess(handler)
    else:
        opened.shared = InProcess(handler)


def _component_names(part: Any) -> str:
    if part is None:
        return "None"
    return f"the class {part.__name__}" if isinstance(part, type) else f"an object of type {type_name(part)}"


NOTHING = object()


def _require_value(value: Any) -> Any:
    if value is NOTHING:
        raise ValueError("the generator yields nothing")
    return value


async def enter_result(made: Any, opened: OpenedAdapter) -> Any:
    """Resolve a factory's result (awaitable, generator or context manager) to an object, and record how to close it."""
    if inspect.isawaitable(made):
        made = await made
    if inspect.isasyncgen(made):
        value = _require_value(await anext(made, NOTHING))
        opened.closers.append(lambda: _exhaust_async_generator(made))
        return value
    if inspect.isgenerator(made):
        value = _require_value(next(made, NOTHING))
        opened.closers.append(lambda: _exhaust_generator(made))
        return value
    if isinstance(made, Mapping):
        return {name: await _enter_object(part, opened) for name, part in made.items()}
    return await _enter_object(made, opened)


async def _enter_object(made: Any, opened: OpenedAdapter) -> Any:
    if hasattr(made, "__aenter__") and hasattr(made, "__aexit__"):
        value = await made.__aenter__()
        opened.closers.append(lambda: made.__aexit__(None, None, None))
        return made if value is None else value
    if hasattr(made, "__enter__") and hasattr(made, "__exit__"):
        value = made.__enter__()
        opened.closers.append(lambda: _call_close(lambda: made.__exit__(None, None, None)))
        return made if value is None else value
    _note_closing(made, opened)
    return made


def _note_closing(part: Any, opened: OpenedAdapter) -> None:
    for name in ("aclose", "close"):
        close = getattr(part, name, None)
        if callable(close) and not isinstance(part, type):
            opened.closers.append(partial(_call_close, close))
            return


async def _call_close(close: Callable[[], Any]) -> None:
    done = close()
    if inspect.isawaitable(done):
        await done


async def _exhaust_async_generator(generator: Any) -> None:
    again = await anext(generator, NOTHING)
    await generator.aclose()
    _refuse_second(again)


async def _exhaust_generator(generator: Any) -> None:
    again = next(generator, NOTHING)
    generator.close()
    _refuse_second(again)


def _refuse_second(value: Any) -> None:
    if value is not NOTHING:
        raise ValueError("the factory yields a second time; it must yield its adapter once")
