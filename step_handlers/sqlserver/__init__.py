"""SQL Server as a target database, and T-SQL as people paste it."""
