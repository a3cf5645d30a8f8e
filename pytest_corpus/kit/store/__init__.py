"""Data that a run writes into the adapter's store: when it becomes visible, and its removal."""
