"""What differs between databases: opening, locking, the meaning of errors."""
