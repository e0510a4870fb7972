"""PostgreSQL as a target database, and what `psql` takes."""
