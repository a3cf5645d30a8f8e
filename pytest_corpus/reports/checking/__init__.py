"""Checking and combining reports."""
