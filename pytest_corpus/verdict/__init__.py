"""Pure functions that compute a verdict from test records, without pytest and report formats."""
