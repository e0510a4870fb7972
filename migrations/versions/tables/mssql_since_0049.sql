-- What is new in the tables that a database of revision 0049 has.
ALTER TABLE Pool DROP CONSTRAINT IF EXISTS [CK_Pool_Kind];
ALTER TABLE Pool ADD CONSTRAINT [CK_Pool_Kind] CHECK (lower(Kind) IN ('controllers', 'dask', 'agents'));
ALTER TABLE ProcessControl ADD Needs NVARCHAR(200) COLLATE Latin1_General_100_BIN2 NULL;
ALTER TABLE ProcessControl ADD CONSTRAINT [CK_ProcessControl_Needs] CHECK (Needs <> '');
ALTER TABLE ControllerPool ADD Agents NVARCHAR(max) COLLATE Latin1_General_100_BIN2 NULL;
