"""The audit: what must hold for every answer, checked on each exchange of each test."""
