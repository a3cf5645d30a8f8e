"""The verdict as a badge."""
