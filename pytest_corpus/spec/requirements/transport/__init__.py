"""Requirements of transports, which do not apply to an adapter in the suite's own process."""
