"""The doors through which everything outside enters: time, transactions, executions, files, identifiers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Flag, StrEnum, auto
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from batchctl.domain.arrivals import FileNames, FolderListing, FoundFile
from batchctl.domain.commands import Identity
from batchctl.domain.errors import NoAnswer
from batchctl.domain.liveness import Sighting
from batchctl.domain.operators.agents_seen import AgentsSeen
from batchctl.domain.outcomes import Rendered, StepOutcome
from batchctl.domain.rows import (
    BatchDefinition,
    BatchId,
    ControllerRow,
    HistoryEntry,
    HistoryId,
    InstanceId,
    IntakeRow,
    Populated,
)
from batchctl.domain.rule_texts import HostNeeds
from batchctl.domain.values import value

if TYPE_CHECKING:
    from batchctl.plugin_api import StepHandler

Result = TypeVar("Result")
Answered = TypeVar("Answered")


class Boundary(StrEnum):
    """The commits of the engine, by name, so that a test can cut each one."""

    INTAKE = "C1"
    POPULATE = "C2"
    CLAIM = "C3"
    START = "C4"
    SPAWNED = "C5"
    HEARTBEAT = "C6"
    STEP_SUCCEEDED = "C7"
    STEP_FAILED = "C8"
    INSTANCE_DONE = "C9"
    SCHEDULE = "C10"
    OPERATOR = "C11"
    TAKEOVER = "C12"
    PURGE = "C13"
    MIGRATION = "C14"
    ALERT = "C15"
    SEAL = "C16"
    FORECAST = "C17"


class Change(Flag):
    """What others have written, as far as the database can tell."""

    NOTHING = 0
    INTAKE = auto()
    INSTANCES = auto()
    DEFINITIONS = auto()
    ANYTHING = INTAKE | INSTANCES | DEFINITIONS


class Clock(Protocol):
    """Time. `now` is the database's clock: it decides what is due and what is written."""

    def now(self) -> datetime:
        """Return the control database's present time, UTC, in milliseconds."""

    def monotonic(self) -> float:
        """Return seconds that never jump, for durations and deadlines of this program."""


@dataclass(frozen=True, slots=True)
class Notify:
    """Tells a waiting caller that somebody else has committed; it stays set until `Transactions.changed` is asked."""

    rings: Callable[[], bool]
    look_every: timedelta
    """How long a caller may wait between two looks at it."""
    descriptor: int | None = None
    """What becomes readable as soon as it may be set, where there is such a descriptor."""


class Transactions(Protocol):
    """The only way to the control database. `Any` is a SQLAlchemy connection that only store functions touch."""

    def read(self) -> AbstractContextManager[Any]:
        """Lend a connection for reading; every statement sees the newest committed state."""

    def run(self, boundaries: frozenset[Boundary], work: Callable[[Any], Result], *, nowait: bool = False) -> Result:
        """Run `work` in one write transaction and commit it.

        When the database is busy or a deadlock's victim, the whole of `work` is run again; it must be repeatable.
        With `nowait`, look for no locks beforehand and wait for one only a moment; then do not run it again, but
        raise `Conflict`. What is asked last may be sent only with the commit, and fail with it.
        """

    def changed(self) -> Change:
        """Say what anybody else may have written since this was last asked."""

    def notify(self) -> Notify | None:
        """Return what notifies when `changed` would be true; None without a connection. It is good for one wait."""


@dataclass(frozen=True, slots=True)
class Spawned:
    """A report: the execution now has a process or a session."""

    key: HistoryId
    identity: Identity


@value
class Wrote:
    """A report: what the execution has written since the last one; no secret stands in it."""

    key: HistoryId
    text: str


