"""Carrying out a package in the SSIS catalog: create, record the execution_id, start, follow to the real end."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from batchctl.plugin_api import Connection, Execution, StepOutcome, visible
from step_handlers.databases._database import ConnectionRefused, StepStopped
from step_handlers.databases._results import ShownLines
from step_handlers.packages import _catalog
from step_handlers.packages._catalog import Batch, Package
from step_handlers.packages._catalog_session import CatalogError, OpenSession, rows_of
from step_handlers.packages._ssis_parameters import Value
from step_handlers.sqlserver._mssql_driver import ServerConnection

CREATED, SUCCEEDED = 1, 7
UNDER_WAY = frozenset({2, 5, 8})
STATUSES = {
    CREATED: "was created and never started",
    3: "was cancelled",
    4: "failed",
    6: "ended unexpectedly",
    9: "completed without saying that it succeeded",
}
LOOKS_FOR_START = 30
"""Looks, a second apart, at an execution that was created and may be starting at this moment."""
RECONNECTIONS = 3

_PROJECT_CHANGED, _NOT_RUNNING, _STOPS_ALREADY = 27150, 27124, 27126
_FATAL = {
    208: "the server has no SSISDB; create the catalog",
    229: "grant the login the right it lacks",
    911: "the server has no SSISDB; create the catalog",
    916: "give the login access to SSISDB",
    2812: "the server has no SSISDB; create the catalog",
    27104: "correct the folder in Data1, or give the login READ on it",
    27109: "correct the project in Data1, or give the login READ on it",
    27123: "the catalog starts packages only for Windows logins; write Trusted_Connection=yes in the connection's url",
    27140: "make the login a member of ssis_admin, or give it EXECUTE on the project",
    27146: "correct Data1 and Data2, or give the login READ and EXECUTE on the project",
    27147: "write in Data3 the type that the package declares, as in Rows(Int32)=5",
    27176: "correct the name in Data3: $Project:: before a project's parameter, nothing before the package's own",
    27178: "give the login EXECUTE on the project",
    27184: "give every required parameter a value in Data3, or a default in the catalog",
    27187: "correct Data1, or give the login READ on the project",
}
_ERRORS = frozenset({120, 130})
_KINDS = {120: "error", 130: "task failed", 110: "warning", 70: "information", 60: "progress"}
_LONGEST_LINE = 2000


@dataclass(slots=True)
class Run:
    """One execution of a package, from its creation to its end."""

    connection: Connection
    execution: Execution
    open_session: OpenSession
    execution_id: int = 0
    is_over: bool = False
    stop_refused: str | None = None
    first_error: str | None = None
    notes: list[str] = field(default_factory=list)

    def carry_out(self, package: Package, values: Sequence[Value], caller: str) -> StepOutcome:
        """Create, start and follow."""
        creation = _catalog.creation(package, values, caller)
        refused = None
        try:
            with closing(self.open_session(self.connection)) as session:
                refused = self._begin(session, creation)
                if refused is not None and refused.number == _PROJECT_CHANGED and not self.execution.stopping:
                    self.notes.append(f"execution {self.execution_id} was given up: the project has been deployed anew")
                    refused = self._begin(session, creation)
        except CatalogError as error:
            return self._refused(error)
        except ConnectionRefused as error:
            if not self.execution_id:
                return self._ended(StepOutcome(succeeded=False, message=str(error), fatal=error.fatal))
            self.notes.append(f"the connection was lost: {error}")
        except StepStopped:
            message = f"was told to stop before execution {self.execution_id} was started"
            return self._ended(StepOutcome(succeeded=False, stopped=True, message=message))
        return self._follow(refused)

    def adopt(self, execution_id: int) -> StepOutcome:
        """Follow an execution that an earlier controller has started."""
        self._identify(execution_id)
        return self._follow(None)

    def _begin(self, session: ServerConnection, creation: Batch) -> CatalogError | None:
        """Create and start; return why the start was refused. It returns when the execution has ended."""
        ((created,),) = rows_of(session, creation)
        self._identify(int(created))
        if self.execution.stopping:
            raise StepStopped
        try:
            rows_of(session, _catalog.start(self.execution_id))
        except CatalogError as error:
            return error
        return None

    def _identify(self, execution_id: int) -> None:
        is_first = not self.execution_id
        self.execution_id = execution_id
        self.execution.in_session(f"ssis:{execution_id}")
        if is_first:
            self.execution.on_stop(self._stop)

    def _stop(self) -> None:
        """Ask for the stop, from another thread in a session of its own, until the catalog accepts it or all is over."""
        try:
            with closing(self.open_session(self.connection)) as session:
                while not self.is_over and not self._accepts_stop(session):
                    # It is being started at this moment, or has just ended.
                    rows_of(session, _catalog.pause())
        except (CatalogError, ConnectionRefused) as error:
            self.stop_refused = str(error)

    def _accepts_stop(self, session: ServerConnection) -> bool:
        try:
            rows_of(session, _catalog.stopping(self.execution_id))
        except CatalogError as error:
            if error.number not in {_NOT_RUNNING, _STOPS_ALREADY}:
                raise
            return error.number == _STOPS_ALREADY
        return True

    def _follow(self, refused: CatalogError | None) -> StepOutcome:
        """Wait for the real end, in a session that works, and report it."""
        failure = ""
        for _ in range(RECONNECTIONS):
            try:
                with closing(self.open_session(self.connection)) as session:
                    status = self._final_status(session, 0 if refused else LOOKS_FOR_START)
                    lines = self._messages(session)
            except (ConnectionRefused, CatalogError) as error:
                failure = str(error)
                continue
            if status == CREATED and refused is not None:
                return self._refused(refused)
            return self._ended(self._outcome(status, lines))
        return self._ended(self._lost_sight(failure))

    def _final_status(self, session: ServerConnection, looks_for_start: int) -> int:
        status = self._status(session, after_pause=False)
        looks = 0
        while status in UNDER_WAY or (status == CREATED and looks < looks_for_start):
            looks += 1
            status = self._status(session, after_pause=True)
        return status

    def _status(self, session: ServerConnection, *, after_pause: bool) -> int:
        rows = rows_of(session, _catalog.state(self.execution_id, after_pause=after_pause))
        if not rows:
            raise ConnectionRefused("the catalog does not show it to this login")
        return int(rows[0][0])

    def _messages(self, session: ServerConnection) -> list[str]:
        try:
            rows = sorted(rows_of(session, _catalog.messages(self.execution_id)), key=lambda row: int(row[0]))
        except (ConnectionRefused, CatalogError) as error:
            self.notes.append(f"its messages cannot be read: {error}")
            return []
        left_out = int(rows[0][4]) - len(rows) if rows else 0
        if left_out:
            self.notes.append(f"{left_out} more messages are in [SSISDB].[catalog].[operation_messages]")
        self.first_error = next((self._shown(row[3]) for row in rows if int(row[1]) in _ERRORS), None)
        return [self._line(row) for row in rows]

    def _line(self, row: Any) -> str:
        kind = int(row[1])
        return f"{row[2]} {_KINDS.get(kind, f'type {kind}')}: {self._shown(row[3])}"

    def _shown(self, text: object) -> str:
        return visible(self.execution.masked(str(text)).strip())[:_LONGEST_LINE]

    def _outcome(self, status: int, lines: Sequence[str]) -> StepOutcome:
        stopping = self.execution.stopping
        said = [] if status == SUCCEEDED else [self._how(status, announced="was told to stop; " if stopping else "")]
        if stopping and self.stop_refused is not None:
            said.append(f"the stop was refused: {self.stop_refused}")
        return StepOutcome(
            succeeded=status == SUCCEEDED,
            message="; ".join(said) or None,
            output=self._output(lines),
            stopped=stopping and status != SUCCEEDED,
        )

    def _how(self, status: int, *, announced: str) -> str:
        how = STATUSES.get(status, "ended in a way that this version does not know")
        cause = f": {self.first_error}" if self.first_error and not announced else ""
        return f"{announced}execution {self.execution_id} {how} (status {status}){cause}"

    def _refused(self, error: CatalogError) -> StepOutcome:
        hint = _FATAL.get(error.number)
        message = str(error) if hint is None else f"{error}; {hint}"
        output = self._output([]) if self.execution_id else None
        return self._ended(StepOutcome(succeeded=False, message=message, output=output, fatal=hint is not None))

    def _lost_sight(self, failure: str) -> StepOutcome:
        """Report a lost execution: trying again might run the package twice, so OnLost decides."""
        message = (
            f"execution {self.execution_id} was under way and it is unknown how it ended: {failure}. "
            "Look at it in SSMS (All Executions), then rerun or skip the step"
        )
        return StepOutcome(succeeded=False, lost=True, message=message, output=self._output([]))

    def _output(self, lines: Sequence[str]) -> str:
        shown = ShownLines()
        for line in (f"execution_id {self.execution_id}", *self.notes, *lines):
            shown.add(line)
        return shown.text() or ""

    def _ended(self, outcome: StepOutcome) -> StepOutcome:
        self.is_over = True
        return outcome


def look(run: Run, package: Package, common: str, first_lost: int) -> StepOutcome:
    """Find what became of a lost attempt; follow to its end what still runs. The answer is the value.

    The newest execution is meant if it is that of `first_lost` or a later one: attempts that only looked have none.
    """
    try:
        with closing(run.open_session(run.connection)) as session:
            rows = rows_of(session, _catalog.search(package, common))
    except (ConnectionRefused, CatalogError) as error:
        return StepOutcome(succeeded=False, message=str(error))
    if not rows:
        return StepOutcome(succeeded=True, value=False, output="the catalog has no execution of this step")
    end = run.adopt(int(rows[0][0]))
    attempt = _catalog.attempt_of(str(rows[0][2]), common)
    if end.fatal or end.stopped or end.lost:
        return replace(end, succeeded=False)
    if end.succeeded and (attempt is None or attempt < first_lost):
        # What an attempt did before the step was begun anew proves nothing about the lost one.
        message = (
            f"the newest execution in the catalog is that of attempt {attempt}; lost were those from {first_lost} on"
        )
        return StepOutcome(succeeded=False, message=message, output=end.output)
    return StepOutcome(succeeded=True, value=end.succeeded, message=end.message, output=end.output)
