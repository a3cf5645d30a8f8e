"""Pages on components and operations, made from the tables of `spec/`."""
