-- The database that the jobs look after.

CREATE TABLE Orders (OrderId integer PRIMARY KEY, Product varchar(50) NOT NULL, Quantity integer NOT NULL);

INSERT INTO Orders (OrderId, Product, Quantity) VALUES (1, 'bolts', 500), (2, 'nuts', 480), (3, 'washers', 1000);
