"""The end of a run: verdicts, reports, summary, exit code."""
