"""Triggers that correct or refuse what people write into the rows of work, and into those that work needs."""

from __future__ import annotations

from collections.abc import Iterator

from batchctl.store.repeatable.trigger import (
    BY_HAND,
    Trigger,
    on_mssql,
    on_postgresql,
    on_sqlite,
    plain,
    refuse_when,
    thrown,
    trusted,
)

SUCCESS = {"FileProcess": "complete", "BatchControl": "ready"}
"""What `success` becomes, the word by which the seeds call it."""
STOP = (
    "wait until it has ended; or, unless it is being cancelled already: batchctl cancel ID --reason ..., with the"
    " BatchControl_id that vRunning shows"
)
STEP_RUNS = f"batchctl: the ProcessControl row is a step that runs at this moment: {STOP}"
STEP_REPLACED = f"batchctl: the step runs, which a REPLACE would move or remove: {STOP}"
OVER = (
    "batchctl cancel ID --reason ... unless it is over or being cancelled; what is complete or cancelled goes with"
    " batchctl purge"
)
HAS_RUN = f"batchctl: the BatchControl row has attempts in BatchProcessHistory: {OVER}"
HAS_INSTANCES = f"batchctl: the FileProcess row has instances: of each, {OVER}"
PAUSED = (
    "batchctl: the FileProcess row has instances: pause these (batchctl pause ID --reason ...), which inbox show names"
)
PAUSED_ANEW = "batchctl: the row has instances, which would go on all the same: pause these"
SET_ASIDE = (
    "batchctl: the FileProcess row has instances that are not over: cancel these"
    " (batchctl cancel ID --reason ...), which inbox show names"
)
REPLACED = "batchctl: a REPLACE forgets how the {0} row stands, and leaves no row in AuditLog: UPDATE {0} ... instead"
_SAME_PAIR = " OR (r.FileProcess_id = NEW.FileProcess_id AND r.ProcessBatch_id = NEW.ProcessBatch_id)"
_SAME = {"FileProcess": "", "BatchControl": _SAME_PAIR}
"""Which rows besides that of its own number a new row takes away in a REPLACE."""
_WORK = "EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = {0}.FileProcess_id)"
_OPEN_WORK = (
    "EXISTS (SELECT 1 FROM BatchControl AS w WHERE w.FileProcess_id = {0}.FileProcess_id"
    " AND w.Status NOT IN ('complete', 'cancelled'))"
)
_RUNS = (
    "EXISTS (SELECT 1 FROM BatchProcessHistory AS h WHERE h.Status = 'running'"
    " AND h.ProcessBatch_id = {0}.ProcessBatch_id AND h.ProcessControlSeq = {0}.ProcessControlSeq)"
)


def triggers(dialect: str, schema: str) -> Iterator[Trigger]:
    """Yield the triggers of FileProcess, BatchControl and ProcessControl."""
    yield from {"sqlite": _on_sqlite, "postgresql": _on_postgresql}.get(dialect, lambda: _on_mssql(schema))()


def as_stored(table: str, column: str, row: str) -> str:
    """Return a value of a row as it is after all triggers: only words that are kept are audited."""
    value = f"{row}.{column}"
    if column != "Status" or table not in SUCCESS:
        return value
    return f"CASE {value} WHEN 'success' THEN '{SUCCESS[table]}' ELSE {value} END"


def _on_sqlite() -> Iterator[Trigger]:
    for table, word in SUCCESS.items():
        change = f"UPDATE {table} SET Status = '{word}' WHERE {table}_id = NEW.{table}_id"
        for event in ("INSERT", "UPDATE OF Status"):
            name = f"TR_{table}_Success{event.split()[0].capitalize()}"
            yield on_sqlite(name, table, f"AFTER {event}", [change], "NEW.Status = 'success'")
    yield from _keeping_on_sqlite()
    for table, same in _SAME.items():
        yield from _not_replaced(table, f"r.{table}_id = NEW.{table}_id{same}")
    aside = "(NEW.Status = 'paused' OR NEW.Status = 'rejected' OR NEW.Status = 'duplicate')"
    pausing, open_work = "NEW.Status = 'paused' AND {}", _OPEN_WORK.format("NEW")
    by_hand = "NEW.z_updated IS OLD.z_updated AND NEW.Status <> 'paused'"
    # An INSERT may replace a row, and no trigger for UPDATE or DELETE fires then.
    for name, event, when, all_refused in (
        (
            "SetAside",
            "BEFORE UPDATE OF Status",
            f"NEW.Status <> OLD.Status AND {aside}",
            [
                refuse_when(PAUSED, pausing.format(_WORK.format("OLD"))),
                refuse_when(SET_ASIDE, f"{by_hand} AND {open_work}"),
            ],
        ),
        (
            "SetAsideInsert",
            "AFTER INSERT",
            aside,
            [
                refuse_when(PAUSED_ANEW, pausing.format(_WORK.format("NEW"))),
                refuse_when(SET_ASIDE, f"NEW.Status <> 'paused' AND {open_work}"),
            ],
        ),
    ):
        yield on_sqlite(f"TR_FileProcess_{name}", "FileProcess", event, all_refused, when)


