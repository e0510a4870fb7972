"""What people do to variables: each act in one transaction, with its row in the audit log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from batchctl.domain import placeholders
from batchctl.domain.definitions import variables
from batchctl.domain.definitions.variables import VariableRow
from batchctl.domain.errors import Conflict, NotFound, Refused, StepRefused
from batchctl.domain.outcomes import Finding, RowFinding
from batchctl.domain.text import did_you_mean, typed, unfit, visible
from batchctl.operations import shown_columns
from batchctl.operations.column_lists import ColumnList, record
from batchctl.operations.operators.acts import Actor, checked_reason
from batchctl.ports import Transactions
from batchctl.store import Connection
from batchctl.store.definitions import variable_rows

ReadText = Callable[[str], str]
"""Reads a file that a definition names; raises `StepRefused`."""
_FILE = "file:"
_LISTED_MOST = 5


@dataclass(frozen=True, slots=True)
class ListedVariable:
    """A variable, and the columns that name it."""

    variable: VariableRow
    named_by: tuple[str, ...]


VARIABLES = ColumnList[ListedVariable](
    "Variables",
    {**record(VariableRow, lambda one: one.variable), "NamedBy": lambda one: list(one.named_by)},
    {
        "name": "VariableName",
        "value": "Value",
        "named by": lambda one: _shown(one.named_by) or "nothing",
        "description": "Description",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedVariable:
    """What was done to a variable, or would be; None where there is none, before or after it."""

    name: str
    before: VariableRow | None
    after: VariableRow | None
    named_by: tuple[str, ...]
    dry_run: bool

    @property
    def is_changed(self) -> bool:
        """Say whether it is another one afterwards."""
        return self.before != self.after


def listed(transactions: Transactions, read_text: ReadText) -> list[ListedVariable]:
    """Return the variables by name."""
    with transactions.read() as connection:
        naming = _naming(connection, read_text)
        return [ListedVariable(one, naming.get(one.name, ())) for one in variable_rows.everything(connection)]


@dataclass(frozen=True, slots=True)
class VariableKeeper:
    """Keeps variables, for a person."""

    actor: Actor
    read_text: ReadText

    def set(self, name: str, text: str, *, description: str | None = None, reason: str) -> ChangedVariable:
        """Give a variable a value; the next attempt of each step that names it takes it."""
        checked_reason(reason)
        _check(name, text, description)

        def act(connection: Connection) -> ChangedVariable:
            before = self._locked(connection, name)
            said = description if description is not None or before is None else before.description
            after = VariableRow(0 if before is None else before.variable_id, name, text, said)
            if before != after and not self.actor.dry_run:
                after = self._write(connection, before, after)
                was = {} if before is None else shown_columns.of(before)
                self.actor.note(connection, "variable set", _target(name), reason, was, shown_columns.of(after))
            return self._changed(connection, name, before, after)

        return self.actor.act(act)

    def remove(self, name: str, *, reason: str) -> ChangedVariable:
        """Remove a variable that no definition names."""
        checked_reason(reason)

        def act(connection: Connection) -> ChangedVariable:
            before = self._locked(connection, name)
            if before is None:
                raise _unknown(connection, name)
            done = self._changed(connection, name, before, None)
            if done.named_by:
                message = f"Variable {visible(name)} is named by {_shown(done.named_by)}: their next attempt would be refused."
                mend = f"let them name another, or none, then: batchctl variable remove {typed(name)} --reason ..."
                raise Refused(message, next_step=mend)
            if not self.actor.dry_run:
                if not variable_rows.remove(connection, before.variable_id):
                    raise Conflict(f"Somebody has just removed variable {visible(name)}.")
                self.actor.note(connection, "variable remove", _target(name), reason, shown_columns.of(before), {})
            return done

        return self.actor.act(act)

    def _locked(self, connection: Connection, name: str) -> VariableRow | None:
        """Return a variable, which others who do the same find as it is afterwards."""
        if not self.actor.dry_run:
            variable_rows.lock(connection, name)
        return variable_rows.named(connection, name)

    def _write(self, connection: Connection, before: VariableRow | None, after: VariableRow) -> VariableRow:
        if before is None:
            return replace(after, variable_id=variable_rows.add(connection, after.name, after.text, after.description))
        columns = {"Value": after.text, "Description": after.description}
        if not variable_rows.change(connection, before.variable_id, columns, self.actor.clock.now()):
            raise Conflict(f"Somebody has just removed variable {visible(after.name)}.")
        return after

    def _changed(
        self, connection: Connection, name: str, before: VariableRow | None, after: VariableRow | None
    ) -> ChangedVariable:
        named_by = _naming(connection, self.read_text).get(name, ())
        return ChangedVariable(name=name, before=before, after=after, named_by=named_by, dry_run=self.actor.dry_run)


def findings(connection: Connection, read_text: ReadText) -> Iterator[RowFinding]:
    """Yield what is wrong with the variables, and which columns name one that is not set."""
    known = variable_rows.everything(connection)
    names = [one.name for one in known]
    for one in known:
        yield from (_finding("Variable", one.name, wrong) for wrong in _faults(one))
    for first, other in variables.alike(names):
        message = (
            f"It differs from {first} only in letter case: each stands for itself, and is soon taken for the other."
        )
        yield _finding("Variable", other, Finding("VariableName", message))
    for column in variable_rows.naming(connection):
        for name in dict.fromkeys(_named_in(column, read_text)):
            if name not in names:
                near = did_you_mean(name, names)
                message = f"{variables.written(name)} names a variable that is not set: attempts are refused.{near}"
                mend = f"batchctl variable set {typed(name)} VALUE --reason ..., or correct the row"
                yield _finding(column.table, column.row, Finding(column.column, message, mend))


def _finding(table: str, row: str, wrong: Finding) -> RowFinding:
    found = RowFinding(table, visible(row), wrong.column, wrong.message)
    return found if wrong.remedy is None else replace(found, remedy=wrong.remedy)


def _faults(one: VariableRow) -> Iterator[Finding]:
    if (failure := variables.unfit_name(one.name)) is not None:
        yield Finding("VariableName", f"No definition can name it: {failure}.")
    if (wrong := variables.unfit_value(one.text)) is not None:
        failure, mend = wrong
        yield Finding("Value", f"The command would refuse it: {failure}.", mend)
    if one.description is not None and (failure := unfit(one.description)) is not None:
        yield Finding("Description", f"It cannot be used: {failure}.")


def _naming(connection: Connection, read_text: ReadText) -> dict[str, tuple[str, ...]]:
    """Return for each variable that definitions name the columns that name it."""
    found: dict[str, dict[str, None]] = {}
    for column in variable_rows.naming(connection):
        for name in _named_in(column, read_text):
            found.setdefault(name, {})[f"{column.column} of {column.table} {visible(column.row)}"] = None
    return {name: (*rows,) for name, rows in found.items()}


def _named_in(column: variable_rows.NamingColumn, read_text: ReadText) -> Iterable[str]:
    if column.table == "FileWatch":
        return variables.names_in(column.text)
    written = column.text.strip()
    if not written.startswith(_FILE):
        return placeholders.variables_in(column.text)
    try:
        return placeholders.variables_in(read_text(written.removeprefix(_FILE)))
    except StepRefused:
        # Another finding says that the file cannot be read.
        return ()


def _check(name: str, text: str, description: str | None) -> None:
    if (failure := variables.unfit_name(name)) is not None:
        raise Refused(f"A variable cannot be called so: {failure}.", next_step="the same with another name")
    if (wrong := variables.unfit_value(text)) is not None:
        raise Refused(f"Variable {name} cannot have that value: {wrong[0]}.", next_step=wrong[1])
    if description is not None and (failure := unfit(description)) is not None:
        raise Refused(f"The description cannot be kept: {failure}.", next_step="the same with another --description")


def _unknown(connection: Connection, name: str) -> NotFound:
    near = visible(did_you_mean(name, variable_rows.values(connection)))
    return NotFound(f"There is no variable '{visible(name)}'.{near}", next_step="batchctl variable list")


def _target(name: str) -> str:
    return f"Variable:{name}"


def _shown(rows: Iterable[str]) -> str:
    found = [*rows]
    more = f", and {len(found) - _LISTED_MOST} more" if len(found) > _LISTED_MOST else ""
    return f"{', '.join(found[:_LISTED_MOST])}{more}"
