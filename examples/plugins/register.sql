-- sqlite3 -cmd '.timeout 5000' batchctl.db < register.sql; the same text works on PostgreSQL and SQL Server.
INSERT INTO ProcessBatch (ProcessBatchName, Populator) VALUES ('CopyOrders', 'orders');

INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
SELECT ProcessBatch_id, 10, 'copy the order', 'copy_file', '{Data1}', 'copy_of_{Data2}_{CycleKey}.csv'
FROM ProcessBatch WHERE ProcessBatchName = 'CopyOrders';

INSERT INTO FileProcess (Entity, Data) VALUES ('CopyOrders', '{"file": "order.csv", "customer": "acme", "day": "2026-11-22"}');
INSERT INTO FileProcess (Entity, Data) VALUES ('CopyOrders', 'no order at all');
