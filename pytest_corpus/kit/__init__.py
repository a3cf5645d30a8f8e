"""The toolkit that the suites are written with."""
