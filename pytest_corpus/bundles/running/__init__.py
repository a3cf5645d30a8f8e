"""Running cases: one case with its retries, many cases concurrently, in one process or several."""
