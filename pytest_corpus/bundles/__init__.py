"""Behaviour bundles: expected behaviour of an LLM as files (BEHAVIOR_BUNDLES; R43, R44, R77 to R85)."""
