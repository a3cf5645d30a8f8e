"""JSON as text, problems of instances, JSON values, files with size limits, and atomic writes."""
