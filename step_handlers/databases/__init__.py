"""What steps need of every kind of target database, and SQLite."""
