"""The pages of the site that are written from the tables of `pytest_corpus/spec/` and from the plugin's code."""
