"""The lint finds what SQL Server refuses by its number, and takes what the server takes."""

from __future__ import annotations

import re

import pytest

from tests.sqlserver.catalog import Catalog
from tests.sqlserver.lint import refusals
from tests.sqlserver.parser import as_sent, problems, tree_of

TABLES = """
CREATE TABLE Work (Id int, Name nvarchar(20) COLLATE Latin1_General_100_BIN2, Word varchar(20) COLLATE Latin1_General_100_CI_AS);
CREATE TABLE Zone (Seconds int, FromTime datetime2, Word varchar(20) COLLATE Latin1_General_100_CI_AS);
"""
INDEXES = """
CREATE TABLE Strict (Id int, Name nvarchar(20));
CREATE TABLE Hashed (Id int);
ALTER TABLE Hashed ADD Twice AS Id * 2 PERSISTED;
CREATE INDEX One ON Strict (Id) WHERE Name IS NULL;
CREATE INDEX Other ON Hashed (Twice);
"""
VIEWS = (
    "CREATE OR ALTER VIEW vWork AS SELECT w.Id, w.Name AS Said FROM Work w",
    "CREATE OR ALTER VIEW vStrict AS WITH x AS (SELECT Id FROM Strict) SELECT Id FROM x",
)
TRIGGER = "CREATE TRIGGER Heard ON Work AFTER INSERT, UPDATE AS SET NOCOUNT ON;"