def _not_replaced(table: str, same: str) -> Iterator[Trigger]:
    """Yield what refuses a REPLACE: no trigger fires for rows in its way, and which are gone is known afterwards."""
    in_the_way, kept = f"FROM {table} r WHERE {same}", f"FROM batchctl_replaced w WHERE w.TableName = '{table}'"
    forget = f"DELETE FROM batchctl_replaced WHERE TableName = '{table}'"
    keep = (
        "INSERT INTO batchctl_replaced (TableName, RowNumber, Target, ValuesBefore)\n"
        f"    SELECT '{table}', r.{table}_id, '{table}:' || r.{table}_id, '{{}}' {in_the_way}"
    )
    any_kept = f"EXISTS (SELECT 1 {in_the_way}) OR EXISTS (SELECT 1 {kept})"
    is_there = f"EXISTS (SELECT 1 FROM {table} r WHERE r.{table}_id = w.RowNumber)"
    gone = f"EXISTS (SELECT 1 {kept} AND (w.RowNumber = NEW.{table}_id OR NOT {is_there}))"
    yield on_sqlite(f"TR_{table}_InTheWay", table, "BEFORE INSERT", [forget, keep], any_kept)
    yield on_sqlite(f"TR_{table}_NotReplaced", table, "AFTER INSERT", [refuse_when(REPLACED.format(table))], gone)


def _keeping_on_sqlite() -> Iterator[Trigger]:
    """Yield what does the work of the other databases' foreign keys, and what keeps steps that run."""
    has_run = "EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.BatchControl_id = OLD.BatchControl_id)"
    moved = "(NEW.ProcessBatch_id IS NOT OLD.ProcessBatch_id OR NEW.ProcessControlSeq IS NOT OLD.ProcessControlSeq)"
    gone = (
        "EXISTS (SELECT 1 FROM BatchProcessHistory h WHERE h.Status = 'running' AND NOT EXISTS (SELECT 1 FROM ProcessControl p"
        " WHERE p.ProcessBatch_id = h.ProcessBatch_id AND p.ProcessControlSeq = h.ProcessControlSeq))"
    )
    runs = _RUNS.format("OLD")
    for table, name, event, said, when in (
        ("BatchControl", "InUse", "BEFORE DELETE", HAS_RUN, has_run),
        ("FileProcess", "InUse", "BEFORE DELETE", HAS_INSTANCES, _WORK.format("OLD")),
        ("ProcessControl", "InUseDelete", "BEFORE DELETE", STEP_RUNS, runs),
        ("ProcessControl", "InUseUpdate", "BEFORE UPDATE", STEP_RUNS, f"{moved} AND {runs}"),
        ("ProcessControl", "Replaced", "AFTER INSERT", STEP_REPLACED, gone),
    ):
        yield on_sqlite(f"TR_{table}_{name}", table, event, [refuse_when(said)], when)


def _on_postgresql() -> Iterator[Trigger]:
    for table, word in SUCCESS.items():
        yield on_postgresql(
            f"TR_{table}_Success",
            table,
            "BEFORE INSERT OR UPDATE OF Status",
            "batchctl_success",
            word,
            when="lower(NEW.Status) = 'success'",
        )
    pausing = "lower(NEW.Status) = 'paused' AND OLD.Status <> 'paused'"
    aside = "lower(NEW.Status) IN ('rejected', 'duplicate') AND lower(NEW.Status) <> OLD.Status"
    for table, name, event, function, when in (
        ("ProcessControl", "InUse", "BEFORE DELETE OR UPDATE OF ProcessBatch_id, ProcessControlSeq", "in_use", ""),
        ("ProcessControl", "InUseTruncate", "BEFORE TRUNCATE", "in_use", ""),
        ("FileProcess", "Paused", "BEFORE UPDATE OF Status", "paused", pausing),
        ("FileProcess", "SetAside", "BEFORE UPDATE OF Status", "set_aside", f"{BY_HAND} AND {aside}"),
    ):
        yield on_postgresql(f"TR_{table}_{name}", table, event, f"batchctl_{function}", when=when)


