"""The lint finds what SQL Server refuses by its number, and takes what the server takes."""

from __future__ import annotations

import re

import pytest

from tests.sqlserver.catalog import Catalog
from tests.sqlserver.lint import all_refused
from tests.sqlserver.parser import as_sent, findings, tree_of

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
CREATE TABLE Numbered (Number bigint IDENTITY, Name nvarchar(20));
CREATE TABLE Noted (Id int, Note nvarchar(max), Rest varbinary(max));
"""
VIEWS = (
    "CREATE OR ALTER VIEW vWork AS SELECT w.Id, w.Name AS Said FROM Work w",
    "CREATE OR ALTER VIEW vStrict AS WITH x AS (SELECT Id FROM Strict) SELECT Id FROM x",
    "CREATE OR ALTER VIEW vHashed AS SELECT h.Id, h.Twice AS Doubled FROM Hashed AS h",
    "CREATE OR ALTER VIEW vNumbered AS SELECT * FROM Numbered",
    "CREATE OR ALTER VIEW vFilled AS SELECT Number, Name FROM Numbered",
)
FILLING = "CREATE TRIGGER Filling ON vFilled INSTEAD OF INSERT AS SET NOCOUNT ON;"
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
    "INSERT INTO Hashed (Id, Twice) VALUES (1, 2)": 271,
    "UPDATE h SET h.Twice = 1 FROM Hashed h": 271,
    "MERGE Hashed h USING Zone z ON z.Seconds = h.Id WHEN NOT MATCHED THEN INSERT (Twice) VALUES (1);": 271,
    "INSERT INTO Numbered (Number, Name) VALUES (1, 'x')": 544,
    "EXEC (N'INSERT INTO Numbered (Number) VALUES (1)'); SET IDENTITY_INSERT Numbered ON": 544,
    "SET IDENTITY_INSERT Numbered ON; SET IDENTITY_INSERT Numbered OFF; INSERT INTO Numbered (Number) VALUES (1)": 544,
    "MERGE Numbered n USING Zone z ON z.Seconds = n.Number WHEN NOT MATCHED THEN INSERT (Number) VALUES (1);": 544,
    "UPDATE Numbered SET Number = 2": 8102,
    "SELECT LENGTH(Name) FROM Work": 195,
    "SELECT IFNULL(Name, '') FROM Work": 195,
    "SELECT now()": 195,
    "SELECT SUBSTR(Name, 1) FROM Work": 195,
    "SELECT GREATEST(Id, 1), LEAST(Id, 1) FROM Work": 195,
    "SELECT DATETRUNC(day, FromTime) FROM Zone": 195,
    "SELECT APPROX_COUNT_DISTINCT(Id) FROM Work": 195,
    "EXEC (N'SELECT LENGTH(Name) FROM Work')": 195,
    "SELECT LTRIM(Name, '0') FROM Work": 174,
    "SELECT TRANSLATE(Name, CONCAT(NCHAR(9), N','), CONCAT(REPLICATE(' ', 1), ',')) FROM Work": 9828,
    "SELECT TRANSLATE(Name, N'ab', 'xy') FROM Work": 9828,
    "SELECT TRANSLATE(Name, N'ab', N'xyz') FROM Work": 9828,
    "SELECT TRANSLATE(Name, NCHAR(9) + ' ', REPLICATE(N' ', 3)) FROM Work": 9828,
    "SELECT value FROM STRING_SPLIT('a,b', ',', 1)": 8144,
    "SELECT value FROM GENERATE_SERIES(1, 3)": 208,
    "SELECT * FROM (SELECT Id + 1 FROM Work) x": 8155,
    "SELECT * FROM (SELECT Id, 'x' FROM Work UNION ALL SELECT Id, Name AS Said FROM Work) x": 8155,
    "WITH x AS (SELECT COUNT(*) FROM Work) SELECT 1 FROM x": 8155,
    "MERGE Zone z USING (SELECT Id + 1 FROM Work) w ON 1 = 1 WHEN MATCHED THEN DELETE;": 8155,
    "CREATE OR ALTER VIEW v AS SELECT Id, lower(Name) FROM Work": 4511,
    "CREATE VIEW v AS WITH x AS (SELECT Id FROM Work) SELECT MAX(Id) FROM x": 4511,
    "SELECT ROW_NUMBER() OVER (PARTITION BY Name) FROM Work": 4112,
    "SELECT RANK() OVER () FROM Work": 4112,
    "SELECT LAG(Id) OVER (PARTITION BY Name), LEAD(Id) OVER () FROM Work": 4112,
    "SELECT ROW_NUMBER() FROM Work": 10753,
    "SELECT Id FROM Work WHERE ROW_NUMBER() OVER (ORDER BY Id) = 1": 4108,
    "SELECT Name FROM Work GROUP BY Name HAVING COUNT(*) OVER () > 1": 4108,
    "SELECT w.Id FROM Work w JOIN Zone z ON z.Seconds = MAX(w.Id) OVER ()": 4108,
    "SELECT COUNT(*) FROM Work GROUP BY Id, RANK() OVER (ORDER BY Id)": 4108,
    "DELETE FROM Zone WHERE MAX(Seconds) OVER () = 1": 4108,
    "UPDATE Zone SET Seconds = ROW_NUMBER() OVER (ORDER BY Seconds)": 4108,
    "MERGE Zone z USING Work w ON COUNT(*) OVER () = 1 WHEN MATCHED THEN DELETE;": 4108,
    "SELECT Nothing FROM Work": 207,
    "SELECT w.Nothing FROM Work AS w": 207,
    "SELECT Work.Nothing FROM Work": 207,
    "SELECT w.Name FROM vWork AS w": 207,
    "SELECT x.Id FROM (SELECT Id AS Number FROM Work) x": 207,
    "WITH x (Number) AS (SELECT Id FROM Work) SELECT Id FROM x": 207,
    "SELECT x.Id FROM (SELECT Id FROM Work) x (Number)": 207,
    "SELECT Id FROM Work WHERE EXISTS (SELECT 1 FROM Zone WHERE Seconds = Nothing)": 207,
    "SELECT 1 FROM Work w JOIN Zone z ON z.Seconds = w.Nothing": 207,
    "SELECT Id FROM Work ORDER BY Nothing": 207,
    "SELECT COUNT(*) FROM Work GROUP BY Nothing": 207,
    "SELECT COUNT(*) FROM Work GROUP BY Name HAVING MAX(Nothing) = 1": 207,
    "SELECT MAX(Id) OVER (PARTITION BY Nothing) FROM Work": 207,
    "SELECT DATEADD(second, Nothing, FromTime) FROM Zone": 207,
    "INSERT INTO Work (Nothing) VALUES (1)": 207,
    "INSERT INTO Work (Id) SELECT Id FROM Zone": 207,
    "UPDATE Work SET Nothing = 1": 207,
    "UPDATE Work SET Id = Nothing": 207,
    "UPDATE w SET Id = 1 FROM Work w WHERE w.Nothing = 1": 207,
    "DELETE FROM Work WHERE Nothing = 1": 207,
    "MERGE Work w USING Zone z ON z.Nothing = w.Id WHEN MATCHED THEN DELETE;": 207,
    "MERGE Zone z USING Work w ON z.Seconds = w.Id WHEN NOT MATCHED THEN INSERT (Seconds) VALUES (w.Nothing);": 207,
    "CREATE TRIGGER t ON Work AFTER UPDATE AS IF EXISTS (SELECT 1 FROM inserted i WHERE i.Nothing = 1) ROLLBACK": 207,
    "SELECT o.Id FROM Work w": 4104,
    "SELECT Work.Id FROM Work w": 4104,
    "UPDATE Work SET Id = 1 WHERE z.Seconds = 1": 4104,
    "SELECT Word FROM Work w JOIN Zone z ON z.Seconds = w.Id": 209,
    "SELECT 1 FROM Work w JOIN Zone z ON z.Seconds = w.Id ORDER BY Word": 209,
    "UPDATE w SET Id = 1 FROM Work w JOIN Zone z ON z.Seconds = w.Id WHERE Word = 'x'": 209,
    "SELECT * FROM (SELECT w.Word, z.Word FROM Work w JOIN Zone z ON z.Seconds = w.Id) x": 8156,
    "SELECT 1 FROM (SELECT * FROM Work w JOIN Zone z ON z.Seconds = w.Id) x": 8156,
    "WITH x AS (SELECT Id, Name AS Id FROM Work) SELECT 1 FROM x": 8156,
    "CREATE OR ALTER VIEW v AS SELECT Id, Name AS Id FROM Work": 4506,
    "SELECT Id, Name FROM Work UNION ALL SELECT Seconds FROM Zone": 205,
    "SELECT * FROM Zone UNION SELECT Seconds, FromTime FROM Zone": 205,
    "SELECT Id FROM Work UNION ALL SELECT Seconds FROM Zone UNION ALL SELECT 1, 2": 205,
    "SELECT 1 FROM Work WHERE MAX(Id) = 1": 147,
    "SELECT 1 FROM Work WHERE COUNT(*) = 1": 147,
    "DELETE FROM Zone WHERE MAX(Seconds) = 1": 147,
    "SELECT Name, COUNT(*) FROM Work": 8120,
    "SELECT Name, COUNT(*) FROM Work GROUP BY Word": 8120,
    "SELECT Name + 'y' FROM Work GROUP BY Name + 'x'": 8120,
    "SELECT Id + ? FROM Work GROUP BY Id + ?": 8120,
    "SELECT Name, SUM(COUNT(*)) OVER (ORDER BY Id) FROM Work GROUP BY Name": 8120,
    "SELECT SUM(Id) OVER () FROM Work GROUP BY Name": 8120,
    "SELECT COUNT(*) FROM Work GROUP BY Name HAVING Id = 1": 8121,
    "SELECT Name FROM Work HAVING COUNT(*) = 1": 8120,
    "SELECT Name, (SELECT COUNT(*) FROM Zone z WHERE z.Seconds = w.Id) FROM Work w GROUP BY Name": 8120,
    "SELECT Name, CASE WHEN EXISTS (SELECT 1 FROM Zone z WHERE z.Seconds = w.Id) THEN 1 END FROM Work w GROUP BY Name": 8120,
    "SELECT COUNT(*) FROM Work w HAVING EXISTS (SELECT 1 FROM Zone z WHERE z.Seconds = w.Id)": 8121,
    "SELECT COUNT(*) FROM Work GROUP BY Name ORDER BY Id": 8127,
    "CREATE INDEX i ON Noted (Note)": 1919,
    "CREATE UNIQUE INDEX i ON Noted (Id, Rest)": 1919,
    "ALTER TABLE Noted ADD CONSTRAINT u UNIQUE (Note)": 1919,
    "CREATE INDEX i ON Hashed (Id) WHERE Twice > 1": 10609,
    "INSERT INTO vHashed (Id, Doubled) VALUES (1, 2)": 271,
    "UPDATE v SET Doubled = 1 FROM vHashed v": 271,
    "WITH x AS (SELECT Doubled AS Other FROM vHashed) UPDATE x SET Other = 1": 271,
    "WITH x AS (SELECT * FROM Hashed) UPDATE x SET Twice = 1": 271,
    "INSERT INTO vNumbered (Number) VALUES (1)": 544,
    "WITH x AS (SELECT Number AS N, Name FROM Numbered) UPDATE x SET N = 1": 8102,
    "UPDATE vFilled SET Number = 1": 8102,
    "SELECT TOP 1 Id FROM Work ORDER BY Id OFFSET 1 ROWS": 10741,
    "SELECT * FROM (SELECT TOP 3 Id FROM Work ORDER BY Id OFFSET 0 ROWS FETCH NEXT 3 ROWS ONLY) x": 10741,
    "SELECT Id FROM Work ORDER BY Id OFFSET 0 ROWS FETCH NEXT 0 ROWS ONLY": 10744,
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
    "INSERT INTO Hashed (Id) VALUES (1); UPDATE Hashed SET Id = Twice",
    "INSERT INTO Numbered (Name) VALUES ('x'); UPDATE Numbered SET Name = 'y' WHERE Number = 1",
    "SET IDENTITY_INSERT Numbered ON; INSERT INTO Numbered (Number, Name) VALUES (1, 'x'); SET IDENTITY_INSERT Numbered OFF",
    "SET IDENTITY_INSERT Numbered ON; EXEC (N'INSERT INTO Numbered (Number) VALUES (1)')",
    "DECLARE @got bigint; UPDATE Numbered SET @got = Number",
    "SELECT LEN(Name), ISNULL(Name, ''), SYSUTCDATETIME(), LEFT(Name, 1), IIF(Id = 1, 1, 2), TRIM('0' FROM Name) FROM Work",
    "SELECT dbo.LENGTH(Name), CURRENT_TIMESTAMP, SUSER_SNAME(), CAST('<a/>' AS xml).value('/a[1]', 'int') FROM Work",
    "SELECT TRANSLATE(Name, CONCAT(NCHAR(9), ','), CONCAT(REPLICATE(N' ', 1), ',')) FROM Work",
    "SELECT TRANSLATE(Name, CHAR(9) + 'a', 'xy'), TRANSLATE(Name, Name, N'x') FROM Work",
    "SELECT value FROM STRING_SPLIT('a,b', ',')",
    "SELECT * FROM (SELECT Id + 1, Name FROM Work) x (Id, Name)",
    "SELECT * FROM (SELECT Id + 1 AS Next, Name, Said = 'x' FROM Work UNION ALL SELECT 1, '', '') x",
    "SELECT 1 FROM Work WHERE EXISTS (SELECT 1) AND Id = (SELECT Id + 1)",
    "WITH x (Number) AS (SELECT COUNT(*) FROM Work) SELECT Number FROM x",
    "CREATE OR ALTER VIEW v (Id, Said) AS SELECT Id, lower(Name) FROM Work",
    "SELECT ROW_NUMBER() OVER (PARTITION BY Name ORDER BY Id), MAX(Id) OVER (), LAG(Id) OVER (ORDER BY Id) FROM Work",
    "SELECT Id FROM Work WHERE Id IN (SELECT RANK() OVER (ORDER BY Seconds) FROM Zone) ORDER BY MAX(Id) OVER ()",
    "SELECT Id FROM Work ORDER BY Id OFFSET 0 ROWS FETCH NEXT 10 ROWS ONLY",
    "SELECT TOP 1 Id FROM (SELECT Id FROM Work ORDER BY Id OFFSET 1 ROWS) x",
    "SELECT w.Id, Seconds, Work.Name FROM Work, vWork w, Zone WHERE w.Id = 1",
    "SELECT Anything, o.Other, w.Id FROM Orders o JOIN Work w ON w.Id = Whatever",
    "SELECT x.Number, DATEDIFF(second, x.At, GETDATE()) FROM (SELECT Id, GETDATE() FROM Work) x (Number, At)",
    "SELECT Id AS Number FROM Work ORDER BY Number",
    "SELECT value FROM Work CROSS APPLY STRING_SPLIT(Name, ',')",
    "SELECT w.Id, a.Twice FROM Work w CROSS APPLY (SELECT w.Id * 2 AS Twice) a",
    "SELECT * FROM (SELECT o.*, w.Id FROM Orders o JOIN Work w ON 1 = 1) x WHERE x.Anything = 1 AND Whatever = 2",
    "SELECT dbo.Work.Id FROM dbo.Work WHERE EXISTS (SELECT 1 FROM Zone WHERE Seconds = Id)",
    "SELECT name FROM sys.tables",
    "WITH x AS (SELECT Id FROM Work UNION ALL SELECT Id + 1 FROM x) SELECT Id FROM x",
    "UPDATE Work SET Id = w.Id + 1 FROM Work w WHERE Name = 'x'",
    "UPDATE Work SET Id = z.Seconds FROM Zone z WHERE Work.Id = z.Seconds",
    "WITH x AS (SELECT Id AS Number FROM Work) UPDATE x SET Number = Number + 1",
    "INSERT INTO Work (Id) SELECT Seconds FROM Zone",
    "UPDATE w SET Id = 1 OUTPUT inserted.Id, deleted.Id INTO Other FROM Work w",
    "MERGE Work w USING (SELECT 1 AS One) x ON x.One = w.Id WHEN NOT MATCHED THEN INSERT (Id) VALUES (x.One);",
    "CREATE TRIGGER t ON Work AFTER UPDATE AS IF EXISTS (SELECT 1 FROM inserted i WHERE i.Name = 'x') ROLLBACK",
    "SELECT * FROM (SELECT w.Word, z.Word FROM Work w JOIN Zone z ON z.Seconds = w.Id) x (One, Other)",
    "SELECT w.Word, z.Word FROM Work w JOIN Zone z ON z.Seconds = w.Id",
    "SELECT * FROM Zone UNION ALL SELECT Id, NULL, Word FROM Work",
    "SELECT * FROM Orders UNION ALL SELECT Id FROM Work",
    "SELECT Name FROM Work w GROUP BY Name HAVING EXISTS (SELECT 1 FROM Zone z WHERE MAX(w.Id) = z.Seconds)",
    "SELECT Name, w.Name, lower(Name), COUNT(*), 'x', MAX(Id) FROM Work w GROUP BY w.Name ORDER BY Name, MAX(Id)",
    "SELECT lower(Name) + 'x' AS Said, COUNT(*) FROM Work GROUP BY lower(Name) ORDER BY Said",
    "SELECT STRING_AGG(Name, ',') WITHIN GROUP (ORDER BY Id), (SELECT MAX(Seconds) FROM Zone) FROM Work",
    "SELECT Id, (SELECT MAX(w.Id) FROM Zone) FROM Work w GROUP BY Id",
    "SELECT Id, (SELECT COUNT(*) FROM Zone z WHERE z.Seconds = w.Id) FROM Work w GROUP BY Id",
    "SELECT Id, (SELECT COUNT(*) FROM Work w WHERE w.Name = 'x') FROM Work w GROUP BY Id",
    "SELECT MAX(Id) FROM Work w WHERE EXISTS (SELECT 1 FROM Zone z WHERE z.Seconds = w.Id)",
    "SELECT Id, (SELECT COUNT(*) FROM Zone WHERE Seconds = w.Id), MAX(Id) OVER () FROM Work w",
    "SELECT DATEPART(hour, FromTime), COUNT(*) FROM Zone GROUP BY DATEPART(hour, FromTime)",
    "CREATE INDEX i ON Noted (Id) INCLUDE (Note) WHERE Id > 1",
    "CREATE INDEX i ON Hashed (Twice) WHERE Id > 1",
    "INSERT INTO vHashed (Id) VALUES (1); INSERT INTO vNumbered (Name) VALUES ('x')",
    "INSERT INTO vFilled (Number, Name) VALUES (1, 'x')",
    "SET IDENTITY_INSERT Numbered ON; INSERT INTO vNumbered (Number) VALUES (1)",
)
OF_OTHERS = (
    "SELECT 1 FROM Orders",
    "SELECT 1 FROM Work w WHERE EXISTS (SELECT 1 FROM dbo.Orders)",
    "INSERT INTO Orders (Id) VALUES (1)",
    "UPDATE Orders SET Id = 1",
    "DELETE o FROM Orders o",
    "EXEC (N'SELECT 1 FROM Orders')",
)
OF_OURS = (
    "SELECT 1 FROM sys.tables t JOIN INFORMATION_SCHEMA.COLUMNS c ON 1 = 1 JOIN msdb.dbo.sysjobs j ON 1 = 1",
    "WITH x AS (SELECT Id FROM Work) UPDATE x SET Id = 1",
    "DELETE w FROM dbo.Work w JOIN vWork v ON v.Id = w.Id",
    "CREATE TRIGGER t ON Work AFTER UPDATE AS IF EXISTS (SELECT 1 FROM inserted i JOIN deleted d ON d.Id = i.Id) ROLLBACK",
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
    for text in (TABLES, INDEXES, TRIGGER, *VIEWS, FILLING):
        made.read(text)
    return made


@pytest.mark.parametrize("sql", REFUSED)
def test_what_the_server_refuses_is_found(catalog: Catalog, sql: str) -> None:
    assert findings(sql) == []
    assert {int(re.findall(r"\((\d+)\)$", one)[0]) for one in all_refused(tree_of(sql), catalog)} == {REFUSED[sql]}


@pytest.mark.parametrize("sql", TAKEN)
def test_what_the_server_takes_is_taken(catalog: Catalog, sql: str) -> None:
    assert findings(sql) == []
    assert all_refused(tree_of(sql), catalog) == []


@pytest.mark.parametrize("sql", OF_OTHERS)
def test_a_table_that_is_not_ours_is_found_where_only_ours_are_named(catalog: Catalog, sql: str) -> None:
    found = all_refused(tree_of(sql), catalog, of_ours=True)
    assert {one.rpartition(" ")[2] for one in found} == {"(208)"}
    assert all_refused(tree_of(sql), catalog) == []


@pytest.mark.parametrize("sql", OF_OURS)
def test_what_names_only_our_tables_is_taken(catalog: Catalog, sql: str) -> None:
    assert all_refused(tree_of(sql), catalog, of_ours=True) == []


@pytest.mark.parametrize("table", ["Strict", "Hashed"])
def test_what_any_client_is_shown_tells_it_to_quote(catalog: Catalog, table: str) -> None:
    write = f"INSERT INTO {table} (Id) VALUES (1)"

    (found,) = all_refused(tree_of(write), catalog, by_any_client=True)
    assert found.endswith("(1934)")
    assert all_refused(tree_of(f"SET QUOTED_IDENTIFIER ON; {write}"), catalog, by_any_client=True) == []
    assert all_refused(tree_of(write), catalog) == []


@pytest.mark.parametrize("sql", UNREADABLE)
def test_the_parser_refuses_what_is_no_t_sql(sql: str) -> None:
    assert [f"({UNREADABLE[sql]})" in one for one in findings(sql)].count(True) >= 2


def test_marks_become_what_drivers_make_of_them() -> None:
    sent = as_sent("SELECT ?, N'who?', [what?] -- ?\n, ? FROM t WHERE a = 'it''s ?' AND b = ?")

    assert sent == "SELECT @P1, N'who?', [what?] -- ?\n, @P2 FROM t WHERE a = 'it''s ?' AND b = @P3"
