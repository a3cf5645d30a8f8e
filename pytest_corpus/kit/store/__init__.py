"""The data that a run writes into the adapter's store, the delay of writes, and the removal of the data."""
