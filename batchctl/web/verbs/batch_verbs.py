"""What people do to batches: switch them on and off, freeze and thaw them."""

from __future__ import annotations

from dataclasses import replace

from batchctl.app import App
from batchctl.domain.errors import InvalidInput
from batchctl.domain.operators.freezes import Scope, planned, wording
from batchctl.domain.operators.release import MEANINGS, MOST_PER_MINUTE, MOST_UNASKED, Choice, Release
from batchctl.domain.operators.request_verbs import AskedAct, Verb
from batchctl.domain.rows import FreezeId
from batchctl.domain.text import visible
from batchctl.operations.intervene import Switching
from batchctl.operations.operators.freezing import TO_SAY_LATER, TO_SAY_UNTIL, Freezer, Frozen, Thawed
from batchctl.operations.operators.releasing import TO_CHOOSE, TO_CHOOSE_UNMADE, TO_MAKE, Released
from batchctl.web.page import batch_page
from batchctl.web.wishes import ActOutcome, Asks, ConsoleAct, FieldKind, FormField, Subject, Wish

_RELEASE = (
    FormField("release", "What becomes of those that wait", choices=tuple(Release), meanings=MEANINGS),
    FormField("throttle", "At most so many a minute, for throttle", FieldKind.NUMBER),
)
_UNTIL = FormField("until", "Until", hint="2h, 30m, 3d, or a time in UTC")
_BY_FIELDS = {
    TO_CHOOSE: "choose what becomes of those that wait ('release'): all, latest, none or throttle",
    TO_CHOOSE_UNMADE: f"choose all ('release'); for latest, none or throttle: {TO_MAKE}",
    TO_SAY_UNTIL: "write 2h into 'until', or leave it empty: it is frozen until somebody thaws it",
    TO_SAY_LATER: "write a later time into 'until', or leave it empty",
}


def _choice(wish: Wish) -> Choice | None:
    """Return what is to become of what has waited: more than was seen must not start."""
    release, throttle = wish.text("release"), wish.number("throttle")
    if (release == Release.THROTTLE) != (throttle is not None) or throttle == 0 or (throttle or 0) > MOST_PER_MINUTE:
        message = f"A throttle needs a number from 1 to {MOST_PER_MINUTE}, and a number needs throttle."
        raise InvalidInput(message, next_step="correct the two fields")
    if release is None:
        return None
    shown = wish.seen if isinstance(wish.seen, frozenset) else None
    return Choice(release=Release(release), per_minute=throttle, seen=shown)


def _enable(app: App, wish: Wish) -> ActOutcome:
    choice, operator = _choice(wish), app.operator(dry_run=wish.dry_run)
    return _switched(operator.set_enabled(wish.key, enabled=True, reason=wish.reason, choice=choice))


def _disable(app: App, wish: Wish) -> ActOutcome:
    return _switched(app.operator(dry_run=wish.dry_run).set_enabled(wish.key, enabled=False, reason=wish.reason))


def _switched(done: Switching) -> ActOutcome:
    word = "enabled" if done.enabled else "disabled"
    already = done.enabled_before is done.enabled
    would = "is" if already else "would be" if done.dry_run else "is now"
    return ActOutcome(
        lines=[f"Batch {visible(done.batch)} {would} {word}{' already' if already else ''}.", *_waited(done.released)],
        alarming=[
            *(f"{one.message}: {one.mend}" for one in done.missing),
            *(f"{one.message} {one.next_step or ''}" for one in done.misread),
        ],
        columns={
            "ProcessBatchName": done.batch,
            "EnabledBefore": done.enabled_before,
            "Enabled": done.enabled,
            "DryRun": done.dry_run,
            "Waited": None if done.released is None else done.released.columns(),
        },
        where=batch_page(done.batch),
        seen=_shown(done.released),
        needed=_needed(done.released),
    )


def _waited(released: Released | None) -> list[str]:
    if released is None:
        return []
    return [released.backlog.wording, *([] if released.wording is None else [released.wording])]


def _shown(released: Released | None) -> object:
    return None if released is None else released.backlog.ids


def _needed(released: Released | None) -> frozenset[str]:
    """Return the field without which what waits is not let go."""
    return frozenset({"release"} if released is not None and released.backlog.total > MOST_UNASKED else ())


def _freeze_batch(app: App, wish: Wish) -> ActOutcome:
    return replace(_freeze(app, Scope(batch=wish.key), wish), where=batch_page(wish.key))


def _freeze_scope(app: App, wish: Wish) -> ActOutcome:
    return _freeze(app, Scope(batch=wish.text("batch"), tag=wish.text("tag")), wish)


