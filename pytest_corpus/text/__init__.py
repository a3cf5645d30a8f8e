"""JSON as text, problems of an instance, what may be shown, files written whole or not at all."""
