"""What only a transport can break, decided for each component of an adapter outside this process."""
