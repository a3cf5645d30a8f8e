"""The calls, tokens and outages of a run."""
