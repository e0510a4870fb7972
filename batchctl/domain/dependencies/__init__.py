"""Which batches wait for others, and how that looks."""
