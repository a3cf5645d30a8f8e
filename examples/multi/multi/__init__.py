"""Three adapters of the Corpus Protocol v1.0, each with a stand-in for its provider."""
