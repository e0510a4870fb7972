"""Pure values and decisions: no clock, no files, no SQL."""
