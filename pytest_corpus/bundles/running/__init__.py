"""Asking for the answers: one case with its retries, many cases side by side, in one process or several."""
