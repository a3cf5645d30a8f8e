"""Schema files as a tree, the lint of schema files (`lint/`), and golden files (`goldens/`)."""
