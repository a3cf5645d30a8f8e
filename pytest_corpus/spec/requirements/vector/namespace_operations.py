"""Namespaces (SPECIFICATION 4.2.6, 9.1 to 9.3; ERRORS 6.3; R12, R22, R45)."""

REQUIREMENTS = """
VEC-NS-1 MUST: A namespace that was created can be written to and read from.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.3
  hint: before you answer, create the namespace in the storage that upsert and query use
VEC-NS-2 MUST: A vector in one namespace is not found in another.
  from SPECIFICATION 9.1, SPECIFICATION 9.2, R138, R139
  hint: search only the vectors in the namespace of the query
VEC-NS-3 MUST: Writing and deleting in one namespace does not change vectors with the same ids in another namespace.
  from SPECIFICATION 9.1, SPECIFICATION 9.2
  hint: key vectors by namespace and id together, in writes and deletes
VEC-NS-4 MUST: Deleting a namespace removes all its vectors: they are not found again, not even in a new namespace of
    the same name.
  from SPECIFICATION 4.2.6
  hint: remove the vectors, their index and cached answers along with the name
VEC-NS-5 MUST: Deleting a namespace leaves every other namespace as it is, even one with a similar name.
  from SPECIFICATION 4.2.6, R139
  hint: compare the whole name of the namespace, not its beginning
VEC-NS-6 MUST: A query on an unknown namespace is refused with BAD_REQUEST or its subtype NamespaceNotFound.
  from ERRORS 6.3, R12, R45
  hint: look the namespace up before you search, and refuse permanently; do not return an empty list
VEC-NS-7 MUST: A call that creates or deletes a namespace is refused with BAD_REQUEST if an argument is missing or of
    the wrong type. A metric that is not offered is accepted or refused permanently.
  from SPECIFICATION 9.3, SPECIFICATION 12.4, R8
  hint: check that `namespace` and `dimensions` exist and have the right types; do not use defaults
VEC-NS-8 MUST: Each namespace keeps its own metric.
  from SPECIFICATION 9.4
  hint: keep the metric with each namespace, not once for the adapter or the tenant
VEC-NS-9 MUST: If no `namespace` is given, the namespace `default` is used.
  from SPECIFICATION 9.2
  hint: treat a missing `namespace` as "default" in upsert, query and delete
VEC-NS-14 MUST: A namespace that was created without `distance_metric` can be used. If capabilities claim a default
    metric, creating a namespace without `distance_metric` succeeds.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.2, R23
  hint: use a default metric if none is given, and store it with the namespace
VEC-NS-10 MUST: A successful answer of `create_namespace` or `delete_namespace` does not state `success` false, and does
    not name another namespace.
  from SPECIFICATION 4.2.6, SPECIFICATION 9.3
  hint: if the call fails, return an error envelope; in a success, name the namespace as the request does
VEC-NS-11 SHOULD: A query on an unknown namespace is refused with NAMESPACE_NOT_FOUND.
  from ERRORS 6.3, R12
  hint: raise NamespaceNotFound instead of BadRequest
VEC-NS-12 SHOULD: A metric that is not offered is refused with BAD_REQUEST or NOT_SUPPORTED.
  from SPECIFICATION 9.4, R23
  hint: compare `distance_metric` with the metrics that you list; do not use a default instead
VEC-NS-13 SHOULD: Creating an existing namespace again leaves its vectors as they are.
  from SPECIFICATION 9.3
  hint: do not change an existing namespace, or refuse to create it again
"""
