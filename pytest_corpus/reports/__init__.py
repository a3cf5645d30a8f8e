"""The report of a run: the JSON document and its formats."""
