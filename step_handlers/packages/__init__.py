"""Packages of SSIS: those of the catalog, and those that `dtexec` runs."""
