"""Validation of instances (`schema/`), streams of frames (`streams/`) and request envelopes (`requests/`)."""
