-- The worked example, registered: one batch, five steps, rows only.
-- A file data_yyyymmdd_yyyymmdd.csv that is announced in FileProcess as MyFileType1 becomes one instance of this batch.

BEGIN TRANSACTION;

-- What the populator makes of the file name, for the placeholders below:
-- Data1 folder, Data2 file name, Data3 first day, Data4 last day. The first day is the cycle key as well.
INSERT INTO ProcessBatch (ProcessBatchName, PopulatorArgs, Description)
VALUES ('MyFileType1',
        '(^|[/\\])data_(?P<CycleKey>(?P<Data3>\d{8}))_(?P<Data4>\d{8})\.csv$',
        'One file of flights: verify, load, merge, report, archive');

INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, MaxDuration, OnLost, Data1)
SELECT ProcessBatch_id,
       10, 'verify the file', 'os_command', 60, 'rerun',
       'python3 commands/verify_file.py --file={Data1}/{Data2} --from={Data3} --to={Data4}'
FROM ProcessBatch WHERE ProcessBatchName = 'MyFileType1';

INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, ExpectedDuration, AlarmDuration, Data1, Data2, Data3)
SELECT ProcessBatch_id,
       20, 'load into staging', 'stored_procedure', 5, 60,
       'warehouse', 'load_flights',
       '@Path=''{Data1}/{Data2}'', @FileName={Data2}, @StartDate={Data3}, @EndDate={Data4}'
FROM ProcessBatch WHERE ProcessBatchName = 'MyFileType1';

INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, ExpectedDuration, AlarmDuration, Data1, Data2)
SELECT ProcessBatch_id,
       30, 'merge into the warehouse', 'sql', 5, 60,
       'warehouse', 'file:merge_flights.sql'
FROM ProcessBatch WHERE ProcessBatchName = 'MyFileType1';

INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, OnLost, Data1, Data2)
SELECT ProcessBatch_id,
       40, 'write the report', 'python', 'rerun',
       'monthly_report', 'first_day={Data3}, last_day={Data4}'
FROM ProcessBatch WHERE ProcessBatchName = 'MyFileType1';

INSERT INTO ProcessControl (ProcessBatch_id, ProcessControlSeq, ProcessName, ProcessType, MaxDuration, OnLost, Data1)
SELECT ProcessBatch_id,
       50, 'archive the file', 'os_command', 60, 'rerun',
       'python3 commands/archive_file.py --file={Data1}/{Data2} --to=archive'
FROM ProcessBatch WHERE ProcessBatchName = 'MyFileType1';

COMMIT;
