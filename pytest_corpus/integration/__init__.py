"""The suites inside pytest: declaring adapters, collecting, gating, recording."""
