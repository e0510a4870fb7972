"""Make the views anew: they read tags, limits and endless times as the engine does, and no row makes them fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic import op
from alembic.util import load_python_file

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make each in the place of what it was: its columns stay."""
    _make(views(op.get_context().dialect.name, _schema()))


def downgrade() -> None:
    """Make them as the revision did that made them first, which is never changed."""
    first: Any = load_python_file(str(Path(__file__).parent), "0020_views.py")
    made: dict[str, str] = first.views(op.get_context().dialect.name, _schema())
    if op.get_context().dialect.name == "postgresql":
        made = {called: text.replace("CREATE VIEW", "CREATE OR REPLACE VIEW", 1) for called, text in made.items()}
    _make(made)


def _make(made: dict[str, str]) -> None:
    for called, statement in made.items():
        # Elsewhere one is replaced, and the rights on it, and the views that somebody has made upon it, stay.
        if op.get_context().dialect.name == "sqlite":
            op.execute(f"DROP VIEW IF EXISTS {called}")
        op.get_context().impl.execute(sa.DDL(statement.replace("%", "%%")))


def _schema() -> str:
    """Return what stands before names where everything is made in another schema, to be looked at."""
    context = op.get_context()
    if context.as_sql or context.bind is None:
        return ""
    elsewhere = (context.bind.get_execution_options().get("schema_translate_map") or {}).get(None)
    return "" if elsewhere is None else f"{elsewhere}."


NAMES = ("vStatus", "vFailed", "vWaiting", "vRunning", "vLate", "vHistory", "vSchedule", "vInbox")

_GRACE = 60
"""Seconds after which what is due and has not begun counts as late."""
_IN_LINE = ("ready", "retry", "failed", "held")
_CLAIMED = ("running", "pausing", "cancelling")
_OVER = ("complete", "cancelled")
_STANDS = (
    ("ready", "has not begun yet"),
    ("running", "is running"),
    ("retry", "has failed and waits for its retry"),
    ("failed", "has failed"),
    ("held", "is held: a person decides"),
    ("pausing", "is running, and paused then"),
    ("paused", "is paused"),
    ("cancelling", "is being cancelled"),
    ("cancelled", "was cancelled"),
)
"""What is said of the newest instance of a batch that another one waits for."""
_BLANKS = (*range(9, 14), *range(28, 33), 133, 160, 5760, *range(8192, 8203), 8232, 8233, 8239, 8287, 12288)
_BLANK = r"[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""What the engine leaves away before and after a name or a number."""


def views(dialect: str, schema: str = "") -> dict[str, str]:
    """Return the statement that makes each view; `schema` with its dot stands before each name where it is not the default."""
    spoken = _Spoken(dialect, schema)
    written = (_status, _failed, _waiting, _running, _late, _history, _schedule, _inbox)
    return {
        name: f"{spoken.create} {schema}{name} AS{write(spoken)}" for name, write in zip(NAMES, written, strict=True)
    }