REFUSED = {
    "SELECT (SELECT MIN(DATEADD(second, z.Seconds, w.Id)) FROM Zone z) FROM Work w": 8124,
    "SELECT (SELECT MIN(CASE WHEN z.FromTime > w.Id THEN Seconds END) FROM Zone z) FROM Work w": 8124,
    "SELECT (SELECT SUM(Seconds + Id) FROM Zone) FROM Work": 8124,
    "SELECT MAX((SELECT MIN(Seconds) FROM Zone)) FROM Work": 130,
    "SELECT MAX(MIN(Id)) FROM Work": 130,
    "SELECT STDEVP(MIN(Id)) FROM Work": 130,
    "SELECT SUM((SELECT 1)) OVER () FROM Work": 130,
    "SELECT MAX(MIN(SUM(Id))) OVER () FROM Work": 130,
    "SELECT MAX(MIN(Id) OVER ()) FROM Work": 4109,
    "SELECT (SELECT STDEVP(Seconds + Id) FROM Zone) FROM Work": 8124,
    "SELECT (SELECT CHECKSUM_AGG(Seconds + Id) FROM Zone) FROM Work": 8124,
    "SELECT (SELECT VARP(Seconds + Id) FROM Zone) FROM Work": 8124,
    "SELECT (SELECT APPROX_COUNT_DISTINCT(Seconds + Id) FROM Zone) FROM Work": 8124,
    "SELECT COUNT(*) FROM Work GROUP BY (SELECT 1)": 144,
    "SELECT (SELECT COUNT(*) FROM Zone z GROUP BY w.Id) FROM Work w": 164,
    "SELECT COUNT(*) FROM Work GROUP BY 1 + 1": 164,
    "SELECT COUNT(*) FROM Work GROUP BY ROLLUP(Name, (SELECT 1))": 144,
    "SELECT COUNT(*) FROM Work GROUP BY CUBE(MAX(Id))": 144,
    "SELECT COUNT(*) FROM Work GROUP BY GROUPING SETS((Name, (SELECT 1)), ())": 144,
    "SELECT COUNT(*) FROM Work GROUP BY ROLLUP(Name, 1 + 1)": 164,
    "SELECT (SELECT COUNT(*) FROM Zone z GROUP BY GROUPING SETS((z.Seconds), (w.Id))) FROM Work w": 164,
    "SELECT DISTINCT Name FROM Work ORDER BY Id": 145,
    "SELECT DISTINCT w.Word FROM Work w JOIN Zone z ON z.Seconds = w.Id ORDER BY z.Word": 145,
    "SELECT DISTINCT w.Word + 'x' FROM Work w JOIN Zone z ON z.Seconds = w.Id ORDER BY z.Word + 'x'": 145,
    "INSERT INTO Work (Id) OUTPUT inserted.Id VALUES (1)": 334,
    "UPDATE w SET Id = 2 OUTPUT inserted.Id FROM Work w": 334,
    "MERGE Work AS w USING Zone z ON z.Seconds = w.Id WHEN MATCHED THEN UPDATE SET Id = 1 OUTPUT inserted.Id;": 334,
    "MERGE INTO Work w USING Zone z ON z.Seconds = w.Id WHEN NOT MATCHED THEN INSERT (Id) VALUES (1) OUTPUT $action;": 334,
    "WITH x AS (SELECT Id FROM Work) UPDATE x SET Id = 2 OUTPUT inserted.Id": 334,
    "WITH x AS (SELECT Id FROM vWork) INSERT INTO x (Id) OUTPUT inserted.Id VALUES (1)": 334,
    "INSERT INTO vWork (Id) OUTPUT inserted.Id VALUES (1)": 334,
    "EXEC (N'INSERT INTO Work (Id) OUTPUT inserted.Id VALUES (1)')": 334,
    "EXEC sp_executesql N'UPDATE Work SET Id = 1 OUTPUT inserted.Id'": 334,
    "DECLARE @p int; DECLARE @P int": 134,
    "DECLARE @got int; SELECT @Got": 137,
    "DECLARE @p1 int = ?": 134,
    "DECLARE @P2 int; SELECT ?, ?": 134,
    "EXEC sp_executesql N'SELECT @Name', N'@name int', @name = 1": 137,
    "EXEC sp_executesql N'SELECT @name', N'@name int', @Name = 1": 137,
    "EXEC sp_executesql N'DECLARE @name int', N'@Name int', 1": 134,
    "EXEC (N'DECLARE @got int; SELECT @Got')": 137,
    "SELECT 1 FROM Work w JOIN Zone z ON w.Name = z.Word": 468,
    "SELECT 1 FROM Work WHERE Name LIKE Word": 468,
    "SELECT 1 FROM Work WHERE Name IN (SELECT Name FROM Work) AND Name IN (Word, 'x')": 468,
    "SELECT 1 FROM Work w JOIN (SELECT lower(Word) AS Said FROM Zone) z ON z.Said = w.Name": 468,
    "WITH x AS (SELECT Word AS Said FROM Zone) SELECT 1 FROM x JOIN Work w ON w.Name = x.Said": 468,
    "SELECT CHARINDEX(Name, Word) FROM Work": 468,
    "SELECT 1 FROM Work WHERE Name IN (SELECT Word FROM Zone)": 468,
    "SELECT 1 FROM Work WHERE Name = ANY (SELECT Word FROM Zone)": 468,
    "SELECT 1 FROM Work WHERE Name BETWEEN 'a' AND Word": 468,
    "SELECT NULLIF(Name, Word) FROM Work": 468,
    "SELECT CASE Name WHEN Word THEN 1 END FROM Work": 468,
    "SELECT 1 FROM Work WHERE CAST(Name AS nvarchar(3)) = Word": 468,
    "SELECT 1 FROM Work WHERE Name = CONVERT(nvarchar(3), Word)": 468,
    "SELECT 1 FROM Work WHERE IIF(Id = 1, Name, NULL) = Word": 468,
    "SELECT 1 FROM vWork w JOIN Zone z ON z.Word = w.Said": 468,
    "SELECT 1 FROM Work WHERE Name + Word = 'x'": 468,
    "MERGE Work AS w USING Zone z ON z.Word = w.Name WHEN MATCHED THEN DELETE;": 468,
    "SELECT CONCAT(Name, Word) AS Both FROM Work": 451,
    "SELECT Name + Word FROM Work": 451,
    "SELECT Id FROM Work ORDER BY Name + Word": 451,
    "SELECT COUNT(*) FROM Work GROUP BY CONCAT(Name, Word)": 451,
    "UPDATE Work SET Name = Name + Word": 451,
    "DECLARE @got nvarchar(9); SELECT @got = Name + Word FROM Work": 451,
    "DECLARE @got nvarchar(9); SET @got = (SELECT TOP 1 CAST(Name AS nvarchar(9)) + Word FROM Work)": 451,
    "SELECT IIF(Id = 1, Name, Word) FROM Work": 451,
    "SELECT Said + (SELECT TOP 1 Word FROM Zone) FROM vWork": 451,
    "SELECT Name FROM Work UNION ALL SELECT Word FROM Zone": 451,
    "SELECT CASE WHEN Id = 1 THEN Name ELSE Word END FROM Work": 451,
    "SELECT 1 FROM Work WHERE Name COLLATE Latin1_General_100_BIN2 = Word COLLATE Latin1_General_100_CI_AS": 468,
    "SET QUOTED_IDENTIFIER OFF; INSERT INTO Strict (Id) VALUES (1)": 1934,
    "SET ANSI_NULLS, ANSI_WARNINGS OFF; UPDATE s SET Id = 2 FROM Strict s": 1934,
    "SET NUMERIC_ROUNDABORT ON; DELETE FROM Hashed": 1934,
    "SET ANSI_DEFAULTS OFF; DELETE FROM Hashed": 1934,
    "SET ANSI_NULLS OFF; EXEC (N'DELETE FROM Hashed')": 1934,
    "SET ANSI_NULLS OFF; MERGE Strict s USING Zone z ON z.Seconds = s.Id WHEN MATCHED THEN DELETE;": 1934,
    "SET ANSI_NULLS OFF; WITH x AS (SELECT Id FROM Strict) DELETE FROM x": 1934,
    "SET ANSI_NULLS OFF; UPDATE vStrict SET Id = 1": 1934,
}
TAKEN = (
    "SET QUOTED_IDENTIFIER OFF; SELECT Id FROM Strict; SET QUOTED_IDENTIFIER ON; INSERT INTO Strict (Id) VALUES (1)",
    "SET NUMERIC_ROUNDABORT OFF; SET NOCOUNT ON; DELETE FROM Hashed",
    "SET QUOTED_IDENTIFIER OFF; INSERT INTO Zone (Seconds) VALUES (1)",
    "SELECT (SELECT MIN(z.Seconds) FROM Zone z WHERE z.FromTime < w.Id) FROM Work w",
    "SELECT (SELECT MIN(w.Id) FROM Zone z) FROM Work w",
    "SELECT MAX(Id), COUNT(*) FROM Work GROUP BY Name ORDER BY MAX(Id)",
    "SELECT MIN(COUNT(*)) OVER () FROM Work GROUP BY Name",
    "SELECT MAX(Id) OVER (ORDER BY (SELECT NULL)) FROM Work",
    "SELECT (SELECT STDEVP(Seconds) FROM Zone) FROM Work",
    "SELECT (SELECT CHECKSUM_AGG(Id) FROM Zone) FROM Work",
    "SELECT Name, Id FROM Work GROUP BY GROUPING SETS (ROLLUP(Name, Id), CUBE(Id), ())",
    "SELECT (SELECT COUNT(*) FROM Zone z GROUP BY ROLLUP(z.Seconds + w.Id)) FROM Work w",
    "SELECT DISTINCT w.Word FROM Work w JOIN Zone z ON z.Seconds = w.Id ORDER BY w.Word, Word, 1",
    "SELECT DISTINCT Name FROM Work w ORDER BY w.Name",
    "SELECT DISTINCT * FROM Work ORDER BY Id",
    "SELECT DISTINCT lower(w.Name) FROM Work w ORDER BY lower(Name)",
    "MERGE Work w USING Zone z ON z.Seconds = w.Id WHEN MATCHED THEN DELETE OUTPUT deleted.Id;",
    "MERGE Zone z USING Work w ON z.Seconds = w.Id WHEN MATCHED THEN UPDATE SET Seconds = 1 OUTPUT inserted.Seconds;",
    "WITH x AS (SELECT Seconds FROM Zone) UPDATE x SET Seconds = 2 OUTPUT inserted.Seconds",
    "DELETE FROM vWork OUTPUT deleted.Id",
    "EXEC (N'INSERT INTO Zone (Seconds) OUTPUT inserted.Seconds VALUES (1)')",
    "DECLARE @id int; EXEC p @Id = @id",
    "DECLARE @name int; EXEC sp_executesql N'SELECT @Name', N'@Name int', @Name = @name",
    "DECLARE @p1 int; SELECT @p1",
    "DECLARE @P3 int; SELECT ?, ?",
    "SELECT 1 FROM Work WHERE Word IN (SELECT Word FROM Zone) AND Name BETWEEN 'a' AND CAST(Id AS nvarchar(9))",
    "SELECT NULLIF(Name, ''), CASE Name WHEN 'x' THEN Word END FROM Work",
    "SELECT 1 FROM Work WHERE CAST(Name AS varbinary(9)) = CAST(Word AS varbinary(9))",
    "SELECT 1 FROM vWork w JOIN Work x ON x.Name = w.Said",
    "SELECT Id FROM Work ORDER BY Name, Word",
    "UPDATE Work SET Name = Word",
    "SELECT IIF(Id = 1, Name COLLATE Latin1_General_100_CI_AS, Word) FROM Work",
    "SET ANSI_DEFAULTS OFF; SET ANSI_DEFAULTS ON; DELETE FROM Hashed",
    "SET ANSI_NULLS OFF; WITH x AS (SELECT Seconds FROM Zone) DELETE FROM x",
    "EXEC (N'SET ANSI_NULLS OFF'); DELETE FROM Hashed",
    "EXEC (N'DELETE FROM Hashed'); SET ANSI_NULLS OFF",
    "SELECT * FROM (SELECT TOP 3 Id FROM Work ORDER BY Id) x",
    "SELECT * FROM (SELECT Id FROM Work ORDER BY Id OFFSET 0 ROWS FETCH FIRST ? ROWS ONLY) x",
    "SELECT DISTINCT Name AS Said FROM Work ORDER BY Said",
    "INSERT INTO Zone (Seconds) OUTPUT inserted.Seconds VALUES (1)",
    "DELETE FROM Work OUTPUT deleted.Id",
    "DECLARE @t TABLE (Id int); INSERT INTO Work (Id) OUTPUT inserted.Id INTO @t VALUES (1)",
    "DECLARE @arg1 int = ?; SELECT @arg1, ?",
    "SELECT 1 FROM Work w JOIN Zone z ON w.Name = z.Word COLLATE Latin1_General_100_BIN2",
    "SELECT 1 FROM Work WHERE Name = 'x' AND Word = ?",
    "SELECT CONCAT(Name COLLATE Latin1_General_100_BIN2, Word, Id) FROM Work",
    "SELECT Name COLLATE Latin1_General_100_CI_AS FROM Work UNION ALL SELECT Word FROM Zone",
)
UNREADABLE = {
    "SELECT (SELECT 1 OFFSET 0 ROWS FETCH FIRST 1 ROWS ONLY)": 46010,
    "SELECT 1 FROM Work WHERE Id": 46010,
    "SELECT (1 = 1) = 1": 46010,
    "BEGIN TRY CREATE VIEW v AS SELECT 1 AS a END TRY BEGIN CATCH END CATCH": 46010,
    "SELECT 1 FROM Work WHERE Name = Id LIMIT 3": 46010,
    "SELECT * FROM (SELECT Id FROM Work ORDER BY Id) x": 46047,
    "CREATE VIEW v AS SELECT Id FROM Work ORDER BY Id": 46047,
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """A database with two tables, one of which a trigger watches."""
    made = Catalog()
    for text in (TABLES, INDEXES, TRIGGER, *VIEWS):
        made.read(text)
    return made


@pytest.mark.parametrize("sql", REFUSED)
def test_what_the_server_refuses_is_found(catalog: Catalog, sql: str) -> None:
    assert problems(sql) == []
    assert {int(re.findall(r"\((\d+)\)$", one)[0]) for one in refusals(tree_of(sql), catalog)} == {REFUSED[sql]}


@pytest.mark.parametrize("sql", TAKEN)
def test_what_the_server_takes_is_taken(catalog: Catalog, sql: str) -> None:
    assert problems(sql) == []
    assert refusals(tree_of(sql), catalog) == []


@pytest.mark.parametrize("table", ["Strict", "Hashed"])
def test_what_any_client_is_shown_tells_it_to_quote(catalog: Catalog, table: str) -> None:
    write = f"INSERT INTO {table} (Id) VALUES (1)"

    (found,) = refusals(tree_of(write), catalog, by_any_client=True)
    assert found.endswith("(1934)")
    assert refusals(tree_of(f"SET QUOTED_IDENTIFIER ON; {write}"), catalog, by_any_client=True) == []
    assert refusals(tree_of(write), catalog) == []


@pytest.mark.parametrize("sql", UNREADABLE)
def test_the_parser_refuses_what_is_no_t_sql(sql: str) -> None:
    assert [f"({UNREADABLE[sql]})" in one for one in problems(sql)].count(True) >= 2


def test_marks_become_what_drivers_make_of_them() -> None:
    sent = as_sent("SELECT ?, N'who?', [what?] -- ?\n, ? FROM t WHERE a = 'it''s ?' AND b = ?")

    assert sent == "SELECT @P1, N'who?', [what?] -- ?\n, @P2 FROM t WHERE a = 'it''s ?' AND b = @P3"
