"""Mistakes that graph/test_query_basic.py finds (GRA-QUERY)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.foundation import digest
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.scanner import Query, QueryError
from pytest_corpus.reference.graph.store import DEFAULT_NAMESPACE, Graph
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Answering, Record, interpolated, with_params


@catches("GRA-QUERY-2")
class BatchesLeaveTheCache(ReferenceGraph):
    """It answers queries from its cache after a batch changed what they find."""

    async def batch(self, call: Call) -> dict[str, Any]:
        cache = dict(self.cache)
        result = await super().batch(call)
        self.cache.update(cache)
        return result


@catches("GRA-QUERY-1")
class RecordsAreRows(Answering):
    """It gives records as lists of values."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "records": [[*record.values()] for record in result["records"]]}


@catches("GRA-QUERY-1")
class RecordsAreRenamed(Answering):
    """It calls the records `rows`."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {"rows": result["records"], "summary": result["summary"]}


@catches("GRA-QUERY-2")
class EachRecordTwice(Answering):
    """It finds a node once for itself and once for its label."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "records": [record for record in result["records"] for _ in range(2)]}


@catches("GRA-QUERY-2")
class RecordsAreLimited(Answering):
    """It gives two records at the most, and no way to the others."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "records": result["records"][:2]}


@catches("GRA-QUERY-3")
class ParametersInterpolated(Answering):
    """It writes text parameters between quotes into the query."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return interpolated(args)


@catches("GRA-QUERY-3")
class QuotesAreDoubled(Answering):
    """It writes parameters into the query and escapes their quotes in the way of SQL."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        params = args.get("params")
        if not isinstance(params, Mapping):
            return args
        escaped = {
            name: value.replace("'", "''") if isinstance(value, str) else value for name, value in params.items()
        }
        return {**interpolated({**args, "params": escaped}), "params": params}


@catches("GRA-QUERY-4")
class IntegersBoundAsText(Answering):
    """It binds a whole number as text."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return with_params(args, int, str)


@catches("GRA-QUERY-4")
class BooleansBoundAsNumbers(Answering):
    """It binds a boolean as a number."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return with_params(args, bool, int)


@catches("GRA-QUERY-4")
class FloatsBoundAsIntegers(Answering):
    """It cuts the fraction off a number that it binds."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return with_params(args, float, int)


@catches("GRA-QUERY-5")
class NothingIsAnEmptyRecord(Answering):
    """It gives a record without values where a query matches nothing."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "records": result["records"] or [{}]}


@catches("GRA-QUERY-1")
class NothingIsNull(Answering):
    """It gives null records where a query matches nothing."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "records": result["records"] or None}


class Nothing(Query):
    """A query without records."""

    def run(self, graph: Graph, params: Mapping[str, Any]) -> list[Record]:
        return []


@catches("GRA-QUERY-6")
class ParseErrorIsEmpty(Answering):
    """It answers a text that it cannot read with no records."""

    async def query(self, call: Call) -> dict[str, Any]:
        try:
            return await super().query(call)
        except AdapterError as error:
            if error.kind.name != "QueryParseError":
                raise
            return {"records": []}


@catches("GRA-QUERY-6")
class ParseErrorIsUnavailable(Answering):
    """It takes a text that it cannot read for a failure of the database."""

    async def query(self, call: Call) -> dict[str, Any]:
        try:
            return await super().query(call)
        except AdapterError as error:
            if error.kind.name != "QueryParseError":
                raise
            raise AdapterError("Unavailable", "The query failed") from None


@catches("GRA-QUERY-7")
class ParseErrorIsBadRequest(ReferenceGraph):
    """It knows no class for a text that it cannot read."""

    def query_refused(self, problem: QueryError) -> AdapterError:
        return AdapterError("BadRequest", f"args.text {problem}")


@catches("GRA-QUERY-7")
class EmptyTextIsNoRecords(ReferenceGraph):
    """It takes an empty text for a query without records."""

    def read_text(self, dialect: str, text: str, params: Mapping[str, Any]) -> Query:
        return super().read_text(dialect, text, params) if text.strip() else Nothing()


