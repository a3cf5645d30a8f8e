"""The state of a run: options, adapters, findings."""
