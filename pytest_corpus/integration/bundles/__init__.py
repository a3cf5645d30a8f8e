"""Behaviour bundles inside pytest."""
