"""All SQL: the tables of the control database and one named statement per function."""
