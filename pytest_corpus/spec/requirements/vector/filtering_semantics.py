"""Filters of queries (SPECIFICATION 9.3; SCHEMA 4.2.2; ERRORS 6.3; BEHAVIORAL_CONFORMANCE 6.7; R23, R31)."""

REQUIREMENTS = """
VEC-FILTER-1 MUST: A vector is a match if, and only if, its metadata have the key and the value of the filter.
  from SPECIFICATION 9.3, SCHEMA 4.2.2, R31; needs supports_filters
  hint: compare every vector with the filter, and return all matches, up to top_k
VEC-FILTER-2 MUST: The filter applies before the cut to `top_k`.
  from SPECIFICATION 9.3; needs supports_filters
  hint: filter first, then take the best top_k; fetching a few more than top_k is not enough
VEC-FILTER-3 MUST: All terms of a filter must hold.
  from SCHEMA 4.2.2, R31; needs supports_filters
  hint: exclude a vector if one term does not match: terms are joined by AND, not by OR
VEC-FILTER-4 MUST: A filter that no vector meets gives no matches.
  from SPECIFICATION 9.3, R31; needs supports_filters
  hint: return an empty list if nothing matches; do not ignore the filter, and do not refuse
VEC-FILTER-5 MUST: Filters work for numbers and booleans as they do for strings.
  from SCHEMA 4.2.2, R31, R138; needs supports_filters
  hint: compare whole values of the same type, letter case included; false and 0 are values too
VEC-FILTER-6 MUST: A vector without the key, or without metadata, does not meet the filter.
  from SCHEMA 4.2.2, R31; needs supports_filters
  hint: treat a missing key, or missing metadata, as not equal
VEC-FILTER-7 MUST: An operator in a filter is applied with its usual meaning, or refused. Every match meets the
    operator.
  from SCHEMA 4.2.2, R31; needs supports_filters
  hint: apply operators and lists exactly, or refuse the filter; do not skip a term
VEC-FILTER-8 MUST: If capabilities deny filters, a query with a filter is refused with NOT_SUPPORTED; the filter is
    never ignored.
  from BEHAVIORAL_CONFORMANCE 5.4, R23, R31
  hint: answer NOT_SUPPORTED if a query has a filter and you deny filters; do not search without it
VEC-FILTER-9 MUST: A filter that is not an object is refused with BAD_REQUEST.
  from SCHEMA 4.2.2, R8; needs supports_filters
  hint: check that a given `filter` is an object before you read it or drop it
VEC-FILTER-10 MUST: A filter of `max_filter_terms` terms is served.
  from BEHAVIORAL_CONFORMANCE 6.7, R23; needs supports_filters
  hint: refuse only more than max_filter_terms, and apply every one of them
VEC-FILTER-11 MUST: A filter of more than `max_filter_terms` terms is refused with BAD_REQUEST.
  from BEHAVIORAL_CONFORMANCE 6.7, SPECIFICATION 17.2; needs supports_filters
  hint: count the terms before you search, and do not drop any
VEC-FILTER-15 MUST: If vectors have values of different types under one key, a filter on this key finds the vectors with
    an equal value, or is refused permanently.
  from SPECIFICATION 9.3, SPECIFICATION 12.1, R31
  hint: compare types before values, and skip values that you cannot compare; equality does not match substrings
VEC-FILTER-12 SHOULD: An operator that no document knows is refused.
  from ERRORS 6.3, R31; needs supports_filters
  hint: compare each operator with those you know, and raise FilterSyntaxError for any other
VEC-FILTER-13 SHOULD: Values of different types are different: 1 is neither true nor the string 1.
  from SCHEMA 4.2.2, R31; needs supports_filters
  hint: compare the types first: in Python True equals 1, and str(1) equals "1"
VEC-FILTER-14 SHOULD: An empty filter excludes no vector.
  from SCHEMA 4.2.2; needs supports_filters
  hint: treat a filter without terms as no condition
"""
