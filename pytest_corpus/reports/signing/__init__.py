"""In-toto statements, and their signatures."""
