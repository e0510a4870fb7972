-- What is new in the tables that a database of revision 0050 has.
ALTER TABLE ApiToken ADD COLUMN Pools VARCHAR(200);
ALTER TABLE ApiToken DROP CONSTRAINT IF EXISTS "CK_ApiToken_Role";
ALTER TABLE ApiToken ADD CONSTRAINT "CK_ApiToken_Role" CHECK (lower(Role) IN ('reader', 'intake', 'operator', 'author', 'admin', 'agent', 'controller'));
