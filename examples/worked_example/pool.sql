-- Lets the agents of a Dask cluster carry the steps of the batch: batchctl demo --pool dask.

INSERT INTO Pool (PoolName, Kind) VALUES ('burst', 'dask');
UPDATE ProcessBatch SET Pool = 'burst' WHERE ProcessBatchName = 'MyFileType1';
