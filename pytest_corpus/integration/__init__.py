"""The suites inside pytest: declaration of adapters, collection, execution, recording."""
