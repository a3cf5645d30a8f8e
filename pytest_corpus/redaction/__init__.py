"""The one place that decides what may be shown: values as shapes, and secrets that are masked in content."""
