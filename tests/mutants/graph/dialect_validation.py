"""Mistakes that graph/test_dialect_validation.py finds (GRA-DIALECT)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError
from pytest_corpus.reference.graph.adapter import ReferenceGraph
from pytest_corpus.reference.graph.queries import Question
from pytest_corpus.reference.graph.scanner import Query, QueryError
from pytest_corpus.reference.request import Call, Fields

from .. import catches
from .shared import Answering, Streaming


@catches("GRA-DIALECT-1")
class DialectsNotListed(ReferenceGraph):
    """It does not say which dialects it answers."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        stated = await super().capabilities(call)
        return {key: value for key, value in stated.items() if key != "dialects"}


@catches("GRA-DIALECT-2")
class GqlNotAnswered(Answering):
    """It lists a dialect that only its streams answer."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("dialect") == "gql":
            raise AdapterError("NotSupported", "The dialect is not offered")
        return args


@catches("GRA-DIALECT-3")
class GqlNotStreamed(Streaming):
    """It lists a dialect that its streams do not answer."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("dialect") == "gql":
            raise AdapterError("NotSupported", "The dialect is not offered")
        return args


@catches("GRA-DIALECT-4")
class UnknownDialectIsBad(Answering):
    """It calls an unknown dialect a bad request."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        if args.get("dialect") not in (None, *self.dialects):
            raise AdapterError("BadRequest", "The dialect is not known")
        return args


@catches("GRA-DIALECT-4")
class UnknownDialectIsTheFirst(Answering):
    """It reads a query of an unknown dialect in its first one."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        known = args.get("dialect") in (*self.dialects, None) or not isinstance(args["dialect"], str)
        return args if known else {**args, "dialect": self.dialects[0]}


@catches("GRA-DIALECT-5")
class StreamTakesAnyDialect(Streaming):
    """It reads a stream of an unknown dialect in its first one."""

    def taken(self, args: dict[str, Any]) -> dict[str, Any]:
        known = args.get("dialect") in (*self.dialects, None) or not isinstance(args["dialect"], str)
        return args if known else {**args, "dialect": self.dialects[0]}


@catches("GRA-DIALECT-6")
class DialectNumberIgnored(ReferenceGraph):
    """It takes a dialect that is not text for none."""

    def read_dialect(self, args: Fields) -> str:
        return super().read_dialect(args) if isinstance(args.values.get("dialect"), str) else self.dialects[0]


@catches("GRA-DIALECT-6")
class DialectIsHashed(ReferenceGraph):
    """It looks the dialect up unchecked, which makes a list UNAVAILABLE."""

    def read_dialect(self, args: Fields) -> str:
        hash(args.values.get("dialect"))
        return super().read_dialect(args)


@catches("GRA-DIALECT-7")
class OneDialectIsNotListed(ReferenceGraph):
    """It answers a dialect that it does not list."""

    async def capabilities(self, call: Call) -> dict[str, Any]:
        return {**await super().capabilities(call), "dialects": ["cypher", "opencypher", "gremlin"]}


class CypherOnly(ReferenceGraph):
    """A legal variant that has one dialect."""

    dialects = ("cypher",)


@catches("GRA-DIALECT-8", control=CypherOnly)
class DialectIsRequired(CypherOnly):
    """It has one dialect and wants it named."""

    def read_dialect(self, args: Fields) -> str:
        args.required_text("dialect")
        return super().read_dialect(args)


@catches("GRA-DIALECT-2")
class ListedAndUnreadable(ReferenceGraph):
    """It lists a dialect and takes no text of it for a query."""

    def read_question(self, args: Fields) -> Question:
        if args.values.get("dialect") == [*self.dialects][-1]:
            raise self.query_refused(QueryError("is not a query"))
        return super().read_question(args)


@catches("GRA-DIALECT-2")
class EdgesOfOneDialectOnly(ReferenceGraph):
    """In one of its dialects edges of any label are followed."""

    def read_text(self, dialect: str, text: str, params: Mapping[str, Any]) -> Query:
        return super().read_text(dialect, re.sub(r"out\('\w+'\)", "out()", text), params)


@catches("GRA-DIALECT-2")
class ListedAndNotSupported(ReferenceGraph):
    """It lists a dialect and answers every query of it with NOT_SUPPORTED."""

    def read_question(self, args: Fields) -> Question:
        question = super().read_question(args)
        if question.dialect == [*self.dialects][-1]:
            raise AdapterError("NotSupported", "The dialect is not supported")
        return question