def _freeze(app: App, scope: Scope, wish: Wish) -> ActOutcome:
    done: Frozen = Freezer(app.actor(dry_run=wish.dry_run)).freeze(scope, reason=wish.why, until=wish.text("until"))
    if not done.is_new:
        first = f"It is frozen already: {wording(done.freeze)}."
    else:
        first = f"Would be frozen: {planned(done.freeze)}." if done.dry_run else f"Frozen: {wording(done.freeze)}."
    many = len(done.batches)
    return ActOutcome(
        lines=[first, f"What runs ends; nothing new starts in {many} batch{'' if many == 1 else 'es'}."],
        columns=done.columns(),
        where="/",
    )


def _thaw_batch(app: App, wish: Wish) -> ActOutcome:
    return replace(_thaw(app, Scope(batch=wish.key), wish), where=batch_page(wish.key))


def _thaw_row(app: App, wish: Wish) -> ActOutcome:
    return _thaw(app, FreezeId(wish.row_id), wish)


def _thaw(app: App, of: Scope | FreezeId, wish: Wish) -> ActOutcome:
    choice = _choice(wish)
    done: Thawed = Freezer(app.actor(dry_run=wish.dry_run)).thaw(of, reason=wish.why, choice=choice)
    would, verb = ("Would be thawed", "is") if done.dry_run else ("Thawed", "was")
    thawed = [f"{would}: {wording(one, verb)}." for one in done.freezes]
    return ActOutcome(
        lines=[*(thawed or ["Nothing of that is frozen: there is nothing to thaw."]), *_waited(done.released)],
        alarming=[f"Batch {visible(name)} stays frozen: {wording(held)}." for name, held in done.still],
        columns=done.columns(),
        where="/",
        seen=_shown(done.released),
        needed=_needed(done.released),
    )


def _asks_of_batch(verb: Verb) -> Asks:
    return lambda wish: AskedAct(verb=verb, batch=wish.key, arguments=_arguments(wish), reason=wish.reason)


def _asks_of_scope(wish: Wish) -> AskedAct:
    arguments = _arguments(wish) | ({} if wish.text("tag") is None else {"tag": wish.text("tag")})
    return AskedAct(verb=Verb.FREEZE, batch=wish.text("batch"), arguments=arguments, reason=wish.reason)


def _asks_of_row(wish: Wish) -> AskedAct:
    return AskedAct(verb=Verb.THAW, arguments={"id": wish.row_id, **_arguments(wish)}, reason=wish.reason)


def _arguments(wish: Wish) -> dict[str, str | int | bool | None]:
    return {name: wish.values[name] for name in ("release", "throttle", "until") if name in wish.values}


VERBS = (
    ConsoleAct(
        Subject.BATCHES,
        "enable",
        "Switch the batch on: its instances may start.",
        _enable,
        _RELEASE,
        asks=_asks_of_batch(Verb.ENABLE),
        next_steps=_BY_FIELDS,
    ),
    ConsoleAct(
        Subject.BATCHES,
        "disable",
        "Switch the batch off: its instances are created and wait; a step that runs ends first.",
        _disable,
        asks=_asks_of_batch(Verb.DISABLE),
    ),
    ConsoleAct(
        Subject.BATCHES,
        "freeze",
        "Let nothing new start in the batch, whether it is enabled or not; what runs ends.",
        _freeze_batch,
        (_UNTIL,),
        needs_reason=True,
        asks=_asks_of_batch(Verb.FREEZE),
        next_steps=_BY_FIELDS,
    ),
    ConsoleAct(
        Subject.BATCHES,
        "thaw",
        "End the freeze of the batch: what has waited may start.",
        _thaw_batch,
        _RELEASE,
        needs_reason=True,
        asks=_asks_of_batch(Verb.THAW),
        next_steps=_BY_FIELDS,
    ),
    ConsoleAct(
        Subject.FREEZES,
        "freeze",
        "Let nothing new start: in one batch, in those with a tag, or, without either, anywhere.",
        _freeze_scope,
        (FormField("batch", "Only this batch"), FormField("tag", "Only the batches with this tag"), _UNTIL),
        needs_reason=True,
        makes_row=True,
        asks=_asks_of_scope,
        next_steps=_BY_FIELDS,
    ),
    ConsoleAct(
        Subject.FREEZES,
        "thaw",
        "End the freeze: what has waited may start.",
        _thaw_row,
        _RELEASE,
        needs_reason=True,
        asks=_asks_of_row,
        next_steps=_BY_FIELDS,
    ),
)
