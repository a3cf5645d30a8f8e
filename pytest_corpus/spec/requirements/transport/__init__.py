"""What only a transport can break: not applicable to an adapter in the suite's own process."""
