"""Mistakes in what components share (COM-ERR)."""

from __future__ import annotations

from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.llm.adapter import ReferenceLLM
from pytest_corpus.reference.request import Call
from pytest_corpus.spec.errors import TAXONOMY

from .. import catches

Envelope = dict[str, Any]


@catches("COM-ERR-1")
class HttpStatusOnTop(ReferenceLLM):
    """It puts `http_status` beside the code."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        return {**super().failure(call, fault), "http_status": 400}


@catches("COM-ERR-1")
class ThrottleScopeOnTop(ReferenceLLM):
    """It puts `throttle_scope` beside the code, where the provider limits its rate."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        scope = error["details"].pop("throttle_scope", None)
        return {**error, "throttle_scope": scope} if scope else error


@catches("COM-SUBTYPE-1")
class MessagesOfAGraph(ReferenceLLM):
    """It says that a vertex is not found where it refuses a message."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        wrong = {"error": "VertexNotFound", "code": "VERTEX_NOT_FOUND"}
        return {**error, **(wrong if error["error"] == "BadRequest" else {})}


@catches("COM-ERR-2")
class ErrorWithoutMessage(ReferenceLLM):
    """It leaves the message out of its errors."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        del error["message"]
        return error


@catches("COM-ERR-2")
class StreamErrorWithoutOk(ReferenceLLM):
    """It leaves `ok` out of the error that ends a stream."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        if call.streaming:
            del error["ok"]
        return error


@catches("COM-ERR-3")
class CodeInLowerCase(ReferenceLLM):
    """It writes its codes in lower case."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "code": error["code"].lower()}


@catches("COM-ERR-4")
class InternalError(ReferenceLLM):
    """It has a class of its own for what it did not expect."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "code": "INTERNAL", "error": "InternalError"} if error["error"] == "Unavailable" else error


@catches("COM-ERR-4")
class AdapterCodeOnTop(ReferenceLLM):
    """It puts its own short code where the code of the class belongs."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "code": "RATE_LIMIT"} if error["error"] == "ResourceExhausted" else error


@catches("COM-ERR-4")
class StreamCodeOfAnotherClass(ReferenceLLM):
    """It ends an expired stream with the code of another class."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        late = call.streaming and error["error"] == "DeadlineExceeded"
        return {**error, "code": "TRANSIENT_NETWORK"} if late else error


@catches("COM-ERR-5")
class BlankStreamMessage(ReferenceLLM):
    """It ends a failing stream with a message of blanks."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "message": "  "} if call.streaming else error


@catches("COM-ERR-6")
class NegativeRetry(ReferenceLLM):
    """It says -1 where an expired call gives no reason to wait."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "retry_after_ms": -1} if error["error"] == "DeadlineExceeded" else error


@catches("COM-ERR-7", others=4)
class DetailsAreAList(ReferenceLLM):
    """It gives the details of a bad request as the list of its fields."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "details": error["details"].get("validation_errors", error["details"])}


@catches("COM-ERR-7")
class StreamDetailsAreAText(ReferenceLLM):
    """It gives the details of a failing stream as a text."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "details": "stream ended"} if call.streaming else error


@catches("COM-ERR-8")
class UnavailableNotRetryable(ReferenceLLM):
    """It calls an unavailable provider not retryable."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        final = {"retryable": False} if error["error"] == "Unavailable" else {}
        return {**error, "details": {**error["details"], **final}}


@catches("COM-ERR-9")
class StreamErrorMsIsAText(ReferenceLLM):
    """It writes the `ms` of a failing stream as a string."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "ms": str(call.ms)} if call.streaming else error


@catches("COM-ERR-10")
class CodeOfTheParent(ReferenceLLM):
    """It gives a subtype the code of its parent class."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "code": TAXONOMY[TAXONOMY[error["error"]].family].code}


@catches("COM-ERR-11")
class FieldNotNamed(ReferenceLLM):
    """It does not say which field is at fault."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        error["details"].pop("validation_errors", None)
        return error


@catches("COM-ERR-12")
class ClassByTurns(ReferenceLLM):
    """It names a fault of format by the subtype and by its parent in turn."""

    turn = 0

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        if error["error"] == "InputFormatError":
            self.turn += 1
            if self.turn % 2:
                return {**error, "code": "BAD_REQUEST", "error": "BadRequest"}
        return error


class Explaining(ReferenceLLM):
    """The reference with one place for what the details of a bad request say."""

    def details(self, error: AdapterError, tenant_hash: str | None) -> dict[str, Any]:
        found = super().details(error, tenant_hash)
        return {**found, **self.more()} if error.kind.family == "BadRequest" else found

    def more(self) -> dict[str, Any]:
        return {}


@catches("COM-ERR-13", control=Explaining)
class ScopeOfItsOwn(Explaining):
    """It names a resource scope that the taxonomy does not have."""

    def more(self) -> dict[str, Any]:
        return {"resource_scope": "caller"}


@catches("COM-ERR-13", control=Explaining)
class ReductionBeyondTheWhole(Explaining):
    """It suggests to make a batch smaller by more than all of it."""

    def more(self) -> dict[str, Any]:
        return {"suggested_batch_reduction": 400}


@catches("COM-ERR-14", control=Explaining)
class StatusOfAnotherClass(Explaining):
    """It gives a bad request the status of a fault of its own."""

    def more(self) -> dict[str, Any]:
        return {"http_status": 500}


@catches("COM-ERR-15", control=Explaining)
class StackTraceInDetails(Explaining):
    """It sends the frames of its own code along."""

    def more(self) -> dict[str, Any]:
        return {"debug": ['  File "/srv/adapter/main.py", line 12, in complete']}


@catches("COM-ERR-21")
class BadRequestsAtOnceAgain(ReferenceLLM):
    """It gives 0 milliseconds to wait for with every error that has no time of its own."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "retry_after_ms": error["retry_after_ms"] or 0}


@catches("COM-ERR-16")
class SpentBudgetAsksToWait(ReferenceLLM):
    """It asks whoever came too late to come again in a second."""

    def failure(self, call: Call, fault: Exception) -> Envelope:
        error = super().failure(call, fault)
        return {**error, "retry_after_ms": 1_000} if error["error"] == "DeadlineExceeded" else error