@catches("GRA-QUERY-20")
class TimeoutWordIgnored(Answering):
    """It ignores a timeout that is not a number."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return {**args, "timeout_ms": None if isinstance(args.get("timeout_ms"), str) else args.get("timeout_ms")}


@catches("GRA-QUERY-8")
class TextIsATypeError(Answering):
    """It measures the text unchecked, which makes a missing one UNAVAILABLE."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        return {**args, "text": args.get("text")[0:]}  # type: ignore[index]


@catches("GRA-QUERY-9")
class MissingParameterFitsAll(Answering):
    """It leaves out a condition whose parameter is not given."""

    async def query(self, call: Call) -> dict[str, Any]:
        try:
            return await super().query(call)
        except AdapterError as error:
            if "not given" not in str(error):
                raise
            nodes = self.graph(self.space(call), self.read_namespace(call.args)).nodes.values()
            return {"records": [dict(node.properties) for node in nodes]}


@catches("GRA-QUERY-9")
class MissingParameterIsDown(ReferenceGraph):
    """It fails where a parameter is not given."""

    def query_refused(self, problem: QueryError) -> AdapterError:
        if "not given" in str(problem):
            return AdapterError("Unavailable", "The query failed")
        return super().query_refused(problem)


@catches("GRA-QUERY-10")
class LengthNotChecked(ReferenceGraph):
    """It states the length of a query and does not check it."""

    def check_length(self, text: str) -> None:
        pass


@catches("GRA-QUERY-10")
class LengthIsTooMuch(ReferenceGraph):
    """It refuses a query that is as long as it may be."""

    def check_length(self, text: str) -> None:
        super().check_length(f"{text} ")


@catches("GRA-QUERY-10")
class LengthIsExhausted(ReferenceGraph):
    """It takes a query that is too long for an exhausted resource."""

    def check_length(self, text: str) -> None:
        if len(text) > self.max_query_length:
            raise AdapterError("ResourceExhausted", "The query is too long")


@catches("GRA-QUERY-11")
class RecordsByHash(Answering):
    """It gives records in the order of a hash table."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "records": sorted(result["records"], key=digest)}


@catches("GRA-QUERY-12")
class ResultNamesTheFirstDialect(Answering):
    """It names its first dialect, whichever was asked for."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "dialect": self.dialects[0]}


@catches("GRA-QUERY-12")
class ResultNamesTheDefault(Answering):
    """It names the default namespace, whichever was read."""

    def told(self, result: dict[str, Any]) -> dict[str, Any]:
        return {**result, "namespace": DEFAULT_NAMESPACE}


class WithTimeout(ReferenceGraph):
    """A legal variant that claims `timeout_ms`."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        facts = await super().capabilities(call)
        return {**facts, "extensions": {**facts["extensions"], "reference:query_timeout": True}}


@catches("GRA-QUERY-13", control=WithTimeout)
class ClaimedTimeoutIsUnread(WithTimeout):
    """It claims a timeout, and takes any value for none."""

    def read_timeout(self, args: Fields) -> float | None:
        return None


@catches("GRA-QUERY-13", control=WithTimeout)
class TimeoutNotSupported(WithTimeout):
    """It claims a timeout, and refuses a query that has one."""

    def read_timeout(self, args: Fields) -> float | None:
        if args.values.get("timeout_ms") is not None:
            raise AdapterError("NotSupported", "A timeout is not offered")
        return None


@catches("GRA-QUERY-20")
class TimeoutIsSeconds(ReferenceGraph):
    """It takes the timeout for an absolute time, which has always passed."""

    def read_timeout(self, args: Fields) -> float | None:
        if super().read_timeout(args):
            raise AdapterError("DeadlineExceeded", "The timeout of the request is over")
        return None


@catches("GRA-QUERY-20")
class NegativeTimeoutTaken(ReferenceGraph):
    """It takes a negative timeout for none."""

    def read_timeout(self, args: Fields) -> float | None:
        timeout = args.number("timeout_ms")
        return timeout if timeout is not None and timeout > 0 else None


@catches("GRA-QUERY-19")
class TimeoutIsForgotten(ReferenceGraph):
    """It reads the timeout of a query and waits as long as it takes."""

    def read_timeout(self, args: Fields) -> float | None:
        return super().read_timeout(args) and None
