"""What people do about FileProcess rows that are no work, and where nothing new is to begin."""

from __future__ import annotations

from collections.abc import Callable

from batchctl.app import App
from batchctl.domain.operators.pools import Place, wording
from batchctl.domain.operators.request_verbs import AskedAct, Verb
from batchctl.domain.rows import IntakeId
from batchctl.domain.text import visible
from batchctl.operations import shown_columns
from batchctl.operations.clerk import Clerk, MovedRow
from batchctl.operations.operators.pooling import Drainer
from batchctl.web.wishes import ActOutcome, Asks, ConsoleAct, Subject, Wish


def _move(move: Callable[[Clerk, IntakeId, str], MovedRow]) -> Callable[[App, Wish], ActOutcome]:
    def carry(app: App, wish: Wish) -> ActOutcome:
        at = IntakeId(wish.row_id)
        done = move(_clerk(app, wish), at, wish.why)
        was, became = ("is", "would be") if wish.dry_run else ("was", "is")
        first = f"FileProcess {at} {was} {done.before.status} and {became} {done.status}."
        if done.before.status is done.status:
            first = f"FileProcess {at} is {done.status} already, and {became} so for your reason."
        return ActOutcome(
            lines=[first],
            alarming=[] if done.untaken is None else [done.untaken],
            columns={
                "FileProcess_id": at,
                "Before": done.before.status.value,
                "Status": done.status.value,
                "Batches": list(done.batches),
                "DryRun": wish.dry_run,
            },
            where=f"/file-processes/{at}",
        )

    return carry


def _resend(app: App, wish: Wish) -> ActOutcome:
    done = _clerk(app, wish).resend(IntakeId(wish.row_id), reason=wish.why)
    row = "A FileProcess row would be inserted" if done.intake_id is None else f"FileProcess {done.intake_id} is there"
    taken = f" Taken by: {', '.join(map(visible, done.batches))}." if done.batches else ""
    return ActOutcome(
        lines=[f"{row}: submission {done.number} of FileProcess {done.first}.{taken}"],
        columns={
            "FileProcess_id": done.intake_id,
            "First": done.first,
            "Number": done.number,
            "Batches": list(done.batches),
            "DryRun": wish.dry_run,
        },
        where="/inbox" if done.intake_id is None else f"/file-processes/{done.intake_id}",
    )


def _clerk(app: App, wish: Wish) -> Clerk:
    return Clerk(**app.acting(dry_run=wish.dry_run), zone=app.settings.zone)


def _drain(place: Callable[[str], Place]) -> Callable[[App, Wish], ActOutcome]:
    def carry(app: App, wish: Wish) -> ActOutcome:
        done = Drainer(app.actor(dry_run=wish.dry_run)).drain(None, place(wish.key), reason=wish.why)
        would = "Would be drained" if wish.dry_run else "Drained"
        first = f"{would}: {done.drain.place}." if done.is_new else f"It is drained already: {wording(done.drain)}."
        return ActOutcome(
            lines=[first, f"Nothing new begins there; instances with a step under way there: {done.under_way}."],
            alarming=[] if done.unknown_host is None else [done.unknown_host],
            columns={**shown_columns.of(done.drain), "New": done.is_new, "UnderWay": done.under_way},
            where="/controllers",
        )

    return carry


def _undrain(place: Callable[[str], Place]) -> Callable[[App, Wish], ActOutcome]:
    def carry(app: App, wish: Wish) -> ActOutcome:
        done = Drainer(app.actor(dry_run=wish.dry_run)).undrain(None, place(wish.key), reason=wish.why)
        would, verb = ("Would be undrained", "is") if wish.dry_run else ("Undrained", "was")
        ended = [f"{would}: {wording(one, verb)}." for one in done.drains]
        return ActOutcome(
            lines=ended or [f"The {done.place} is not drained: there is nothing to end."],
            columns={"Undrained": [shown_columns.of(one) for one in done.drains]},
            where="/controllers",
        )

    return carry


def _asks_of_row(verb: Verb) -> Asks:
    return lambda wish: AskedAct(verb=verb, arguments={"file": wish.row_id}, reason=wish.reason)


def _asks_of_place(verb: Verb, called: str) -> Asks:
    return lambda wish: AskedAct(verb=verb, arguments={called: wish.key}, reason=wish.reason)


def _of_place(subject: Subject, place: Callable[[str], Place]) -> tuple[ConsoleAct, ConsoleAct]:
    called = subject.one
    return (
        ConsoleAct(
            subject,
            "drain",
            f"Let nothing new begin there until the {called} is undrained; what runs there ends.",
            _drain(place),
            needs_reason=True,
            asks=_asks_of_place(Verb.DRAIN, called),
        ),
        ConsoleAct(
            subject,
            "undrain",
            f"End the drain of the {called}: steps begin there again.",
            _undrain(place),
            needs_reason=True,
            asks=_asks_of_place(Verb.UNDRAIN, called),
        ),
    )


VERBS = (
    ConsoleAct(
        Subject.FILE_PROCESSES,
        "retry",
        "Make a rejected, duplicate or paused row ready again, as if it had just arrived: correct first what was wrong.",
        _move(lambda by, at, reason: by.retry(at, reason=reason)),
        needs_reason=True,
        asks=_asks_of_row(Verb.RETRY),
    ),
    ConsoleAct(
        Subject.FILE_PROCESSES,
        "reject",
        "Reject a row that is not wanted and is not work yet: nothing comes of it.",
        _move(lambda by, at, reason: by.reject(at, reason=reason)),
        needs_reason=True,
        asks=_asks_of_row(Verb.REJECT),
    ),
    ConsoleAct(
        Subject.FILE_PROCESSES,
        "resend",
        "Insert the row once more, on purpose: the new one is no duplicate of any other.",
        _resend,
        needs_reason=True,
        asks=_asks_of_row(Verb.RESEND),
    ),
    *_of_place(Subject.HOSTS, Place),
    *_of_place(Subject.POOLS, lambda name: Place(None, name)),
)