@value
class Finished:
    """A report: the execution has ended. `identity` is what it had, if anything."""

    key: HistoryId
    outcome: StepOutcome
    identity: Identity | None
    ended_at: datetime | None = None
    """When, by the `Clock`; the database may take the report much later. None: as it is recorded."""
    never_ran: bool = False
    """True when it could not be begun because this host or this worker lacked something: the step is put back."""
    may_go_on: bool = False
    """True when it was told to stop and did not end: nothing waits for it any more."""
    may_end_later: bool = False
    """True when how it ended may be heard of still: that is noted, and nothing follows from it."""


Report = Spawned | Wrote | Finished


class Trace(StrEnum):
    """What is found of an execution whose worker is dead."""

    ADOPTABLE = "adoptable"
    """It lives, or its end is known: `adopt` it."""
    NEVER_RAN = "never ran"
    """It was not begun and never will be, so it may be begun again whatever OnLost says."""
    GONE = "gone"
    """It is unknown how it ended, and nothing of it lives on this host."""
    UNSTARTED = "unstarted"
    """It was not begun; what would begin it lives, and will not once its worker's lease is over."""
    UNSEEN = "unseen"
    """This host has no record of it and sees nothing of it: only its controller's silence proves it gone."""
    LEFT_OVER = "left over"
    """It will never be known how it ended, and something of it may live on this host unwatched."""
    UNCLEAR = "unclear"
    """It may live or still be begun: examine it again later."""


class AskHandler(Protocol):
    """Asks a step handler something, which runs its code."""

    def __call__(
        self, handler: object, about: str, question: Callable[[], Answered], *, of: InstanceId | None = None
    ) -> Answered:
        """Return the answer. Raises `NoAnswer` or `CannotBegin` when none comes in time.

        `about` names what is asked about, and `of` the instance whose step it is, if that is known.
        """


def ask_straight(
    handler: object, about: str, question: Callable[[], Answered], *, of: InstanceId | None = None
) -> Answered:
    """Ask without a time limit."""
    del handler, about, of
    return question()


@dataclass(frozen=True, slots=True)
class Hang:
    """A question that a handler did not answer when it was last asked."""

    error: NoAnswer
    of: InstanceId | None
    """The instance whose step it was about, if that is known."""


