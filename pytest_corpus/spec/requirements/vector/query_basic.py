"""Reading vectors (SPECIFICATION 4.2.6, 9.2 to 9.5, 11.5; SCHEMA 4.2.2; ERRORS 6.3; R10, R12, R30, R32)."""

REQUIREMENTS = """
VEC-QUERY-1 MUST: A query is answered with matches, namespace and total_matches, as the schema says.
  from SCHEMA 4.2.2, SPECIFICATION 9.2, R30
  hint: give each match vector, score and distance, write [] for no matches, and add no undocumented key
VEC-QUERY-2 MUST: There are at most `top_k` matches.
  from SPECIFICATION 9.3
  hint: cut the sorted matches to the first top_k, not to top_k + 1
VEC-QUERY-3 MUST: If the namespace holds at least `top_k` vectors, there are `top_k` matches, each id once. If
    capabilities state an approximate search, matches may be missing, but never the stored vector that equals the query
    vector.
  from SPECIFICATION 9.3, SPECIFICATION 4.2.6, R113, R146
  hint: keep one row for each id, return all vectors if top_k is larger, and state approximations in `extensions`
VEC-QUERY-4 MUST: The matches are the best of all vectors, even if `top_k` is small.
  from SPECIFICATION 9.3, SPECIFICATION 9.4, R30
  hint: sort by the metric before cutting to top_k, and search with enough candidates
VEC-QUERY-5 MUST: `total_matches` is at least the number of matches, and at most the number of all vectors ever written.
  from SCHEMA 4.2.2, R30
  hint: set total_matches to len(matches) or to the number of all matches
VEC-QUERY-6 MUST: `namespace` in the result is the namespace that was asked.
  from SCHEMA 4.2.2, SPECIFICATION 9.2
  hint: return the namespace of the request, not "default" and not the backend's name for it
VEC-QUERY-7 MUST: Metadata are in the matches unless `include_metadata` is false.
  from SPECIFICATION 9.2
  hint: treat a missing include_metadata as true, and return metadata with every match, filtered or not
VEC-QUERY-8 MUST: With `include_vectors` true each match has the vector that was stored under its id.
  from SPECIFICATION 9.2, SPECIFICATION 9.3, R30
  hint: look up the stored vector of each match by its id, and keep its full precision
VEC-QUERY-9 MUST: `top_k` that is not a positive whole number is refused with BAD_REQUEST.
  from SPECIFICATION 9.3, SPECIFICATION 17.2
  hint: check that top_k is an integer of at least 1; do not round it or treat zero as missing
VEC-QUERY-10 MUST: A query without `vector` or without `top_k` is refused with BAD_REQUEST.
  from SPECIFICATION 9.2, R8
  hint: refuse a query that lacks `vector` or `top_k`; neither has a default
VEC-QUERY-11 MUST: A query with an argument of the wrong type is refused with BAD_REQUEST.
  from SPECIFICATION 9.2, SPECIFICATION 17.2, R8
  hint: check the type of every argument before use; "1" is not a number
VEC-QUERY-12 MUST: Whole numbers, negative numbers and zeros are vector components like any other.
  from SCHEMA 4.2.2, SPECIFICATION 4.1
  hint: accept any finite number as a component, and compare with None instead of testing for truth
VEC-QUERY-13 MUST: A query on an empty namespace is answered with no matches or INDEX_NOT_READY.
  from ERRORS 6.3, SPECIFICATION 9.5, R12
  hint: return matches [] or INDEX_NOT_READY if nothing is stored yet
VEC-QUERY-14 MUST: A client that follows the page tokens gets every match exactly once, and reaches a last page.
  from SPECIFICATION 11.5, R32; needs supports_pagination
  hint: return a token while matches are left, begin the next page after the last one, and end without a token
VEC-QUERY-15 SHOULD: INDEX_NOT_READY says when to retry.
  from SPECIFICATION 9.5, ERRORS 6.3
  hint: set retry_after_ms in the error envelope of INDEX_NOT_READY
VEC-QUERY-16 SHOULD: With `include_metadata` false the matches carry no metadata.
  from SPECIFICATION 9.2
  hint: leave the metadata out of each match, or empty, if include_metadata is false
VEC-QUERY-17 SHOULD: If `query_vector` is given, it is the vector of the query.
  from SPECIFICATION 9.2
  hint: return the vector of the request, not its normalized form, or leave query_vector out
VEC-QUERY-18 SHOULD: If a match names a namespace, its vector is stored in this namespace.
  from SPECIFICATION 9.2
  hint: state the right namespace in each match, or omit `namespace`
VEC-QUERY-19 SHOULD: A search that capabilities call approximate finds nine tenths of the best matches.
  from SPECIFICATION 4.2.6, R113, R145
  hint: search more of the index for each query: use a higher ef_search, or more probes
VEC-SCORE-1 MUST: In a cosine namespace the most similar vector comes first.
  from SPECIFICATION 9.4, R30
  hint: divide the product by both norms, keep its sign, and put the largest cosine first
VEC-SCORE-2 MUST: In a euclidean namespace the nearest vector comes first.
  from SPECIFICATION 9.4, R30
  hint: sort by the root of the sum of squared differences, the smallest first
VEC-SCORE-3 MUST: In a dot product namespace the vector with the largest product comes first.
  from SPECIFICATION 9.4, R30
  hint: compute the product of the plain vectors, keep its sign, and put the largest product first
VEC-SCORE-4 MUST: A better match has a higher `score`, whatever the metric.
  from SPECIFICATION 9.4, SCHEMA 4.2.2, R30
  hint: return a score that rises with quality, for example 1 / (1 + d) for a distance d
VEC-SCORE-5 MUST: A better match has a lower `distance`, whatever the metric.
  from SPECIFICATION 9.4, SCHEMA 4.2.2, R30
  hint: return a distance that falls with quality, for example 1 - cosine, or the negated product
VEC-SCORE-9 MUST: A vector of zeros is stored and found (in a euclidean namespace at distance 0 from itself), or refused
    with BAD_REQUEST or NOT_SUPPORTED.
  from SPECIFICATION 9.4, SPECIFICATION 12.1, R30, R121
  hint: guard the division by a length of zero; a vector without a direction is not a failure of the backend
VEC-SCORE-6 SHOULD: The cosine score is the cosine of the two vectors, or this cosine scaled to [0, 1].
  from SPECIFICATION 9.4, R30
  hint: return the cosine itself, or (1 + cosine) / 2, as the score
VEC-SCORE-7 SHOULD: In a euclidean namespace, `distance` is the euclidean distance of the two vectors.
  from SPECIFICATION 9.4, R30
  hint: take the square root of the sum of squared differences
VEC-SCORE-8 SHOULD: The dot product score is the product of the two vectors, or this product scaled to [0, 1].
  from SPECIFICATION 9.4, R30
  hint: return the product itself, or one scaled to [0, 1]; do not divide it by the dimensions
"""
