"""The audit: the rules for every answer, checked on each exchange of each test."""
