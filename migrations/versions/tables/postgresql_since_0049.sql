-- What is new in the tables that a database of revision 0049 has.
ALTER TABLE Pool DROP CONSTRAINT IF EXISTS "CK_Pool_Kind";
ALTER TABLE Pool ADD CONSTRAINT "CK_Pool_Kind" CHECK (lower(Kind) IN ('controllers', 'dask', 'agents'));
ALTER TABLE ProcessControl ADD COLUMN Needs VARCHAR(200);
ALTER TABLE ProcessControl ADD CONSTRAINT "CK_ProcessControl_Needs" CHECK (Needs <> '');
ALTER TABLE ControllerPool ADD COLUMN Agents TEXT;
