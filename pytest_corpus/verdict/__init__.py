"""Pure functions from test records to a verdict, without pytest and formats."""
