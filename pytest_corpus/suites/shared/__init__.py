"""Tests that several components share. Chapters of components import them."""
