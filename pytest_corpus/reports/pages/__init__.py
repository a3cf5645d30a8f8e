"""Pages on components and operations, generated from the tables in `spec/`."""
