-- The database of the program that brings the rows: on SQLite and on PostgreSQL alike.

CREATE TABLE StagingOrders (
    OrderId INTEGER PRIMARY KEY,
    Product VARCHAR(100) NOT NULL,
    Quantity INTEGER NOT NULL,
    ImportStatus INTEGER NOT NULL DEFAULT 0, -- 0 waits, 1 is being loaded, 2 is loaded
    CreatedAt TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE Orders (
    OrderId INTEGER PRIMARY KEY,
    Product VARCHAR(100) NOT NULL,
    Quantity INTEGER NOT NULL
);
