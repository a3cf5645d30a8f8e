"""Transcripts: a run is recorded exchange by exchange, replayed, and judged again without the adapter."""