class _Spoken:
    """SQL as a database wants it: what is said the same everywhere stands in the texts themselves."""

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

    @property
    def now(self) -> str:
        return self._each(
            "strftime('%Y-%m-%d %H:%M:%f', 'now')", "(statement_timestamp() AT TIME ZONE 'UTC')", "SYSUTCDATETIME()"
        )

    def ago(self, seconds: int) -> str:
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%f', 'now', '-{seconds} seconds')",
            f"(statement_timestamp() AT TIME ZONE 'UTC' - interval '{seconds} seconds')",
            f"DATEADD(second, -{seconds}, SYSUTCDATETIME())",
        )

    def later(self, at: str, seconds: str) -> str:
        """Return a time some seconds after another; nothing where that is so late, or so early, that there may be none."""
        return self._each(
            f"strftime('%Y-%m-%d %H:%M:%f', {at}, ({seconds}) || ' seconds')",
            f"CASE WHEN {at} < '5000-01-01' AND ({at} > '4000-01-01 BC' OR NOT isfinite({at}))"
            f" THEN {at} + ({seconds}) * interval '1 second' END",
            f"CASE WHEN {at} BETWEEN '0001-01-02' AND '5000-01-01' THEN DATEADD(second, {seconds}, {at}) END",
        )

    def local(self, at: str) -> str:
        """Show a time as the clocks of the business time zone do; nothing where that is not known."""
        # On SQLite somebody may have written it without what follows the minute.
        whole = self._each(f"strftime('%Y-%m-%d %H:%M:%f', {at})", at, at)
        found = self.later(at, "o.OffsetSeconds")
        # A hand may have added an offset for times that have one: two answers are an error, but on SQLite, which takes the first.
        # SQL Server makes no aggregate of columns of two queries (error 8124).
        one = self._each(found, f"MIN({found})", f"TOP 1 {found}")
        first = self._each("", "", " ORDER BY o.FromTime")
        return f"(SELECT {one} FROM {self.of}ZoneOffset o WHERE o.UntilTime > {whole} AND o.FromTime <= {whole}{first})"

    def seconds(self, begin: str, end: str) -> str:
        """Return how long something takes; nothing where that is endless."""
        return self._each(
            f"round((julianday({end}) - julianday({begin})) * 86400.0, 3)",
            f"CASE WHEN isfinite({begin}) AND isfinite({end})"
            f" THEN round(EXTRACT(EPOCH FROM {end}) - EXTRACT(EPOCH FROM {begin}), 3) END",
            f"CAST(DATEDIFF_BIG(millisecond, {begin}, {end}) / 1000.0 AS decimal(18, 3))",
        )

    def said(self, at: str) -> str:
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
        return f"({' || '.join(parts)})"

    def quoted(self, text: str) -> str:
        """Write a text as SQL writes one."""
        return self.joined("''''", f"replace({text}, '''', '''''')", "''''")

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
        return self._each(
            f"trim({text}, char({', '.join(map(str, _BLANKS))}))",
            # Only so it can be written where the database holds no such characters.
            f"regexp_replace({text}, '^{_BLANK}+|{_BLANK}+$', '', 'g')",
            f"TRIM({self._blanks} FROM {text})",
        )

    @property
    def _blanks(self) -> str:
        return f"CONCAT({', '.join(f'NCHAR({code})' for code in _BLANKS)})"

    def tags(self, text: str) -> str:
        """Return the names that stand between commas as `has_tag` looks through them."""
        if self.dialect != "mssql":
            return text
        # What splits texts there is not to be had in a database that came from an older server. The comma at the end is for
        # both to be as long also to who does not count the blanks there.
        tidied = f"TRANSLATE({text}, CONCAT({self._blanks}, N','), CONCAT(REPLICATE(N' ', {len(_BLANKS)}), N','))"
        for many in (16, 8, 4, 2, 1):
            tidied = f"REPLACE(REPLACE({tidied}, '{' ' * many},', ','), ',{' ' * many}', ',')"
        return f"CONCAT(',', TRIM({tidied}), ',')"

    def has_tag(self, tags: str, name: str) -> str:
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
        """Return Setting MaxConcurrent; nothing where that is no number."""
        value = self.bare("Value")
        return self._each(
            f"CASE WHEN {value} GLOB '[0-9]*' AND {value} NOT GLOB '*[^0-9]*' THEN CAST({value} AS integer) END",
            f"CASE WHEN {value} ~ '^0*[0-9]{{1,18}}$' THEN CAST({value} AS bigint) END",
            f"CASE WHEN {value} NOT LIKE '%[^0-9]%' AND {value} LIKE '%[0-9]%' THEN TRY_CAST({value} AS bigint) END",
        )

    def act(self, action: str, instance: str) -> str:
        """Write the statement with which somebody asks for an act on an instance."""
        begin = f"'INSERT INTO OperatorRequest (Action, BatchControl_id, Reason) VALUES (''{action}'', '"
        return self.joined(begin, instance, "', ''...'');'")

    def act_on_batch(self, action: str, name: str) -> str:
        begin = f"'INSERT INTO OperatorRequest (Action, ProcessBatchName, Reason) VALUES (''{action}'', '"
        return self.joined(begin, self.quoted(name), "', ''...'');'")

    def thaw(self, freeze: str) -> str:
        begin = "'INSERT INTO OperatorRequest (Action, Arguments, Reason) VALUES (''thaw'', ''{\"id\": '"
        return self.joined(begin, freeze, "'}'', ''...'');'")

    def look(self, view: str, condition: str, value: str) -> str:
        return self.joined(f"'SELECT * FROM {view} WHERE {condition} = '", value, "';'")

    def twin(self, at: str, called: str) -> str:
        """Show a time in UTC, and beside it in the business time zone."""
        return f"{at} AS {called}, {self.local(at)} AS {called}Local"


