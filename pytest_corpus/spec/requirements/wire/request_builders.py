"""Request builders: how far each envelope gets in the pipeline (SCHEMA 6.3, 8.2)."""

from __future__ import annotations

from pytest_corpus.spec.components import WIRE
from pytest_corpus.spec.requirements.model import Level, Requirement


def _wire(name: str, text: str, *source: str, hint: str = "", level: Level = "MUST") -> Requirement:
    return Requirement(f"WIR-{name}", level, text, source, components=WIRE, hint=hint)


REQUIREMENTS = (
    _wire(
        "OFFER-1",
        "A client library offers a request builder for at least one operation.",
        "SCHEMA 8.2",
        hint="name a method `build_<op>_request` or `build_<component>_<op>_request`, see docs/wire.md",
    ),
    _wire(
        "BUILD-1",
        "A builder that is called without arguments gives an envelope: it comes to an end and raises nothing.",
        "SCHEMA 8.2",
        hint="give every parameter a default; the call limit is set with --corpus-call-timeout",
    ),
    _wire(
        "ENV-1",
        "A request envelope is a dict.",
        "SCHEMA 3.1",
        "SCHEMA 6.3",
        "SPECIFICATION 4.2.1",
        hint="return the dict itself, not its JSON text or a model object",
    ),
    _wire(
        "ENV-2",
        "A request envelope has the keys `op`, `ctx` and `args`.",
        "SCHEMA 3.1",
        "SCHEMA 6.3",
        hint="return all three keys, `ctx` and `args` as {} where they are empty",
    ),
    _wire(
        "ENV-3",
        "The `op` of a request is exactly the name of the operation that the builder is named for.",
        "SCHEMA 6.3",
        "SPECIFICATION 4.2.6",
        hint="set `op` to `<component>.<operation>` in lower case, as in SPECIFICATION 4.2.6",
    ),
    _wire(
        "CTX-1",
        "The `ctx` of a request is an object, and its documented members are of the documented type and range.",
        "SCHEMA 3.2",
        "SCHEMA 6.3",
        "SPECIFICATION 6.1",
        hint="make `ctx` a dict of strings, with an object as `attrs` and a deadline_ms of at least 1",
    ),
    _wire(
        "CTX-2",
        "A `deadline_ms` is a point in time in milliseconds of the epoch, not a span and not in seconds.",
        "SCHEMA 3.2",
        "SPECIFICATION 6.1",
        hint="add the budget to the current time: `int(time.time() * 1000) + budget_ms`",
        level="SHOULD",
    ),
    _wire(
        "JSON-1",
        "A request can be written as UTF-8 JSON, with finite numbers and integers of 64 bits.",
        "SCHEMA 6.3",
        "SPECIFICATION 4.1",
        "SPECIFICATION 4.2.1",
        "R34",
        hint="convert dates, bytes, sets, decimals and arrays of libraries before they go into the envelope",
    ),
    _wire(
        "JSON-2",
        "A request that is written as JSON and read again is the same.",
        "SCHEMA 6.3",
        hint="write every key of an object as a string: JSON knows no others",
    ),
    _wire(
        "SCHEMA-1",
        "A request meets the schema of its component's request envelope, in an accepted edition.",
        "SCHEMA 3.1",
        "SCHEMA 6.3",
        "SCHEMA 10.1",
        "R18",
        hint="put nothing beside `op`, `ctx` and `args`, not even a version",
    ),
    _wire(
        "ARGS-1",
        "The `args` of a request keep the documented rules of the operation.",
        "SCHEMA 6.3",
        "SPECIFICATION 8.3",
        "SPECIFICATION 9.3",
        "SPECIFICATION 10.3",
        "SPECIFICATION 17.2",
        hint="check the arguments as you build: required keys, sampling ranges, top_k of at least 1, finite vectors",
    ),
    _wire(
        "ARGS-2",
        "The `args` of a request meet the schema of the operation's request.",
        "SCHEMA 2.2",
        "SCHEMA 4",
        "R42",
        hint="give each argument the type that the schema of the operation's request asks for",
    ),
    _wire(
        "ARGS-3",
        "A request carries `messages` rather than `prompt`, and `vector` rather than `text`.",
        "SPECIFICATION 8.3",
        "SPECIFICATION 9.2",
        "SCHEMA 6.3",
        hint="write a prompt as one message of role user, and send the vector of a query rather than its text",
        level="SHOULD",
    ),
)
