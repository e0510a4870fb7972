"""What people do to one instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from batchctl.app import App
from batchctl.domain.operators.request_verbs import AskedAct, Verb
from batchctl.domain.rows import InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.domain.text import capitalized, visible
from batchctl.operations import inspection
from batchctl.operations.decisions import Action
from batchctl.operations.intervene import ANYHOW, AsShown, Intervention, Operator
from batchctl.web.wishes import ActOutcome, Asks, ConsoleAct, FieldKind, FormField, Subject, Value, Wish

DATA = tuple(f"Data{at}" for at in range(1, 7))
_FROM = "from_seq"
_BY_STATUS = {Action.PAUSE, Action.RESUME, Action.CANCEL}
"""What may be done to an instance that has gone on meanwhile, if only its status is the one that was shown."""

Act = Callable[[Operator, InstanceId, Wish, AsShown], Intervention]


def _verb(action: Action, says: str, act: Act, *, needs_reason: bool) -> ConsoleAct:
    def carry(app: App, wish: Wish) -> ActOutcome:
        return _outcome(act(app.operator(dry_run=wish.dry_run), InstanceId(wish.row_id), wish, _seen(wish)))

    asks = _asks(Verb(action.value))
    return ConsoleAct(Subject.INSTANCES, action.value, says, carry, needs_reason=needs_reason, asks=asks)


def _asks(verb: Verb) -> Asks:
    def asks(wish: Wish) -> AskedAct:
        begin = {} if _FROM not in wish.values else {"from": wish.number(_FROM)}
        corrected = {name: wish.text(name) for name in DATA if name in wish.values}
        seen = _seen(wish)
        still = {
            **({} if seen.status is None else {"status": seen.status.value}),
            **({} if seen.mark is None else {"mark": seen.mark}),
        }
        at, arguments = InstanceId(wish.row_id), {**begin, **corrected, **still}
        return AskedAct(verb=verb, instance_id=at, arguments=arguments, reason=wish.reason)

    return asks


def _seen(wish: Wish) -> AsShown:
    return wish.seen if isinstance(wish.seen, AsShown) else ANYHOW


def _rerun(app: App, wish: Wish) -> ActOutcome:
    operator, at = app.operator(dry_run=wish.dry_run), InstanceId(wish.row_id)
    begin = dict(_beginning(operator, at, wish)) if wish.dry_run else {}
    done = operator.rerun(
        at,
        reason=wish.why,
        from_seq=Wish(values={**begin, **wish.values}).number(_FROM),
        corrections={name: wish.text(name) for name in DATA if name in wish.values},
        seen=_seen(wish),
    )
    return _outcome(done, begin)


def _beginning(operator: Operator, at: InstanceId, wish: Wish) -> Iterator[tuple[str, Value]]:
    """Let what is complete begin with its first step, where nothing else was said."""
    shown = inspection.show(operator.transactions, at) if _FROM not in wish.values else None
    if shown is not None and shown.instance.status is InstanceStatus.COMPLETE and shown.steps:
        yield _FROM, shown.steps[0].step.seq


def _outcome(done: Intervention, filled: dict[str, Any] | None = None) -> ActOutcome:
    lost = [] if done.at_work_still is None else [f"{capitalized(done.at_work_still)}."]
    misread = [f"{visible(one.message)} {visible(one.next_step or '')}" for one in done.misread]
    became = f"BatchControl {done.before.instance_id} is now {done.after.status}, and was {done.before.status}."
    return ActOutcome(
        lines=[*([] if done.dry_run else [became]), *([f"Note: {done.in_vain}"] if done.in_vain else [])],
        alarming=[*lost, *misread],
        columns=done.columns(),
        where=f"/instances/{done.before.instance_id}",
        seen=_shown(done),
        filled=filled or {},
        planned=done,
    )


def _shown(done: Intervention) -> AsShown:
    """Return how the instance stands that a person is shown, as far as the act goes by it."""
    if done.question is not None:
        return AsShown(mark=done.question.mark)
    return AsShown(done.before.status, None if done.action in _BY_STATUS else done.before.mark)


VERBS = (
    ConsoleAct(
        Subject.INSTANCES,
        Action.RERUN.value,
        "Run the instance again, from the step that failed or from another.",
        _rerun,
        fields=(
            FormField(_FROM, "Begin with step", FieldKind.NUMBER, hint="the one that failed"),
            *(FormField(name, name, FieldKind.LONG) for name in DATA),
        ),
        needs_reason=True,
        asks=_asks(Verb.RERUN),
    ),
    _verb(
        Action.SKIP,
        "Go on without the step that is next.",
        lambda operator, at, wish, seen: operator.skip(at, reason=wish.why, seen=seen),
        needs_reason=True,
    ),
    _verb(
        Action.PAUSE,
        "Start nothing more of the instance; a step that runs ends first.",
        lambda operator, at, wish, seen: operator.pause(at, reason=wish.reason, seen=seen),
        needs_reason=False,
    ),
    _verb(
        Action.RESUME,
        "Let the instance go on where it stood.",
        lambda operator, at, wish, seen: operator.resume(at, reason=wish.reason, seen=seen),
        needs_reason=False,
    ),
    _verb(
        Action.CANCEL,
        "Give the instance up; a step that runs is stopped.",
        lambda operator, at, wish, seen: operator.cancel(at, reason=wish.why, seen=seen),
        needs_reason=True,
    ),
    _verb(
        Action.CONFIRM,
        "Answer yes to the question that the instance waits with: it goes on behind the step.",
        lambda operator, at, wish, seen: operator.confirm(at, reason=wish.reason, seen=seen),
        needs_reason=False,
    ),
    _verb(
        Action.REFUSE,
        "Answer no: the step has failed, without a retry.",
        lambda operator, at, wish, seen: operator.refuse(at, reason=wish.why, seen=seen),
        needs_reason=True,
    ),
)
