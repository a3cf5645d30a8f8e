"""The operations that a test may rely on, because they are offered and answer a plain request."""

from collections.abc import Mapping
from typing import Any

from pytest_corpus.adapter import inputs
from pytest_corpus.adapter.turns import finding_out
from pytest_corpus.kit import expect
from pytest_corpus.kit.answer_cache import invoke_plain
from pytest_corpus.kit.judgement import judging
from pytest_corpus.kit.outcomes import Blocked, NotApplicable, NotAssessed, Undecided, Violation
from pytest_corpus.kit.reply import Reply, StreamReply
from pytest_corpus.kit.requests import Calls
from pytest_corpus.spec.obstacles import Obstacle
from pytest_corpus.spec.operations import Operation


def describe_lack(operation: Operation, result: Any) -> str:
    """Return a phrase that names the missing part of a result, if tests need this part; empty if nothing is missing."""
    if operation.payload and not isinstance(result, Mapping):
        return "is not an object"
    if operation.payload and not result:
        return "is empty"
    found = result.get(operation.lists) if isinstance(result, Mapping) else result
    if operation.lists and not isinstance(found, list):
        return f"has no list `{operation.lists}`"
    return f"has an empty list `{operation.lists}`" if operation.filled and not found else ""


class Prerequisites:
    """Finds out once for each operation if tests can rely on it."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def require(self, *names: str) -> None:
        """Check that these operations are offered and answer a plain request.

        Raises:
            NotApplicable: capabilities deny the operation, or do not claim it and it answers NOT_SUPPORTED.
            Blocked: the operation does not work. Another requirement reports this.
        """
        for name in names:
            with finding_out(id(self._calls.shared), f"{name} works"):
                if name not in self._calls.shared.obstacles:
                    with judging(), inputs.fact_scope(f"{self._calls.component}.{name} works"):
                        self._calls.shared.obstacles[name] = self.obstacle(name)
            if (obstacle := self._calls.shared.obstacles[name]) is not None:
                raise obstacle

    def works(self, name: str) -> bool:
        """True if an operation is offered and works."""
        try:
            self.require(name)
        except Undecided:
            return False
        return True

    def claim_of(self, name: str) -> bool | None:
        """True if capabilities claim an operation, False if they deny it, None if they state nothing."""
        operation = self._calls.operation(name)
        unstated = None if operation.optional else True
        return self._calls.capabilities.flag(operation.capability) if operation.capability else unstated

    def denies(self, name: str) -> bool:
        """True if capabilities deny an operation."""
        return self.claim_of(name) is False

    def is_callable(self, name: str) -> bool:
        """True if an operation has an entry point and capabilities do not deny it. It need not work."""
        return not self.denies(name) and self._has_entry_point(name)

    def _has_entry_point(self, name: str) -> bool:
        return not self._calls.operation(name).streaming or self._calls.client.instance.has_stream(
            self._calls.component
        )

    def denied_operations(self) -> list[str]:
        """Return the operations that capabilities deny although they have an entry point."""
        return [name for name in self._calls.operations() if self.denies(name) and self._has_entry_point(name)]

    def reason_not_to_judge(self, _name: str, _reply: Reply | StreamReply) -> Undecided | None:
        """Return the reason not to judge an operation by this answer to a plain request, or None."""
        return None

    def obstacle(self, name: str) -> Undecided | None:
        """Return the reason why tests cannot rely on an operation, or None."""
        operation = self._calls.operation(name)
        claimed = self.claim_of(name)
        if claimed is False:
            return NotApplicable(f"capabilities deny {operation.capability}")
        if not self._has_entry_point(name):
            if claimed:
                return Blocked("COM-CAP-9", "there is no handle_stream")
            return NotApplicable("there is no handle_stream, and streaming is not claimed")
        reply = invoke_plain(self._calls, name)
        if excuse := self.reason_not_to_judge(name, reply):
            return excuse
        if claimed is None and reply.is_a("NotSupported"):
            unclaimed = f"{operation.capability} is not claimed" if operation.capability else "it is optional"
            return NotApplicable(f"{operation.op} answers NOT_SUPPORTED, and {unclaimed}")
        if reply.is_a("ResourceExhausted") and name != "health":
            return NotAssessed(Obstacle.PLAIN_ANSWERED, op=operation.op, reply=reply)
        if name == "health" and reply.is_a("ResourceExhausted", "TransientNetwork", "Unavailable"):
            return NotApplicable("health answers with an error: the backend is down (R35)")
        try:
            if isinstance(reply, StreamReply):
                expect.finished(reply)
            elif lack := describe_lack(operation, expect.success(reply)):
                by, said = operation.shaped or operation.works, f"the result of a plain {operation.op} {lack}"
                return Blocked(by, said, judged_on=(reply.exchange,))
        except Undecided as obstacle:
            return obstacle
        except Violation:
            said = f"a plain {operation.op} is answered with {reply}"
            return Blocked(operation.works, said, judged_on=(reply.exchange,))
        return None