def _frozen(s: _Spoken) -> str:
    """Return what holds, and which freeze each batch has, of several the one that lasts longest."""

    def concerns(z: str) -> str:
        return (
            f"(({z}.Tag IS NULL AND ({z}.ProcessBatchName IS NULL OR {z}.ProcessBatchName = b.ProcessBatchName))"
            f" OR ({z}.Tag <> '' AND {s.has_tag('b.Tags', f'{z}.Tag')}))"
        )

    return f"""Holding AS (
SELECT f.BatchFreeze_id, f.ProcessBatchName, {s.bare("lower(f.Tag)")} AS Tag, f.UntilTime
FROM {s.of}BatchFreeze f WHERE f.ThawedTime IS NULL AND (f.UntilTime IS NULL OR f.UntilTime > {s.now})
), Frozen AS (
SELECT b.ProcessBatch_id, COALESCE(
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE z.UntilTime IS NULL AND {concerns("z")}),
    (SELECT MIN(z.BatchFreeze_id) FROM Holding z WHERE {concerns("z")} AND z.UntilTime = (
        SELECT MAX(y.UntilTime) FROM Holding y WHERE {concerns("y")}))
    ) AS BatchFreeze_id
FROM (SELECT ProcessBatch_id, ProcessBatchName, {s.tags("lower(Tags)")} AS Tags FROM {s.of}ProcessBatch) b
)"""


def _status(s: _Spoken) -> str:
    def many(word: str, *words: str) -> str:
        return f"SUM(CASE WHEN {s.among('c.Status', word, *words)} THEN 1 ELSE 0 END)"

    name = "b.ProcessBatchName"
    return f"""
WITH {_frozen(s)}, Counted AS (
SELECT c.ProcessBatch_id, {many("ready")} AS Ready, {many("running", "pausing", "cancelling")} AS Running,
       {many("retry")} AS Retry, {many("failed")} AS Failed, {many("held")} AS Held, {many("paused")} AS Paused
FROM (SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", *_IN_LINE)}
      UNION ALL SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", *_CLAIMED)}
      UNION ALL SELECT ProcessBatch_id, Status FROM {s.of}BatchControl WHERE {s.among("Status", "paused")}) c
GROUP BY c.ProcessBatch_id
), Newest AS (
SELECT b.ProcessBatch_id, (SELECT MAX(c.BatchControl_id) FROM {s.of}BatchControl c
    WHERE c.ProcessBatch_id = b.ProcessBatch_id AND c.Status = 'complete' AND {s.among("c.Status", *_OVER)}) AS Complete_id
FROM {s.of}ProcessBatch b
)
SELECT b.ProcessBatch_id, {name}, COALESCE(b.Entity, {name}) AS Entity,
       CASE WHEN b.Enabled <> 1 THEN 'disabled' WHEN z.BatchFreeze_id IS NOT NULL THEN 'frozen'
            WHEN n.Failed > 0 THEN 'failed' WHEN n.Held > 0 THEN 'held' WHEN n.Running > 0 THEN 'running'
            WHEN n.Retry > 0 THEN 'retry' WHEN n.Ready > 0 THEN 'waits' WHEN n.Paused > 0 THEN 'paused'
            ELSE 'idle' END AS Status,
       COALESCE(n.Ready, 0) AS Ready, COALESCE(n.Running, 0) AS Running, COALESCE(n.Retry, 0) AS Retry,
       COALESCE(n.Failed, 0) AS Failed, COALESCE(n.Held, 0) AS Held, COALESCE(n.Paused, 0) AS Paused,
       c.BatchControl_id AS LastComplete_id, {s.twin("c.z_updated", "LastCompleteTime")},
       b.Seq, b.Description,
       CASE WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", name)}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw("z.BatchFreeze_id")}
            WHEN n.Failed + n.Held > 0 THEN {s.look("vFailed", "ProcessBatchName", s.quoted(name))}
            WHEN n.Running > 0 THEN {s.look("vRunning", "ProcessBatchName", s.quoted(name))}
            WHEN n.Retry + n.Ready + n.Paused > 0 THEN {s.look("vWaiting", "ProcessBatchName", s.quoted(name))}
            ELSE {s.look("vHistory", "ProcessBatchName", s.quoted(name))} END AS NextSql
FROM {s.of}ProcessBatch b
LEFT JOIN Counted n ON n.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN Newest w ON w.ProcessBatch_id = b.ProcessBatch_id
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = w.Complete_id"""


def _failed(s: _Spoken) -> str:
    return f"""
SELECT c.BatchControl_id, b.ProcessBatchName, {s.word("c.Status")} AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, {s.word("h.Status")} AS AttemptStatus, h.ReturnCode,
       h.Message AS ErrorText, h.Output, h.CommandText, {s.twin("h.StartTime", "StartTime")}, {s.twin("h.EndTime", "EndTime")},
       {s.seconds("h.StartTime", "h.EndTime")} AS DurationSeconds, h.ClaimedBy, h.Host, c.FileProcess_id,
       {s.act("rerun", "c.BatchControl_id")} AS RerunSql, {s.act("skip", "c.BatchControl_id")} AS SkipSql,
       {s.act("cancel", "c.BatchControl_id")} AS CancelSql
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}BatchProcessHistory h ON h.BatchProcessHistory_id = (
    SELECT MAX(g.BatchProcessHistory_id) FROM {s.of}BatchProcessHistory g WHERE g.BatchControl_id = c.BatchControl_id)
WHERE {s.among("c.Status", "retry", "failed", "held")} AND (c.Status = 'failed' OR c.Status = 'held')"""


