-- A few rows, which are no 500; the first of them has lain here for more than half an hour.

INSERT INTO StagingOrders (OrderId, Product, Quantity, CreatedAt)
SELECT 1 + coalesce(max(OrderId), 0), 'nuts', 7, '2026-01-01 00:00:00+00:00' FROM StagingOrders;

INSERT INTO StagingOrders (OrderId, Product, Quantity)
SELECT 1 + coalesce(max(OrderId), 0), 'bolts', 9 FROM StagingOrders;
