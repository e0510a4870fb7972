"""How work comes in: rows, files, rows of other databases."""
