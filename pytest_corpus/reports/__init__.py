"""From what the tests said to statuses, a verdict and its formats."""
