"""The engine: rows become instances, instances walk through their steps."""
