"""Instances of every schema, each with the editions that accept it, a module a component."""

from . import common, embedding, graph, llm, vector

ACCEPTED = (*common.ROWS, *llm.ROWS, *vector.ROWS, *embedding.ROWS, *graph.ROWS)
