"""Tests of the requests that a client library builds."""
