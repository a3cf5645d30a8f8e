"""Runs cases: one case with its retries, and many cases concurrently, in one process or several."""
