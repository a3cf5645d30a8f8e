"""Filters over metadata: parsing and evaluation (SPECIFICATION 9.2, SCHEMA 4.2.2)."""

import re
from collections.abc import Mapping
from typing import Any

from pytest_corpus.reference.errors import AdapterError, invalid
from pytest_corpus.reference.request import Fields
from pytest_corpus.reference.vector.limits import VectorLimits
from pytest_corpus.reference.vector.store import Conditions, FilterCondition, is_number

FIELD_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class Filters(Conditions, VectorLimits):
    """Parses a filter into conditions."""

    max_filter_terms = 4

    def read_filter(self, fields: Fields) -> list[FilterCondition]:
        """Return the conditions in a filter; empty without a filter. Unsupported terms are refused (R31)."""
        terms = fields.read("filter", "an object") or {}
        if terms:
            self.require("supports_filters")
        conditions = [condition for name, term in terms.items() for condition in self.read_term(name, term)]
        if max(len(terms), len(conditions)) > self.max_filter_terms:
            raise self.limit_error(f"{fields.path}.filter", "max_filter_terms", self.max_filter_terms)
        return conditions

    def read_term(self, name: str, term: Any) -> list[FilterCondition]:
        """Return the conditions on one name. `term` is `{operator: operand}`, or the value that the name must have."""
        if not FIELD_NAME.fullmatch(name) or term == {} or isinstance(term, list):
            raise self.filter_error()
        if not isinstance(term, Mapping):
            return [FilterCondition(name, self.equality, term)]
        return [self.read_condition(name, sign, operand) for sign, operand in term.items()]

    def read_condition(self, name: str, sign: str, operand: Any) -> FilterCondition:
        kind = sign.removeprefix("$")
        sound = isinstance(operand, list) if kind == "in" else is_number(operand)
        if sign not in self.operators or not sound:
            raise self.filter_error()
        return FilterCondition(name, kind, operand)

    def filter_error(self) -> AdapterError:
        rule = "must map names to scalars or to known operators"
        return invalid("args.filter", "SYNTAX", rule, error="FilterSyntaxError")
