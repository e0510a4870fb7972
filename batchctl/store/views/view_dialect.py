"""SQL as each database wants it: what is said the same everywhere stands in the views themselves."""

from __future__ import annotations

import re

from batchctl.store.written_forms import BLANKS, LONGEST_LIMIT, bare

_SHOWN = re.compile(r"'(?=(?:INSERT INTO|UPDATE) [A-Z'])")
"""Where a statement begins that a view shows."""
_LITERAL = re.compile(r"('(?:[^']|'')*')")
"""A text in SQL."""
_MARGIN = re.compile(r"\n {5,}")

LONGEST_TEXT = 1_000_000
"""More characters than any text has of which a view shows the rest: SQL Server wants to know how many."""


class ViewDialect:
    """One database's way of saying it."""

    def __init__(self, dialect: str, schema: str) -> None:
        self.dialect = dialect
        self.of = schema
        """What stands before the name of a table."""

    def _each(self, sqlite: str, postgresql: str, mssql: str) -> str:
        return {"sqlite": sqlite, "postgresql": postgresql, "mssql": mssql}[self.dialect]

    @property
    def create(self) -> str:
        """Make one that may be there already where a database can be told so: rights, and views upon it, stay."""
        return self._each("CREATE VIEW", "CREATE OR REPLACE VIEW", "CREATE OR ALTER VIEW")

    def shared(self, called: str, query: str) -> str:
        """Return a query that several views begin with; on SQLite it is a view of its own."""
        return f"{called} AS ({self._each(f'SELECT * FROM {in_common(called)}', query, query)})"

    @property
    def now(self) -> str:
        """Return the moment of the question, in UTC."""
        return self._each(
            "strftime('%Y-%m-%d %H:%M:%f', 'now')", "(statement_timestamp() AT TIME ZONE 'UTC')", "SYSUTCDATETIME()"
        )

    def ago(self, seconds: int) -> str:
        """Return the moment some seconds before the question."""
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%f', 'now', '-{seconds} seconds')",
            f"(statement_timestamp() AT TIME ZONE 'UTC' - interval '{seconds} seconds')",
            f"DATEADD(second, -{seconds}, SYSUTCDATETIME())",
        )

    def later(self, at: str, seconds: str) -> str:
        """Return a time some seconds after another; nothing where that is so late, or so early, that there may be none."""
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%f', {at}, {seconds if seconds.isidentifier() else f'({seconds})'} || ' seconds')",
            f"CASE WHEN {at} < '5000-01-01' AND ({at} > '4000-01-01 BC' OR NOT isfinite({at}))"
            f" THEN {at} + ({seconds}) * interval '1 second' END",
            f"CASE WHEN {at} BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, {seconds}, {at}) END",
        )

    def local(self, at: str) -> str:
        """Show a time as the clocks of the business time zone do; nothing where that is not known."""
        found = self._each(f"strftime('%Y-%m-%d %H:%M:%f', {at}, Shift)", *(self.later(at, "o.OffsetSeconds"),) * 2)
        # On SQLite somebody may have written it without what follows the minute. Without the fraction, that those of offsets
        # have, no time is the same as one of these: a second later, it is within what it was within before.
        within = self._each(
            f"datetime({at}, '+1 second') BETWEEN FromTime AND UntilTime",
            *(f"o.UntilTime > {at} AND o.FromTime <= {at}",) * 2,
        )
        # A hand may have added an offset for times that have one: two answers are an error, but on SQLite, which takes the first.
        # SQL Server makes no aggregate of columns of two queries (error 8124).
        one = self._each(found, f"MIN({found})", f"TOP 1 {found}")
        named, first = self._each("", " o", " o"), self._each("", "", " ORDER BY o.FromTime")
        offsets = self._each("batchctl_shifts", f"{self.of}ZoneOffset", f"{self.of}ZoneOffset")
        return f"(SELECT {one} FROM {offsets}{named} WHERE {within}{first})"

    def seconds(self, begin: str, end: str) -> str:
        """Return how long something takes; nothing where that is endless."""
        return self._each(
            f"round((julianday({end}) - julianday({begin})) * 86400.0, 3)",
            f"CASE WHEN isfinite({begin}) AND isfinite({end})"
            f" THEN round(EXTRACT(EPOCH FROM {end}) - EXTRACT(EPOCH FROM {begin}), 3) END",
            f"CAST(DATEDIFF_BIG(millisecond, {begin}, {end}) / 1000.0 AS decimal(18, 3))",
        )

    def minutes(self, begin: str, end: str) -> str:
        """Return how many minutes something takes; nothing where that is endless."""
        return self._each(
            f"CAST(round((julianday({end}) - julianday({begin})) * 1440.0) AS INTEGER)",
            f"CASE WHEN isfinite({end}) THEN CAST(round(EXTRACT(EPOCH FROM {end} - {begin}) / 60) AS bigint) END",
            f"CAST(round(DATEDIFF_BIG(second, {begin}, {end}) / 60.0, 0) AS bigint)",
        )

    def wording(self, at: str) -> str:
        """Write a time as the command line does, to which what is endless is the last time or the first that it knows."""
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%S', {at}) || ' UTC'",
            f"CASE WHEN {at} > '9999-12-31 23:59:59' THEN '9999-12-31 23:59:59'"
            f" WHEN {at} < '0001-01-01' THEN '0001-01-01 00:00:00' ELSE to_char({at}, 'YYYY-MM-DD HH24:MI:SS') END || ' UTC'",
            f"CONVERT(varchar(19), {at}, 120) + ' UTC'",
        )

    def joined(self, *parts: str) -> str:
        """Put texts and numbers together."""
        if self.dialect == "mssql":
            return f"CONCAT({', '.join(parts)})"
        # Nothing binds closer on SQLite.
        return " || ".join(parts) if self.dialect == "sqlite" else f"({' || '.join(parts)})"

    def if_given(self, column: str, *parts: str) -> str:
        """Put a column together with texts; nothing where it is NULL."""
        said = self.joined(*parts)
        return (
            f"CASE WHEN {column} IS NULL THEN '' ELSE {said} END"
            if self.dialect == "mssql"
            else f"COALESCE({said}, '')"
        )

    def until_blank(self, text: str) -> str:
        """Return the first word of a text of several."""
        return self._each(
            f"substr({text}, 1, instr({text}, ' ') - 1)",
            f"split_part({text}, ' ', 1)",
            f"LEFT({text}, CHARINDEX(' ', {text}) - 1)",
        )

    def before(self, text: str, mark: str) -> str:
        """Return what of a text stands before a mark; all of it where that is not there."""
        return self._each(
            f"substr({text}, 1, instr({text} || '{mark}', '{mark}') - 1)",
            f"split_part({text}, '{mark}', 1)",
            f"LEFT({text}, CHARINDEX('{mark}', CONCAT({text}, '{mark}')) - 1)",
        )

    def beginning_at(self, text: str, mark: str) -> str:
        """Return a text from a mark on; nothing where that is not there."""
        at = self._each(f"instr({text}, {mark})", f"strpos({text}, {mark})", f"CHARINDEX({mark}, {text})")
        return self._from(text, f"NULLIF({at}, 0)")

    def after(self, text: str, many: int) -> str:
        """Return a text without so many of its first characters."""
        return self._from(text, str(many + 1))

    def _from(self, text: str, at: str) -> str:
        length = self._each("", "", f", {LONGEST_TEXT}")
        return f"{self._each('substr', 'substr', 'SUBSTRING')}({text}, {at}{length})"

    def beside_a_number(self, table: str) -> tuple[str, str]:
        """Return what stands before and after a statement that numbers a row itself."""
        begin, end = f"'SET IDENTITY_INSERT {table} ON; '", f"' SET IDENTITY_INSERT {table} OFF;'"
        return self._each("''", "''", begin), self._each("''", "''", end)

    def left_out(self, value: str, never: str) -> str:
        """Let an INSERT leave a column of a view out; SQL Server asks for each that cannot be NULL. `never` is no value of it."""
        return self._each(value, value, f"NULLIF({value}, {never})")

    def for_any_client(self, view: str) -> str:
        """Let the statements that a view shows be run in sqlcmd and SQL Agent, too, whose sessions refuse them (error 1934)."""
        return _SHOWN.sub("'SET QUOTED_IDENTIFIER ON; ", view) if self.dialect == "mssql" else _tidied(view)

    def quoted(self, text: str) -> str:
        """Write a text, which is not NULL, as SQL writes one."""
        if self.dialect == "sqlite":
            return f"quote({text})"
        begin = self._each("", "''''", "'N'''")
        return self.joined(begin, f"replace({text}, '''', '''''')", "''''")

    def quoted_or_null(self, text: str) -> str:
        """Write a text as SQL writes one, or NULL."""
        quoted = self.quoted(text)
        return quoted if self.dialect == "sqlite" else f"CASE WHEN {text} IS NULL THEN 'NULL' ELSE {quoted} END"

    def word(self, column: str) -> str:
        """Write a word in lower case; on SQL Server as names are compared, or it would go together with none."""
        return f"lower({column}){self._each('', '', ' COLLATE Latin1_General_100_BIN2')}"

    def among(self, column: str, *words: str) -> str:
        """Say that a column holds one of some words, as the condition of an index does."""
        if self.dialect == "sqlite":
            return "(" + " OR ".join(f"{column} = '{word}'" for word in words) + ")"
        listed = ", ".join(f"'{word}'" for word in words)
        return f"{column} IN ({listed})"

    def bare(self, text: str) -> str:
        """Leave away what stands before and after a text and cannot be seen, as the engine does."""
        elsewhere, _, on_mssql = bare(text)
        return self._each(f"trim({text}, (SELECT Blanks FROM batchctl_blanks))", elsewhere, on_mssql)

    @property
    def _blanks(self) -> str:
        return f"CONCAT({', '.join(f'NCHAR({code})' for code in BLANKS)})"

    def tags(self, text: str) -> str:
        """Return the names that stand between commas as `has_tag` looks through them."""
        if self.dialect != "mssql":
            return text
        # What splits texts there is not to be had in a database that came from an older server. The comma at the end is for
        # both to be as long also to who does not count the blanks there.
        tidied = f"TRANSLATE({text}, CONCAT({self._blanks}, N','), CONCAT(REPLICATE(N' ', {len(BLANKS)}), N','))"
        for many in (16, 8, 4, 2, 1):
            tidied = f"REPLACE(REPLACE({tidied}, '{' ' * many},', ','), ',{' ' * many}', ',')"
        return f"CONCAT(',', TRIM({tidied}), ',')"

    def has_tag(self, tags: str, name: str) -> str:
        """Say that a name is among tags."""
        if self.dialect == "mssql":
            return f"{name} NOT LIKE '%,%' AND CHARINDEX(CONCAT(',', {name}, ','), {tags}) > 0"
        names = self._each(
            f"json_each('[' || replace(json_quote(CAST({tags} AS text)), ',', '\",\"') || ']') t",
            f"unnest(string_to_array({tags}, ',')) AS t(value)",
            "",
        )
        return f"EXISTS (SELECT 1 FROM {names} WHERE {self.bare('t.value')} = {name})"

    @property
    def limit(self) -> str:
        """Return Setting MaxConcurrent; 0 where that is no number."""
        most = LONGEST_LIMIT
        digits = self._each(
            f"v.Said NOT GLOB '*[^0-9]*' AND length(v.Said) BETWEEN 1 AND {most}",
            f"v.Said ~ '^[0-9]{{1,{most}}}$'",
            f"v.Said NOT LIKE '%[^0-9]%' AND LEN(v.Said) BETWEEN 1 AND {most}",
        )
        cast = self._each("CAST", "CAST", "TRY_CAST")
        value = f"SELECT {self.bare('Value')} AS Said FROM {self.of}Setting WHERE Name = 'MaxConcurrent'"
        return f"SELECT CASE WHEN {digits} THEN {cast}(v.Said AS bigint) ELSE 0 END FROM ({value}) v"

    def act(self, action: str, instance: str) -> str:
        """Write the statement with which somebody asks for an act on an instance."""
        begin = f"'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''{action}'', '"
        return self.joined(begin, instance, "', ''...'');'")

    def act_on_batch(self, action: str, name: str) -> str:
        """Write the statement with which somebody asks for an act on a batch."""
        begin = f"'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''{action}'', '"
        return self.joined(begin, self.quoted(name), "', ''...'');'")

    def thaw(self, freeze: str) -> str:
        """Write the statement with which somebody asks that a freeze ends."""
        begin = "'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{\"id\": '"
        return self.joined(begin, freeze, "'}'', ''...'');'")

    def look(self, view: str, condition: str, value: str) -> str:
        """Write the statement that shows the rows of a view that matter."""
        return self.joined(f"'SELECT * FROM {view} WHERE {condition} = '", value, "';'")

    def twin(self, at: str, called: str) -> str:
        """Show a time in UTC, and beside it in the business time zone."""
        shown = at if at.rpartition(".")[2] == called else f"{at} AS {called}"
        return f"{shown}, {self.local(at)} AS {called}Local"


def in_common(called: str) -> str:
    """Return the name of a view of SQLite for what several views have in common."""
    return f"batchctl_{called.lower()}"


def _tidied(view: str) -> str:
    """Make one text of texts that follow one another, and no deeper margins than one can read."""
    parts: list[str] = []
    for part in _LITERAL.split(view):
        if part.startswith("'") and parts[-1] == " || " and len(parts) > 1:
            parts.pop()
            parts[-1] = parts[-1][:-1] + part[1:]
        else:
            parts.append(part)
    return _MARGIN.sub("\n    ", "".join(parts))
