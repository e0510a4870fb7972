"""The scripts for PostgreSQL and SQLite that a DBA runs: what they are, how to run them, and what stops them."""

from __future__ import annotations

import re

_TABLE = re.compile(r"^CREATE TABLE (\w+) ", re.MULTILINE)
_BEGIN = "BEGIN;\n"

_HEADS = {
    "postgresql": """\
-- The control database of batchctl on PostgreSQL 14 or later, schema (revision).
--
-- Run it as the role that shall own the tables: psql -v ON_ERROR_STOP=1 -d DATABASE -f batchctl.sql
-- It makes everything, from nothing, in the first schema of the search_path, and is one transaction: after an error nothing
-- of it stays. Without ON_ERROR_STOP psql goes on after an error, to no effect, and its exit code is 0.
-- The rights that another role needs to work with the tables: batchctl doctor, run as that role, prints them.

BEGIN;

DO $$
BEGIN
    IF EXISTS (SELECT 1 FROM pg_catalog.pg_class WHERE relnamespace = current_schema()::regnamespace AND relname IN (
        (tables)))
    THEN
        RAISE EXCEPTION 'batchctl: there are tables of these names already; nothing is made'
            USING HINT = 'to bring a database of batchctl up to date: batchctl db upgrade; or choose another database or schema';
    END IF;
END
$$;
""",
    "sqlite": """\
-- The control database of batchctl on SQLite, schema (revision).
--
-- Run it on a file that is not there yet: sqlite3 -bail batchctl.db < batchctl.sql
-- It makes everything, from nothing, and is one transaction: with -bail nothing of it stays after an error.
-- To bring a database of batchctl up to date: batchctl db upgrade

BEGIN;
""",
}


def headed(printed: str, dialect: str, revision: str) -> str:
    """Return what Alembic has printed, with a heading, and where the database can do it a look at what is there."""
    listed = ", ".join(f"'{name.lower()}'" for name in _TABLE.findall(printed))
    head = _HEADS[dialect].replace("(revision)", revision).replace("(tables)", listed)
    return head + printed.removeprefix(_BEGIN)