def _waiting(s: _Spoken) -> str:
    now, most = s.now, "b.MaxConcurrent"
    due = f"c.NextRunTime <= {now} AND (c.Status = 'ready' OR c.Status = 'retry')"
    before = "OVER (PARTITION BY c.ProcessBatch_id ORDER BY c.BatchControl_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    ending = s.joined("'until '", s.said("z.UntilTime"))
    until = f"CASE WHEN z.UntilTime IS NULL THEN 'until somebody thaws it' ELSE {ending} END"
    frozen = s.joined(
        "CASE WHEN z.Tag IS NOT NULL THEN "
        + s.joined("'every batch with tag '''", "z.Tag", "''''")
        + " WHEN z.ProcessBatchName IS NULL THEN 'everything' ELSE "
        + s.joined("'batch '", "z.ProcessBatchName")
        + " END",
        "' is frozen since '",
        s.said("z.z_inserted"),
        "', '",
        until,
        "', by '",
        "z.Actor",
        "': '",
        "z.Reason",
    )
    missing = s.joined("'it needs '", "u.Units", "' units of '", "r.ResourceName", "', and there are '", "r.Units")
    whole = s.joined("'it needs all of '", "r.ResourceName", "', and instances under way hold it'")
    some = s.joined(
        *("'it needs '", "u.Units", "' of the '", "r.Units", "' units of '", "r.ResourceName"),
        "', and instances under way hold it'",
    )
    stands = " ".join(f"WHEN '{word}' THEN '{said}'" for word, said in _STANDS)
    newest = s.joined(
        *("'(BatchControl '", "x.BatchControl_id", "') '"),
        f"CASE {s.word('x.Status')} {stands} ELSE 'is complete' END",
    )
    lacks = s.joined(
        *("d.ProcessBatchName", "' '"),
        f"CASE WHEN x.BatchControl_id IS NULL THEN 'has no instance for this CycleKey yet' ELSE {newest} END",
        "CASE WHEN d.Enabled = 1 THEN '' ELSE ', and the batch is disabled' END",
    )
    ahead = s.joined(
        *("'BatchControl '", "a.BatchControl_id", "' of the same batch is '", s.word("a.Status")),
        *("' (OnFailure '", s.word("b.OnFailure"), "')'"),
    )
    stopper = s.joined(
        *("'BatchControl '", "t.BatchControl_id", "' is '", s.word("t.Status"), "' and its batch stops everything'")
    )
    started = s.joined(most, "' of batch '", "b.ProcessBatchName", "' are started before it'")
    full = s.joined("l.HowMany", "' instances are under way, and Setting MaxConcurrent is '", "l.Most")
    same_key = "(x.CycleKey = w.CycleKey OR (x.CycleKey IS NULL AND w.CycleKey IS NULL))"
    return f"""
WITH {_frozen(s)}, Claimed AS (
SELECT ProcessBatch_id, COUNT(*) AS HowMany FROM {s.of}BatchControl WHERE {s.among("Status", *_CLAIMED)} GROUP BY ProcessBatch_id
), Total AS (
SELECT (SELECT COALESCE(SUM(HowMany), 0) FROM Claimed) AS HowMany,
       (SELECT {s.limit} FROM {s.of}Setting WHERE Name = 'MaxConcurrent') AS Most
), Held AS (
SELECT n.Resource_id, SUM(k.HowMany * CAST(n.Units AS bigint)) AS Units, MAX(n.Exclusive) AS Exclusive
FROM {s.of}BatchResource n JOIN Claimed k ON k.ProcessBatch_id = n.ProcessBatch_id GROUP BY n.Resource_id
), Unmet AS (
SELECT n.ProcessBatch_id, MIN(n.Resource_id) AS Resource_id
FROM {s.of}BatchResource n JOIN {s.of}Resource r ON r.Resource_id = n.Resource_id
LEFT JOIN Held h ON h.Resource_id = n.Resource_id
WHERE n.Units > r.Units OR h.Exclusive = 1 OR (n.Exclusive = 1 AND h.Units > 0)
   OR r.Units - COALESCE(h.Units, 0) < n.Units
GROUP BY n.ProcessBatch_id
), Stopping AS (
SELECT MIN(CASE WHEN c.Status = 'retry' THEN NULL ELSE c.BatchControl_id END) AS ByPerson,
       MIN(CASE WHEN c.Status = 'retry' THEN c.BatchControl_id END) AS ByRetry
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "retry", "failed", "held")} AND {s.word("b.OnFailure")} = 'stop_all'
), Stood AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, {s.word("c.Status")} AS Status, c.NextRunTime,
       c.z_updated,
       CASE WHEN c.Status = 'retry' AND {s.word("b.OnFailure")} = 'stop_all' THEN
            CASE WHEN t.ByRetry < c.BatchControl_id AND (t.ByPerson IS NULL OR t.ByRetry < t.ByPerson) THEN t.ByRetry
                 ELSE t.ByPerson END
            WHEN t.ByRetry < t.ByPerson OR t.ByPerson IS NULL THEN t.ByRetry ELSE t.ByPerson END AS Stop_id
FROM {s.of}BatchControl c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id CROSS JOIN Stopping t
WHERE {s.among("c.Status", *_IN_LINE)}
), Line AS (
SELECT c.*, SUM(CASE WHEN {due} AND c.Stop_id IS NULL THEN 1 ELSE 0 END) {before} AS Earlier FROM Stood c
), Ordered AS (
SELECT c.*, COALESCE(k.HowMany, 0) AS Started, COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) AS Taken,
       MIN(CASE WHEN {s.word("b.OnFailure")} <> 'continue' AND (c.Status = 'failed' OR c.Status = 'held' OR c.NextRunTime > {now}
                     OR (c.Status = 'retry' AND COALESCE(k.HowMany, 0) + COALESCE(c.Earlier, 0) >= {most}))
                THEN c.BatchControl_id END) {before} AS Ahead_id
FROM Line c JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN Claimed k ON k.ProcessBatch_id = c.ProcessBatch_id
), Instances AS (
SELECT c.BatchControl_id, c.ProcessBatch_id, c.FileProcess_id, c.CycleKey, c.Status, c.NextRunTime, c.z_updated, c.Started,
       c.Taken, c.Ahead_id, c.Stop_id FROM Ordered c WHERE c.Status = 'ready' OR c.Status = 'retry'
UNION ALL
SELECT p.BatchControl_id, p.ProcessBatch_id, p.FileProcess_id, p.CycleKey, {s.word("p.Status")}, p.NextRunTime, p.z_updated,
       NULL, NULL, NULL, NULL FROM {s.of}BatchControl p WHERE {s.among("p.Status", "paused")}
), Lacking AS (
SELECT w.ProcessBatch_id, w.CycleKey, w.Since, y.DependsOnBatch_id, y.DeadlineMins,
       (SELECT MAX(x.BatchControl_id) FROM {s.of}BatchControl x
        WHERE x.ProcessBatch_id = y.DependsOnBatch_id AND {same_key}) AS Newest_id
FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM {s.of}BatchCompletion WHERE FileProcess_id IS NULL
      GROUP BY ProcessBatch_id, CycleKey) w
JOIN {s.of}BatchDependency y ON y.ProcessBatch_id = w.ProcessBatch_id
WHERE NOT EXISTS (SELECT 1 FROM {s.of}BatchCompletion x WHERE x.FileProcess_id IS NULL
    AND x.ProcessBatch_id = w.ProcessBatch_id AND {same_key} AND x.DependsOnBatch_id = y.DependsOnBatch_id)
)
SELECT c.BatchControl_id, b.ProcessBatchName, c.Status, c.CycleKey, f.Entity, f.FileName, {s.twin("c.z_updated", "Since")},
       CASE WHEN c.Status = 'paused' THEN 'somebody paused it'
            WHEN b.Enabled <> 1 THEN {s.joined("'batch '", "b.ProcessBatchName", "' is disabled'")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {frozen}
            WHEN NOT EXISTS (SELECT 1 FROM {s.of}ProcessControl g WHERE g.ProcessBatch_id = c.ProcessBatch_id)
                 THEN {s.joined("'batch '", "b.ProcessBatchName", "' has no steps'")}
            WHEN c.NextRunTime > {now} THEN {s.joined("'it waits until '", s.said("c.NextRunTime"))}
            WHEN a.BatchControl_id IS NOT NULL THEN {ahead}
            WHEN t.BatchControl_id IS NOT NULL THEN {stopper}
            WHEN c.Started >= {most} THEN {started}
            WHEN l.Most = 0 THEN 'Setting MaxConcurrent is 0: nothing starts'
            WHEN l.HowMany >= l.Most THEN {full}
            WHEN u.Units > r.Units THEN {missing}
            WHEN u.Exclusive = 1 THEN {whole}
            WHEN u.Resource_id IS NOT NULL THEN {some}
            WHEN c.Taken >= {most} AND l.Most IS NULL AND NOT EXISTS (
                 SELECT 1 FROM {s.of}BatchResource v WHERE v.ProcessBatch_id = c.ProcessBatch_id) THEN {started}
            WHEN c.Taken >= {most} THEN {s.joined("'others of batch '", "b.ProcessBatchName", "' start before it'")}
            ELSE 'nothing holds it back' END AS Reason,
       CASE WHEN c.NextRunTime > {now} THEN c.NextRunTime WHEN z.UntilTime > {now} THEN z.UntilTime END AS NotBeforeTime,
       CASE WHEN c.NextRunTime > {now} THEN {s.local("c.NextRunTime")}
            WHEN z.UntilTime > {now} THEN {s.local("z.UntilTime")} END AS NotBeforeTimeLocal,
       c.FileProcess_id,
       CASE WHEN c.Status = 'paused' THEN {s.act("resume", "c.BatchControl_id")}
            WHEN b.Enabled <> 1 THEN {s.act_on_batch("enable", "b.ProcessBatchName")}
            WHEN z.BatchFreeze_id IS NOT NULL THEN {s.thaw("z.BatchFreeze_id")}
            WHEN c.NextRunTime > {now} THEN {s.act("rerun", "c.BatchControl_id")}
            WHEN a.Status = 'failed' OR a.Status = 'held' THEN {s.look("vFailed", "BatchControl_id", "a.BatchControl_id")}
            WHEN a.BatchControl_id IS NOT NULL THEN {s.look("vWaiting", "BatchControl_id", "a.BatchControl_id")}
            WHEN t.Status = 'retry' THEN {s.look("vWaiting", "BatchControl_id", "t.BatchControl_id")}
            WHEN t.BatchControl_id IS NOT NULL THEN {s.look("vFailed", "BatchControl_id", "t.BatchControl_id")}
            ELSE 'SELECT * FROM vRunning;' END AS NextSql
FROM Instances c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
CROSS JOIN Total l
LEFT JOIN Frozen fz ON fz.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}BatchFreeze z ON z.BatchFreeze_id = fz.BatchFreeze_id
LEFT JOIN {s.of}BatchControl a ON a.BatchControl_id = c.Ahead_id
LEFT JOIN {s.of}BatchControl t ON t.BatchControl_id = c.Stop_id
LEFT JOIN Unmet m ON m.ProcessBatch_id = c.ProcessBatch_id
LEFT JOIN {s.of}BatchResource u ON u.ProcessBatch_id = m.ProcessBatch_id AND u.Resource_id = m.Resource_id
LEFT JOIN {s.of}Resource r ON r.Resource_id = m.Resource_id
UNION ALL
SELECT NULL, b.ProcessBatchName, 'dependency', w.CycleKey, COALESCE(b.Entity, b.ProcessBatchName), NULL,
       {s.twin("w.Since", "Since")}, {lacks}, NULL, NULL, NULL,
       CASE WHEN x.Status = 'failed' OR x.Status = 'held' THEN {s.look("vFailed", "BatchControl_id", "x.BatchControl_id")}
            WHEN x.Status = 'cancelled' THEN {s.act("rerun", "x.BatchControl_id")}
            WHEN d.Enabled <> 1 THEN {s.act_on_batch("enable", "d.ProcessBatchName")}
            ELSE {s.look("vStatus", "ProcessBatchName", s.quoted("d.ProcessBatchName"))} END
FROM Lacking w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
LEFT JOIN {s.of}BatchControl x ON x.BatchControl_id = w.Newest_id"""


