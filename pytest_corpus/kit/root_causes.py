"""Reports one root cause as one finding, without its consequences.

In every component, a wrong class for the plainest bad requests explains the same wrong class in other refusals, and
nothing else. If the plainest bad requests are accepted, this explains other bad requests that are accepted. Components
add basic requirements on which most of their tests depend. The actions of a test (`kit/run_state.py`) decide which
basic requirements the test depends on.

If a request fails, and a plain request of the same operation fails too, the operation is the cause. Otherwise a feature
of the request, such as a tenant, may be the cause: a plain request with that feature fails too.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.exchange import Exchange, context_of
from pytest_corpus.kit.component import Subject
from pytest_corpus.kit.judgement import reading_separately
from pytest_corpus.kit.outcomes import Blocked, Undecided, UnexpectedSuccess, Violation, WrongRefusal
from pytest_corpus.kit.prerequisites import describe_lack
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import HOUR_MS, deadline_in
from pytest_corpus.spec.errors import is_a
from pytest_corpus.spec.operations import BY_OP

NO_ARGUMENTS = "COM-WIRE-7"
"""The requirement that `args` of the wrong type is refused with BAD_REQUEST."""

PLAIN = ("COM-CAP-6", "COM-DEADLINE-6")
"""The requirements that a plain call works, also with an ample deadline. Their violations have no plainer cause."""

Own = TypeVar("Own", bound=Subject)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WrongErrorClass:
    """A wrong class for bad requests: its names, and the requirement that reports it."""

    root: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BasicRequirement:
    """A basic requirement on which tests with certain actions depend.

    Attributes:
        requirement: the id of the requirement.
        needs: the actions that all dependent tests do.
        seen: the behaviour that violates the requirement, in words.
        exchanges: the last exchange that shows this behaviour.
    """

    requirement: str
    needs: frozenset[str]
    seen: str
    exchanges: tuple[Exchange, ...] = ()

    def explains(self, done: frozenset[str]) -> bool:
        """True if a test with these actions depends on the requirement."""
        return self.needs <= done


@dataclass(frozen=True, slots=True)
class Feature:
    """A member of many requests, such as a tenant, and a plain request with only this member added.

    Attributes:
        requirement: the requirement that is violated if the plain request fails.
        is_in: returns True if a request has the member.
        ask: makes the plain request; may raise Undecided if there is no such request.
    """

    requirement: str
    is_in: Callable[[Mapping[str, Any]], bool]
    ask: Callable[[], Reply | StreamReply]


class RootCauses(Generic[Own]):
    """The root causes of a component's violations. The search for them begins with the first violation."""

    def __init__(self, subject: Own) -> None:
        self.subject = subject
        self._found: dict[str, tuple[Any, ...]] = {}
        self._tried: dict[str, Blocked | None] = {}

    def _find_once(self, find: Callable[[], Iterator[T]]) -> tuple[T, ...]:
        """Return the causes that `find` yields. `find` is called once; until it has ended, the result is empty."""
        if find.__name__ not in self._found:
            self._found[find.__name__] = ()
            with inputs.fact_scope(f"{self.subject.component} {find.__name__}"):
                self._found[find.__name__] = tuple(find())
        return self._found[find.__name__]

    def forget(self) -> None:
        """Drop the found causes, because they may result from a mistake in the author's stand-in of the provider."""
        self._found.clear()
        self._tried.clear()

    def explain(self, requirement: str, violation: Violation) -> Blocked | None:
        """Return the finding of another requirement that explains a violation, or None."""
        # The pause below begins another part, so the exchanges of the test are taken before it.
        made = tuple(self.subject.client.part.exchanges)
        with self.subject.client.provider.paused():
            return (
                self._basis_of_failure(requirement, violation, made)
                or self._cause_of_wrong_class(requirement, violation)
                or self._cause_of_acceptance(requirement, violation)
                or self._consequence_of_failing(requirement, violation)
            )

    def explain_block(self, blocked: Blocked) -> Blocked | None:
        """Return the finding of a more basic requirement that explains a blocked test, or None."""
        with self.subject.client.provider.paused():
            return self._plainest_cause(blocked.by, blocked.exchanges)

    def features(self) -> Iterator[Feature]:
        """Yield the features of requests that may fail, in the order in which they are tried."""
        subject, name = self.subject, self.subject.principal
        for key, value in (("tenant", "tenant-a"), ("deadline_ms", deadline_in(HOUR_MS))):

            def ask(ctx: Mapping[str, Any] = {key: value}) -> Reply | StreamReply:
                return subject.invoke(name, ctx=ctx)

            yield Feature("COM-CTX-3", partial(_has_in_ctx, key), ask)

    def _basis_of_failure(self, requirement: str, violation: Violation, made: Iterable[Exchange]) -> Blocked | None:
        """Return the finding that explains a violation: an operation or feature fails even in a plain request."""
        found = filter(_is_empty, violation.exchanges) if isinstance(violation, UnexpectedSuccess) else made
        return self._plainest_cause(requirement, [*violation.exchanges, *found])

    def _plainest_cause(self, requirement: str, exchanges: Iterable[Exchange]) -> Blocked | None:
        if requirement in PLAIN:
            return None
        own = [each for each in exchanges if each.component == self.subject.component and each.op in BY_OP]
        for exchange in own:
            if exchange.observed.faults or exchange.fault or not (_is_empty(exchange) or _is_error(exchange)):
                continue
            cause = self._failing_operation(exchange) or next(self._failing_features(exchange), None)
            if cause is not None:
                return None if cause.by == requirement else cause
        return None

    def _failing_operation(self, exchange: Exchange) -> Blocked | None:
        """Return the finding that the operation of an exchange fails even for a plain request, or None."""
        name = exchange.op.partition(".")[2]
        if name not in self._tried:
            self._tried[name] = None  # so it explains no finding of its own trial
            self.subject.works(name)
            found = self.subject.shared.obstacles.get(name)
            self._tried[name] = found if isinstance(found, Blocked) else None
        return self._tried[name]

    def _failing_features(self, exchange: Exchange) -> Iterator[Blocked]:
        """Yield a finding for each feature of a failed request that gives a plain request the same error."""
        if not isinstance(exchange.request, Mapping) or not _is_error(exchange):
            return
        for number, feature in enumerate(self.features()):
            if feature.is_in(exchange.request):
                key = f"feature {number}"
                if key not in self._tried:
                    self._tried[key] = None
                    self._tried[key] = self._try_feature(feature)
                cause = self._tried[key]
                if cause is not None and _error_classes(cause.exchanges[-1]) == _error_classes(exchange):
                    yield cause

    def _try_feature(self, feature: Feature) -> Blocked | None:
        """Send a plain request with a feature; return the finding if it fails, or None."""
        try:
            with reading_separately(), inputs.fact_scope(f"{self.subject.component} {feature.requirement}"):
                reply = feature.ask()
        except (Undecided, Violation):
            return None
        if not reply.is_error or reply.is_a("ResourceExhausted", "NotSupported", "IndexNotReady"):
            return None
        said = f"a plain {reply.exchange.op} is answered with {reply}"
        return Blocked(feature.requirement, said, judged_on=(reply.exchange,))

    def failing_basics(self) -> Iterator[BasicRequirement]:
        """Yield the violated basic requirements of the component; by default there are none."""
        yield from ()

    def _failing_basics(self) -> Iterator[BasicRequirement]:
        """Yield the violated basic requirements, each with the exchange that shows the violation."""
        for basis in self.failing_basics():
            yield replace(basis, exchanges=basis.exchanges or tuple(self.subject.client.part.exchanges[-1:]))

    def _consequence_of_failing(self, requirement: str, violation: Violation) -> Blocked | None:
        """Return the violated basic requirement that may have caused a violation, or None."""
        done = frozenset(self.subject.shared.actions.done)
        if isinstance(violation, UnexpectedSuccess) or not done:
            return None
        failing = self._find_once(self._failing_basics)
        if any(requirement == basis.requirement for basis in failing):
            return None
        for basis in failing:
            if basis.explains(done):
                return Blocked(basis.requirement, basis.seen, judged_on=basis.exchanges)
        return None

    def _cause_of_wrong_class(self, requirement: str, violation: Violation) -> Blocked | None:
        """Return the root cause if a refusal has the same wrong class as the plainest bad requests."""
        if not isinstance(violation, WrongRefusal) or not any(is_a(name, "BadRequest") for name in violation.wanted):
            return None
        for found in self._find_once(self._find_wrong_class):
            if requirement != found.root and violation.names == found.names:
                return Blocked(found.root, f"bad requests of every kind are refused with {' and '.join(found.names)}")
        return None

    def _find_wrong_class(self) -> Iterator[WrongErrorClass]:
        """Yield the wrong class with which both the principal operation and another one refuse wrong arguments."""
        subject = self.subject
        names = self._wrong_classes(subject.principal)
        others = [name for name in subject.operations(streaming=False) if name != subject.principal]
        other = next((name for name in others if subject.requests.wrong_types(name) and subject.works(name)), None)
        if names is None or other is None or self._wrong_classes(other) != names:
            return
        bare = subject.send({**subject.envelope(subject.principal), "args": [1]})
        yield WrongErrorClass(NO_ARGUMENTS if bare.names == names else subject.wrong_type_requirement, names)

    def _cause_of_acceptance(self, requirement: str, violation: Violation) -> Blocked | None:
        """Return the root cause if a bad request is accepted like the plainest bad requests."""
        if not isinstance(violation, UnexpectedSuccess) or requirement == NO_ARGUMENTS:
            return None
        if any(is_a(name, family) for name in violation.wanted for family in self._find_once(self._find_never_refused)):
            return Blocked(NO_ARGUMENTS, "bad requests of every kind are accepted")
        return None

    def _find_never_refused(self) -> Iterator[str]:
        """Yield the error classes that bad requests never get, because even the plainest bad requests are accepted."""
        subject = self.subject
        plain = subject.envelope(subject.principal)
        names = [name for name in subject.operations(streaming=False) if subject.requests.wrong_types(name)]
        working = [name for name in names if name == subject.principal or subject.works(name)]
        bad = [{**plain, "args": [1]}, {key: plain[key] for key in ("op", "ctx")}]
        bad += [{**plain, "args": subject.requests.wrong_types(subject.principal)}]
        if not all(subject.send(request).is_success for request in bad):
            return
        if all(subject.call(name, subject.requests.wrong_types(name)).is_success for name in working):
            yield "BadRequest"
            if subject.send({**plain, "op": f"{subject.component}.no_such_operation"}).is_success:
                yield "NotSupported"

    def _wrong_classes(self, name: str) -> tuple[str, ...] | None:
        """Send arguments of a wrong type; return the answer's error classes if they are not BadRequest, or None."""
        reply = self.subject.call(name, self.subject.requests.wrong_types(name))
        return reply.names if reply.names and not reply.is_a("BadRequest") else None


def _has_in_ctx(key: str, request: Mapping[str, Any]) -> bool:
    return key in (context_of(request) or {})


def _is_error(exchange: Exchange) -> bool:
    return (StreamReply(exchange) if exchange.streaming else Reply(exchange)).is_error


def _error_classes(exchange: Exchange) -> tuple[str, ...]:
    """Return the error classes that an answer names."""
    return (StreamReply(exchange) if exchange.streaming else Reply(exchange)).names


def _is_empty(exchange: Exchange) -> bool:
    """True if the result of a success lacks the members that tests read."""
    if exchange.streaming or exchange.op not in BY_OP:
        return False
    reply = Reply(exchange)
    return reply.is_success and bool(describe_lack(BY_OP[exchange.op], reply.result))
