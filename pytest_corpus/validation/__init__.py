"""Validation of JSON values by schema (`schema/`), of streams of frames (`streams/`), of request envelopes
(`requests/`).
"""
