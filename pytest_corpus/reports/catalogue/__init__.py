"""The catalogue of requirements as text."""
