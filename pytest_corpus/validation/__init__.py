"""Is it valid: instances (`schema/`), streams of frames (`streams/`), request envelopes (`requests/`)."""