class StepRunner(Protocol):
    """Carries executions. Nothing here blocks but `collect`, `close`, and what deals with a dead worker."""

    def start(self, key: HistoryId, handler: StepHandler, rendered: Rendered, *, lease_bound: bool = False) -> None:
        """Begin an execution; its end arrives through `collect`, also when it cannot begin.

        One that is `lease_bound` is stopped when its lease is not kept: another controller may begin it again.
        """

    def keep_lease(self, until: float) -> None:
        """Vouch for the lease-bound executions, own and adopted ones, until a time of the monotonic clock."""

    def recorded(self, keys: Collection[HistoryId]) -> None:
        """Take note that these ends are committed; whatever remembers them for the next worker may forget them."""

    def refuse(self, key: HistoryId, reason: str, *, put_back: bool = False) -> None:
        """Let an execution that could not be rendered end, through `collect`: as a fatal failure, or put back."""

    def collect(self, wait: timedelta, notify: Notify | None = None) -> Sequence[Report]:
        """Return what has been reported; waits at most `wait` for the first report, a `wake` or the notify."""

    def overhear(self) -> Sequence[Report]:
        """Return what has been reported since the last `collect`; waits for nothing, and carries nothing out."""

    def ask_for_output(self) -> bool:
        """Have what has been written since the last time reported by `collect`; false where nothing shows any yet."""

    def hasten(self) -> Sequence[Report]:
        """Carry out at once what is known to take a moment only, and report it; `collect` carries out the rest."""

    def wake(self) -> None:
        """End a waiting `collect` early; may be called from a signal handler."""

    def stop(self, key: HistoryId) -> None:
        """Tell an execution to stop: TERM to the tree, KILL after the grace time, interrupt to a session."""

    def let_go(self, key: HistoryId) -> bool:
        """Stop watching an execution, which goes on; false, and nothing changed, where it cannot go on alone."""

    def is_gone(self, controller: ControllerRow) -> bool:
        """Say whether this host can prove that a controller is dead."""

    def examine(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Trace:
        """Find out what has become of a dead worker's execution; this may take a look into the target database.

        Nothing of it is stopped: its worker may have been taken for dead wrongly.
        """

    def seen_alive(self, entry: HistoryEntry) -> Sequence[int]:
        """Return the process ids of what is seen alive on this host of an execution."""

    def stop_left_over(self, entry: HistoryEntry, handler: StepHandler, rendered: Rendered) -> Sequence[int]:
        """Stop what is left over of an execution whose claim this controller has; return the process ids found alive.

        This may take the grace time of a stop.
        """

    def adopt(
        self,
        key: HistoryId,
        handler: StepHandler,
        rendered: Rendered,
        entry: HistoryEntry,
        *,
        lease_bound: bool = False,
    ) -> None:
        """Take over an execution found adoptable; its end arrives through `collect`, with the time when it came."""

    def tidy(self, living: Collection[str], live: Collection[HistoryId]) -> None:
        """Forget the workers that are dead and not entered as `living`.

        Remember one that has an execution not recorded as ended (`live`).
        """

    def close(self, *, leave: bool = False) -> None:
        """End the child processes and threads. Executions still running are stopped, or commands left to go on."""


class PoolOfAgents(Protocol):
    """A pool whose steps agents carry, as far as claiming has to know it."""

    def room_for(self, needs: HostNeeds | None) -> int:
        """Return how many steps more the agents can take that need the same."""

    def can_take(self, instance_id: InstanceId, needs: HostNeeds | None) -> bool:
        """Say whether an agent can take the step of an instance, or keeps a slot for it already."""

    def take_new_room(self) -> bool:
        """Say whether there is more room than when this was last asked."""

    def seen(self) -> AgentsSeen:
        """Return what is known of the agents, for people."""


@value
class Populating:
    """The result of asking a batch's populator about a row: the values, or the reason why there are none."""

    row: IntakeRow
    """The row as it was when the populator was asked."""
    batch_id: BatchId
    values: Populated | str
    hung: bool = False
    """True when it took too long and was stopped: next time it may answer."""


class PopulatorRunner(Protocol):
    """Calls populators where they can harm nothing else. Nothing here blocks but `populate` and `wait`."""

    def populate(self, populator: str, row: IntakeRow, batch: BatchDefinition) -> Populated:
        """Call a populator with a time limit; raises `CannotPopulate` with the reason, whatever went wrong."""

    def ask(self, row: IntakeRow, batch: BatchDefinition) -> Populated | None:
        """Return the values that take no time; others are asked for aside, and come with `answers`.

        The rows of one populator are answered in the order in which they were asked about. Raises `CannotPopulate`.
        """

    def has_room(self, batch: BatchDefinition) -> bool:
        """Say whether a batch's populator may be asked about another row now."""

    def is_stuck(self, batch: BatchDefinition) -> bool:
        """Say whether every question to a batch's populator has to wait for one that takes long."""

    def answers(self) -> Sequence[Populating]:
        """Return the answers that have come."""

    @property
    def has_answers(self) -> bool:
        """Say whether any answer has come."""

    def wait(self) -> None:
        """Wait for an answer, or for one to take long, if any is to come."""

    def close(self) -> None:
        """End the child processes."""


@value
class Answer:
    """The answer to a question: what was asked for, or why there is no answer."""

    key: int
    found: Any = None
    error: Exception | None = None


class Inquiries(Protocol):
    """Asks what may take its time, such as another database, a few questions at once. Nothing here blocks but `wait`."""

    def ask(self, key: int, question: Callable[[], Any]) -> bool:
        """Ask; false, and nothing done, while the same is still being asked. Whatever the question raises is its answer."""

    def answers(self) -> Sequence[Answer]:
        """Return the answers that have come, and, once for each question that takes too long, that it does."""

    @property
    def is_busy(self) -> bool:
        """Say whether answers are still to come; a question that takes too long is not waited for."""

    def wait(self, at_most: timedelta | None = None) -> None:
        """Wait until there is something to return, if anything is to come; for so long, where a limit is given."""


class Sightings(Protocol):
    """What this host has seen of other controllers' signs of life, by its own monotonic clock, at earlier starts."""

    def recall(self) -> Mapping[str, Sighting]:
        """Return by name of the controller what was noted, if the clock still is the same."""

    def note(self, sightings: Mapping[str, Sighting]) -> None:
        """Note what is known now."""


@value
class FolderWalk:
    """A walk through a folder that is wanted. What it asks with is called on a thread."""

    key: int
    """Whose it is; what comes of it bears the same."""
    number: int
    """Counts the walks of one key."""
    folder: str
    is_recursive: bool
    names: FileNames
    row_of: Callable[[FoundFile], int | None]
    """Return the row that remembers a file as it stands: it was taken, and is not returned again."""
    most: int
    """How many files are returned at most; the others are left to a later walk."""
    tells_all: bool = False
    """True to report also what is passed over, and why."""


@value
class FolderPage:
    """A report: what was found on a part of a walk."""

    key: int
    listing: FolderListing
    files: Sequence[FoundFile]
    """What counts and is not remembered; with a marker beside it, where the watch takes one."""
    remembered: Collection[int]
    """The rows of what was found as it is remembered."""
    passed_over: Sequence[tuple[str, str]]
    entries: int
    """How many entries of any kind the walk has met so far."""
    walk_begun: float
    is_last: bool = False
    failure: str | None = None
    """On the last page: what could not be listed, and what to do."""
    is_whole: bool = False
    """On the last page: whether nothing at all was left out."""


@value
class Inspected:
    """A report: what a closer look at a file has shown."""

    key: int
    file: FoundFile
    digest: str | None = None
    is_changed: bool = False
    """True when it is not any more as it was listed, or somebody still has it open."""
    failure: str | None = None
    """Why it cannot be read."""


FolderReport = FolderPage | Inspected


class Folders(Protocol):
    """Lists folders on threads, one for each key: a share that does not answer delays no other."""

    def walk(self, walk: FolderWalk) -> None:
        """Begin a walk; what it finds arrives through `collect`."""

    def inspect(self, key: int, folder: str, file: FoundFile, *, content: bool) -> None:
        """Look whether a file still is as it was listed, and read it all for its digest where the `content` is wanted.

        A huge file keeps the others of its folder waiting for a moment only.
        """

    def collect(self, wait: timedelta = timedelta(0)) -> Sequence[FolderReport]:
        """Return what has been reported; waits at most `wait` for the first report."""

    def failures_with(self, folders: Collection[str], within: timedelta) -> Mapping[str, str]:
        """Say of each folder that cannot be listed on this host, or does not answer in time, why that is so."""

    def leave(self, key: int) -> None:
        """Take no interest in a key any more."""

    def close(self) -> None:
        """Let the threads end; one that waits for a share is left to it."""


class Ids(Protocol):
    """Identities of this run of the program."""

    def controller_id(self) -> str:
        """Return an id that no other start of any controller has."""

    def host(self) -> str:
        """Return this machine's name."""

    def process(self) -> Identity:
        """Return what tells this process from any other that ever ran."""

    def user(self) -> str:
        """Return the operating-system user's name."""

    def token(self, length: int) -> str:
        """Return so many random bytes as hexadecimal digits, fit to keep a door shut."""


class Files(Protocol):
    """The few files that are read besides the databases."""

    def read_text(self, path: str) -> str:
        """Read a UTF-8 file."""

    def exists(self, path: str) -> bool:
        """Say whether a regular file is there."""


Glance = Callable[[Collection[str]], Collection[str]]
"""A short look for files that may lie on a share which does not answer: returns those that are certainly not there."""
