"""Tests of transports; they run for each component of an adapter outside this process."""
