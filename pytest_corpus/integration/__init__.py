"""Runs the suites inside pytest: declares adapters, collects and runs tests, records results, writes reports."""
