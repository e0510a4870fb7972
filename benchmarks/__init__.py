"""How fast the engine is, beside what the machine can do."""