def _running(s: _Spoken) -> str:
    runs = s.seconds("h.StartTime", s.now)
    return f"""
SELECT c.BatchControl_id, b.ProcessBatchName, {s.word("c.Status")} AS Status, c.CycleKey, f.Entity, f.FileName,
       h.ProcessControlSeq, h.ProcessName, h.ProcessType, h.AttemptNo, {s.twin("h.StartTime", "StartTime")},
       {runs} AS RunningSeconds, p.ExpectedDuration, p.AlarmDuration, p.MaxDuration,
       CASE WHEN {s.later("h.StartTime", "p.AlarmDuration")} <= {s.now} THEN 'late'
            WHEN {s.later("h.StartTime", "p.ExpectedDuration")} < {s.now} THEN 'longer than expected'
            WHEN p.AlarmDuration IS NOT NULL OR p.ExpectedDuration IS NOT NULL THEN 'in time' END AS Timing,
       h.ClaimedBy, h.Host, h.Pid, h.DbSession, h.CommandText, c.FileProcess_id,
       {s.act("pause", "c.BatchControl_id")} AS PauseSql, {s.act("cancel", "c.BatchControl_id")} AS CancelSql
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id
LEFT JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running'"""


def _late(s: _Spoken) -> str:
    alarm = "COALESCE(p.AlarmDuration, p.ExpectedDuration)"
    ends, now = s.later("h.StartTime", alarm), s.now

    def shown(at: str) -> str:
        return f"{s.twin(at, 'ExpectedTime')}, {s.seconds(at, now)} AS LateSeconds"

    overdue = s.later("w.Since", "60 * w.DeadlineMins")
    return f"""
SELECT 'step' AS What, {s.joined("b.ProcessBatchName", "', step '", "h.ProcessControlSeq", "' '", "h.ProcessName")} AS Name,
       b.ProcessBatchName, c.BatchControl_id, {shown(ends)},
       {s.joined("'it runs longer than '", alarm, "' seconds'")} AS Reason,
       {s.look("vRunning", "BatchControl_id", "c.BatchControl_id")} AS NextSql
FROM {s.of}BatchProcessHistory h
JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
JOIN {s.of}ProcessControl p ON p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq
WHERE h.Status = 'running' AND {ends} <= {now}
UNION ALL
SELECT 'instance', {s.joined("b.ProcessBatchName", "' '", "COALESCE(c.CycleKey, '')")},
       b.ProcessBatchName, c.BatchControl_id, {shown("c.NextRunTime")},
       'its NextRunTime is over, and it has not started', {s.look("vWaiting", "BatchControl_id", "c.BatchControl_id")}
FROM {s.of}BatchControl c
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = c.ProcessBatch_id
WHERE {s.among("c.Status", "ready", "retry")} AND c.NextRunTime > '1900-01-01 00:00:00.000' AND c.NextRunTime < {s.ago(_GRACE)}
UNION ALL
SELECT 'schedule', e.ScheduleName, NULL, NULL, {shown("e.NextRunTime")},
       'its due time is over, and no controller has decided it', 'SELECT * FROM Controller;'
FROM {s.of}Schedule e WHERE e.Enabled = 1 AND e.NextRunTime < {s.ago(_GRACE)}
UNION ALL
SELECT 'dependency', {s.joined("b.ProcessBatchName", "' waits for '", "d.ProcessBatchName")}, b.ProcessBatchName, NULL,
       {shown(overdue)}, 'it waits for longer than DeadlineMins',
       {s.look("vWaiting", "ProcessBatchName", s.quoted("b.ProcessBatchName"))}
FROM (SELECT y.ProcessBatch_id, y.DependsOnBatch_id, y.DeadlineMins, v.CycleKey, v.Since
      FROM (SELECT ProcessBatch_id, CycleKey, MIN(z_inserted) AS Since FROM {s.of}BatchCompletion WHERE FileProcess_id IS NULL
            GROUP BY ProcessBatch_id, CycleKey) v
      JOIN {s.of}BatchDependency y ON y.ProcessBatch_id = v.ProcessBatch_id
      WHERE NOT EXISTS (SELECT 1 FROM {s.of}BatchCompletion x WHERE x.FileProcess_id IS NULL
          AND x.ProcessBatch_id = v.ProcessBatch_id AND x.DependsOnBatch_id = y.DependsOnBatch_id
          AND (x.CycleKey = v.CycleKey OR (x.CycleKey IS NULL AND v.CycleKey IS NULL)))) w
JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = w.ProcessBatch_id
JOIN {s.of}ProcessBatch d ON d.ProcessBatch_id = w.DependsOnBatch_id
WHERE {overdue} < {now}"""


