"""Behaviour bundles: files that describe the expected behaviour of an LLM (BEHAVIOR_BUNDLES; R43, R44, R77 to R85)."""