def _on_mssql(schema: str) -> Iterator[Trigger]:
    for table, word in SUCCESS.items():
        key = f"{table}_id"
        yield on_mssql(
            f"TR_{table}_Success",
            table,
            "AFTER INSERT, UPDATE",
            # Every write fires this: the table is written again only where a client wrote that word.
            "    IF EXISTS (SELECT 1 FROM inserted AS s WHERE s.Status = 'success')\n    BEGIN\n"
            f"        UPDATE w SET Status = '{word}' FROM {table} AS w JOIN inserted AS i ON i.{key} = w.{key}\n"
            "        WHERE w.Status = 'success';\n    END;",
            schema,
        )
    stays = "i.ProcessBatch_id = d.ProcessBatch_id AND i.ProcessControlSeq = d.ProcessControlSeq"
    stopping = f"{_RUNS.format('d')}\n        AND NOT EXISTS (SELECT 1 FROM inserted AS i WHERE {stays})"
    was = "inserted AS i JOIN deleted AS d ON d.FileProcess_id = i.FileProcess_id"
    pausing = f"i.Status = 'paused' AND d.Status <> 'paused' AND {_WORK.format('i')}"
    aside = f"i.Status IN ('rejected', 'duplicate') AND d.Status <> i.Status AND {_OPEN_WORK.format('i')}"
    for table, name, event, said, refused in (
        ("ProcessControl", "InUse", "AFTER UPDATE, DELETE", STEP_RUNS, f"deleted AS d WHERE {stopping}"),
        ("FileProcess", "Paused", "AFTER UPDATE", PAUSED, f"{was}\n        WHERE {pausing}"),
        (
            "FileProcess",
            "SetAside",
            "AFTER UPDATE",
            SET_ASIDE,
            f"{was} AND i.z_updated = d.z_updated\n        WHERE {aside}",
        ),
    ):
        body = thrown(said, f"EXISTS (SELECT 1 FROM {refused})")
        yield on_mssql(f"TR_{table}_{name}", table, event, body, schema)


def _refusing_work(function: str, wording: str, condition: str = "") -> tuple[str, ...]:
    return trusted(
        function,
        "    made boolean;\n",
        "    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchControl w WHERE w.FileProcess_id = $1"
        f"{condition})'\n    INTO made USING OLD.FileProcess_id;\n"
        f"    IF made THEN\n        RAISE EXCEPTION '{wording}';\n    END IF;\n    RETURN NEW;\n",
    )


_REFUSE_STEP = f"RAISE EXCEPTION USING MESSAGE = '{STEP_RUNS}', ERRCODE = 'foreign_key_violation';"

FUNCTIONS = (
    *plain("batchctl_success", "    NEW.Status := TG_ARGV[0];\n    RETURN NEW;\n"),
    *trusted(
        "batchctl_in_use",
        "    runs boolean;\n",
        f"""\
    IF TG_OP = 'TRUNCATE' THEN
        EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchProcessHistory h WHERE h.Status = ''running'')' INTO runs;
        IF runs THEN
            {_REFUSE_STEP}
        END IF;
        RETURN NULL;
    END IF;
    IF TG_OP = 'UPDATE' AND NEW.ProcessBatch_id = OLD.ProcessBatch_id AND NEW.ProcessControlSeq = OLD.ProcessControlSeq THEN
        RETURN NEW;
    END IF;
    EXECUTE 'SELECT EXISTS (SELECT 1 FROM ' || ours || 'BatchProcessHistory h WHERE h.Status = ''running'''
            ' AND h.ProcessBatch_id = $1 AND h.ProcessControlSeq = $2)'
    INTO runs USING OLD.ProcessBatch_id, OLD.ProcessControlSeq;
    IF runs THEN
        {_REFUSE_STEP}
    END IF;
    RETURN CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
""",
    ),
    *_refusing_work("batchctl_paused", PAUSED),
    *_refusing_work("batchctl_set_aside", SET_ASIDE, " AND w.Status NOT IN (''complete'', ''cancelled'')"),
)
"""The functions of PostgreSQL."""