def _history(s: _Spoken) -> str:
    again = s.joined(
        "'INSERT INTO OperatorRequest (Action, BatchControl_id, Arguments, Reason) VALUES (''rerun'', '",
        *("h.BatchControl_id", "', ''{\"from\": '", "h.ProcessControlSeq", "'}'', ''...'');'"),
    )
    return f"""
SELECT h.BatchProcessHistory_id, h.BatchControl_id, b.ProcessBatchName, c.CycleKey, f.Entity, f.FileName, h.ProcessControlSeq,
       h.ProcessName, h.ProcessType, h.AttemptNo, {s.word("h.Cause")} AS Cause, {s.word("h.Status")} AS Status,
       {s.twin("h.StartTime", "StartTime")}, {s.twin("h.EndTime", "EndTime")},
       {s.seconds("h.StartTime", "h.EndTime")} AS DurationSeconds, h.ReturnCode, h.RowsAffected, h.Message AS ErrorText, h.Output,
       h.CommandText, h.ClaimedBy, h.Host, h.Pid, h.DbSession, c.FileProcess_id,
       {again} AS RerunSql
FROM {s.of}BatchProcessHistory h
LEFT JOIN {s.of}BatchControl c ON c.BatchControl_id = h.BatchControl_id
LEFT JOIN {s.of}ProcessBatch b ON b.ProcessBatch_id = h.ProcessBatch_id
LEFT JOIN {s.of}FileProcess f ON f.FileProcess_id = c.FileProcess_id"""


