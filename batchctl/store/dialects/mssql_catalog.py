"""How the catalog of SQL Server describes what was made."""

from __future__ import annotations

from batchctl.store.dialects.mssql_session import MssqlSession

DEFINITIONS = """
DECLARE @of int = SCHEMA_ID({schema});
SELECT t.name + N'.' + c.name AS name,
       CONCAT(TYPE_NAME(c.user_type_id), N'(', c.max_length, N',', c.precision, N',', c.scale, N') ', c.collation_name,
              CASE c.is_nullable WHEN 1 THEN N' NULL' ELSE N' NOT NULL' END,
              CASE c.is_identity WHEN 1 THEN N' IDENTITY' ELSE N'' END,
              N' ' + d.name + N' DEFAULT ' + d.definition,
              N' AS ' + a.definition, CASE a.is_persisted WHEN 1 THEN N' PERSISTED' ELSE N'' END) AS definition
FROM sys.columns AS c JOIN sys.tables AS t ON t.object_id = c.object_id
LEFT JOIN sys.default_constraints AS d ON d.object_id = c.default_object_id
LEFT JOIN sys.computed_columns AS a ON a.object_id = c.object_id AND a.column_id = c.column_id
WHERE t.schema_id = @of
UNION ALL
SELECT k.name, CONCAT(k.definition, CASE WHEN k.is_disabled = 1 OR k.is_not_trusted = 1 THEN N' NOT IN FORCE' ELSE N'' END)
FROM sys.check_constraints AS k WHERE k.schema_id = @of
UNION ALL
SELECT f.name, CONCAT(OBJECT_NAME(f.parent_object_id), N': ',
              (SELECT STRING_AGG(CONCAT(COL_NAME(x.parent_object_id, x.parent_column_id), N' REFERENCES ',
                                        OBJECT_NAME(x.referenced_object_id), N'.',
                                        COL_NAME(x.referenced_object_id, x.referenced_column_id)), N', ')
                      WITHIN GROUP (ORDER BY x.constraint_column_id)
               FROM sys.foreign_key_columns AS x WHERE x.constraint_object_id = f.object_id),
              CASE WHEN f.is_disabled = 1 OR f.is_not_trusted = 1 THEN N' NOT IN FORCE' ELSE N'' END)
FROM sys.foreign_keys AS f WHERE f.schema_id = @of
UNION ALL
SELECT i.name, CONCAT(t.name, CASE i.is_unique WHEN 1 THEN N' UNIQUE (' ELSE N' (' END,
              (SELECT STRING_AGG(COL_NAME(x.object_id, x.column_id), N', ') WITHIN GROUP (ORDER BY x.key_ordinal)
               FROM sys.index_columns AS x WHERE x.object_id = i.object_id AND x.index_id = i.index_id),
              N')', N' WHERE ' + i.filter_definition, CASE i.is_disabled WHEN 1 THEN N' DISABLED' ELSE N'' END)
FROM sys.indexes AS i JOIN sys.tables AS t ON t.object_id = i.object_id
WHERE i.name IS NOT NULL AND t.schema_id = @of
UNION ALL
SELECT v.name, CONCAT(m.definition, CASE m.uses_quoted_identifier WHEN 0 THEN N' QUOTED_IDENTIFIER OFF' ELSE N'' END,
              CASE m.uses_ansi_nulls WHEN 0 THEN N' ANSI_NULLS OFF' ELSE N'' END)
FROM sys.views AS v JOIN sys.sql_modules AS m ON m.object_id = v.object_id WHERE v.schema_id = @of
UNION ALL
SELECT g.name, CONCAT(REPLACE(m.definition, {schema} + N'.', N''),
              CASE m.uses_quoted_identifier WHEN 0 THEN N' QUOTED_IDENTIFIER OFF' ELSE N'' END,
              CASE m.uses_ansi_nulls WHEN 0 THEN N' ANSI_NULLS OFF' ELSE N'' END,
              CASE g.is_disabled WHEN 1 THEN N' DISABLED' ELSE N'' END)
FROM sys.triggers AS g JOIN sys.objects AS t ON t.object_id = g.parent_id JOIN sys.sql_modules AS m ON m.object_id = g.object_id
WHERE t.schema_id = @of
"""
MODEL = "batchctl_model"
"""The schema in which everything is made anew, to be compared; its views name it."""


def definitions_in(session: MssqlSession, schema: str) -> dict[str, str]:
    """Return how everything in a schema is defined, by name; the schema is an expression of SQL."""
    rows = session.execute(DEFINITIONS.format(schema=schema)).fetchall()
    # The printed script ends each statement with a semicolon, which is part of what the server keeps of a view.
    return {str(row[0]): " ".join(str(row[1]).replace(f"{MODEL}.", "").split()).rstrip("; ") for row in rows}
