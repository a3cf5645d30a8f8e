"""Three adapters of the Corpus Protocol v1.0 in one repository: they share envelopes, arguments and errors."""
