"""What a factory may ask for, and what the suite learns by it: metrics, provider, logs."""
