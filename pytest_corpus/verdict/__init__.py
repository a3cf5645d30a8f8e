"""From what tests say to a verdict: pure functions, no pytest, no format."""
