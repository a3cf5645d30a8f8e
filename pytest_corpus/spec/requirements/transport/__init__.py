"""Requirements on transports. They do not apply to an adapter in the suite's process."""
