"""Reading a bundle: its bundle.yaml, dataset, templates and output schema."""
