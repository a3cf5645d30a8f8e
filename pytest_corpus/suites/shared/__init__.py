"""What components share, written once: base classes that each component's chapters collect."""
