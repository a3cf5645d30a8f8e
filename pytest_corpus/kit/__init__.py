"""What the suites are written with."""
