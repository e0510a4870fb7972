-- What any program does that brings rows: it inserts them, and knows nothing of batchctl.

WITH RECURSIVE line (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM line WHERE n < 500)
INSERT INTO StagingOrders (OrderId, Product, Quantity)
SELECT n + (SELECT coalesce(max(OrderId), 0) FROM StagingOrders), 'screws', 100 + n FROM line;