def _schedule(s: _Spoken) -> str:
    def part(before: str, column: str) -> str:
        return f"CASE WHEN {column} IS NULL THEN '' ELSE {s.joined(before, column)} END"

    words = s.joined(
        s.word("e.ScheduleType"),
        "CASE WHEN e.IntervalMinutes IS NULL THEN '' ELSE "
        + s.joined("', every '", "e.IntervalMinutes", "' minutes'")
        + " END",
        *(part("', '", f"e.{column}") for column in ("RunDays", "RunDaysOfMonth", "WeekOfMonth", "RunMonths")),
        *(part("' at '", f"e.{column}") for column in ("RunTimes", "RunAt", "Cron")),
        part("', between '", "e.BetweenTimes"),
        part("', calendar '", "e.CalendarName"),
    )
    enabling = s.joined(
        "'UPDATE Schedule SET Enabled = '",
        "CASE WHEN e.Enabled = 1 THEN '0' ELSE '1' END",
        "' WHERE ScheduleName = '",
        s.quoted("e.ScheduleName"),
        "';'",
    )
    return f"""
SELECT e.Schedule_id, e.ScheduleName, e.Entity,
       CASE WHEN e.Enabled <> 1 THEN 'disabled' WHEN e.NextRunTime IS NULL THEN 'not due'
            WHEN e.NextRunTime < {s.ago(_GRACE)} THEN 'overdue' ELSE 'enabled' END AS Status,
       {words} AS Timing, e.TimeZone, {s.twin("e.NextRunTime", "NextRunTime")},
       {s.word("l.Outcome")} AS LastOutcome, {s.twin("l.DueTime", "LastDueTime")}, l.Reason AS LastReason,
       l.FileProcess_id AS LastFileProcess_id, e.Description, {enabling} AS NextSql
FROM {s.of}Schedule e
LEFT JOIN {s.of}ScheduleFire l ON l.ScheduleFire_id = (
    SELECT MAX(g.ScheduleFire_id) FROM {s.of}ScheduleFire g WHERE g.Schedule_id = e.Schedule_id)"""


