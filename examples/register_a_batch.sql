-- Registers a batch by rows only: whenever a file is announced as 'CountLines', its lines are counted.
--
--     sqlite3 -cmd '.timeout 5000' batchctl.db < register_a_batch.sql
--
-- A running controller takes it up by itself. Running this again adds nothing.
-- To make it your own: change the name, and what Data1 says.

BEGIN TRANSACTION;

INSERT INTO ProcessBatch (ProcessBatchName)
SELECT 'CountLines'
WHERE NOT EXISTS (SELECT 1 FROM ProcessBatch WHERE ProcessBatchName = 'CountLines');

-- The command is split into words before the placeholder is filled, and no shell sees it.
-- '--' says that what follows is no option, whatever the file is called.
INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, Data1)
SELECT ProcessBatch_id, 10, 'count the lines', 'os_command', 'wc -l -- {FileName}'
FROM ProcessBatch
WHERE ProcessBatchName = 'CountLines'
  AND NOT EXISTS (
        SELECT 1 FROM ProcessControl
        WHERE ProcessControl.ProcessBatch_id = ProcessBatch.ProcessBatch_id AND ProcessControlSeq = 10
      );

COMMIT;

-- From now on, whatever sees a file arrive announces it so (or: batchctl submit CountLines --file /in/orders.csv):
--
--     INSERT INTO FileProcess (Entity, FileName) VALUES ('CountLines', '/in/orders.csv');
