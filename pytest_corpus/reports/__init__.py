"""The report of a run: the JSON document and the formats made from it."""
