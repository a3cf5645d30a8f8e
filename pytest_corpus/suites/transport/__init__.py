"""Tests of transports, run for each component of an adapter outside this process."""