def _inbox(s: _Spoken) -> str:
    target = s.joined("'FileProcess:'", "f.FileProcess_id")
    again = s.joined(
        "'UPDATE FileProcess SET Status = ''ready'', Message = NULL WHERE FileProcess_id = '", "f.FileProcess_id", "';'"
    )
    accept = s.joined(
        "'INSERT INTO AuditLog (Actor, Host, Action, Target, Reason) VALUES (''...'', ''sql'', ''accept'', '''",
        *(target, "''', ''...''); '"),
        again,
    )
    register = s.joined("'INSERT INTO ProcessBatch (ProcessBatchName) VALUES ('", s.quoted("f.Entity"), "');'")
    columns = "f.FileProcess_id, f.Entity, f.FileName, f.Data, f.CycleKey, f.Source"
    taken = f"EXISTS (SELECT 1 FROM {s.of}ProcessBatch b WHERE COALESCE(b.Entity, b.ProcessBatchName) = f.Entity)"
    made = f"EXISTS (SELECT 1 FROM {s.of}BatchControl c WHERE c.FileProcess_id = f.FileProcess_id)"
    return f"""
SELECT {columns}, {s.word("f.Status")} AS Status,
       CASE WHEN f.Message IS NOT NULL THEN f.Message WHEN f.Status = 'paused' THEN 'somebody inserted or set it as paused'
            ELSE 'no reason was given' END AS Reason,
       {s.twin("f.z_inserted", "Arrived")}, CASE WHEN f.Status = 'duplicate' THEN {accept} ELSE {again} END AS NextSql
FROM {s.of}FileProcess f WHERE {s.among("f.Status", "paused", "rejected", "duplicate")}
UNION ALL
SELECT {columns}, CASE WHEN {taken} THEN 'new' ELSE 'untaken' END,
       CASE WHEN {taken} THEN 'no controller has looked at it yet'
            ELSE {s.joined("'no batch takes entity '''", "f.Entity", "''''")} END,
       {s.twin("f.z_inserted", "Arrived")}, CASE WHEN {taken} THEN 'SELECT * FROM Controller;' ELSE {register} END
FROM {s.of}FileProcess f WHERE f.Status = 'ready' AND NOT {made}"""
