-- The batch that loads what waits, and the trigger that starts it: rows of the control database.

INSERT INTO ProcessBatch (ProcessBatchName, RetryCount, Description)
VALUES ('LoadOrders', 2, 'Loads the orders that wait in StagingOrders.');

-- First the rows are taken, so that those which arrive meanwhile stay for the next time.
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
SELECT ProcessBatch_id, 10, 'take the rows', 'sql', 'warehouse',
       'UPDATE StagingOrders SET ImportStatus = 1 WHERE ImportStatus = 0'
FROM ProcessBatch WHERE ProcessBatchName = 'LoadOrders';

INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1, Data2)
SELECT ProcessBatch_id, 20, 'load them', 'sql', 'warehouse',
       'INSERT INTO Orders (OrderId, Product, Quantity)
        SELECT OrderId, Product, Quantity FROM StagingOrders WHERE ImportStatus = 1;
        UPDATE StagingOrders SET ImportStatus = 2 WHERE ImportStatus = 1'
FROM ProcessBatch WHERE ProcessBatchName = 'LoadOrders';

-- 500 rows start it; a few to which none are added start it after half an hour.
INSERT INTO DataTrigger
    (TriggerName, Entity, ConnectionName, TableName, StatusColumn, PendingValue, CreatedColumn, RowThreshold, IdleMinutes)
VALUES ('orders', 'LoadOrders', 'warehouse', 'StagingOrders', 'ImportStatus', '0', 'CreatedAt', 500, 30);
