"""Schema files as a tree, what is wrong with them (`lint/`), and golden files (`goldens/`)."""
