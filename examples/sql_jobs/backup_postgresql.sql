-- A copy of what matters, made anew every day; pg_dump would be a step of type os_command.
DROP TABLE IF EXISTS OrdersBackup;
CREATE TABLE OrdersBackup AS SELECT *, now() AS CopiedAt FROM Orders;
