"""What people do on a page: the same verbs as on the command line, each with its reason and its row in the audit log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from batchctl.domain.errors import Refused
from batchctl.domain.rows import BatchInstance, InstanceId
from batchctl.domain.status import InstanceStatus
from batchctl.operations import inspection
from batchctl.operations.decisions import Action
from batchctl.operations.intervene import Intervention, Operator

SAYS = {
    Action.RERUN: "Run the instance again, from the step that failed or from another.",
    Action.SKIP: "Go on without the step that is next.",
    Action.PAUSE: "Start nothing more of the instance; a step that runs ends first.",
    Action.RESUME: "Let the instance go on where it stood.",
    Action.CONFIRM: "Answer yes to the question that the instance waits with: it goes on behind the step.",
    Action.REFUSE: "Answer no: the step has failed, without a retry.",
    Action.CANCEL: "Give the instance up; a step that runs is stopped.",
}
"""What each act does, on its page."""
NEEDS_REASON = frozenset({Action.RERUN, Action.SKIP, Action.CANCEL, Action.REFUSE})
DATA = tuple(f"Data{at}" for at in range(1, 7))


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person has filled in."""

    action: Action
    instance_id: InstanceId
    reason: str | None
    from_seq: int | None = None
    corrections: Mapping[str, str | None] | None = None


def wish_of(action: Action, instance_id: InstanceId, form: Mapping[str, str]) -> Wish:
    """Read a form; an empty field is one that was not filled in."""
    filled = {name: text for name, text in form.items() if text.strip()}
    seq = filled.get("from_seq", "").strip()
    if seq and not (seq.isascii() and seq.isdecimal() and len(seq) < 10):
        raise Refused(
            "The number of the step is no number.", next_step="write one of the numbers on the instance's page"
        )
    return Wish(
        action=action,
        instance_id=instance_id,
        reason=filled.get("reason"),
        from_seq=int(seq) if seq else None,
        corrections={name: filled[name] for name in DATA if name in filled},
    )


def needed_reason(text: str | None) -> str:
    """Return the reason of an act that needs one."""
    if text is None or not text.strip():
        raise Refused("The reason is empty; say why, so that others understand it later.", next_step="fill it in")
    return text.strip()


def carry_out(operator: Operator, wish: Wish, seen: BatchInstance | None = None) -> Intervention:
    """Do what a person wishes, or only look at it where the operator does.

    A rerun is refused when the instance differs from `seen`, as it was shown with the form.
    """
    if wish.action in NEEDS_REASON and not operator.dry_run:
        needed_reason(wish.reason)
    at, reason = wish.instance_id, wish.reason
    match wish.action:
        case Action.RERUN:
            why = reason or _NOT_YET
            values = wish.corrections
            return operator.rerun(at, reason=why, from_seq=wish.from_seq, corrections=values, seen=seen)
        case Action.SKIP:
            return operator.skip(at, reason=reason or _NOT_YET)
        case Action.CANCEL:
            return operator.cancel(at, reason=reason or _NOT_YET)
        case Action.CONFIRM:
            return operator.confirm(at, reason=reason)
        case Action.REFUSE:
            return operator.refuse(at, reason=reason or _NOT_YET)
        case Action.PAUSE:
            return operator.pause(at, reason=reason)
        case Action.RESUME:
            return operator.resume(at, reason=reason)


def plan(operator: Operator, wish: Wish) -> tuple[Wish, Intervention]:
    """Return what a wish would do, without its corrections; what is complete begins with its first step."""
    look = replace(wish, corrections={})
    if wish.action is Action.RERUN and wish.from_seq is None:
        shown = inspection.show(operator.transactions, wish.instance_id)
        if shown.instance.status is InstanceStatus.COMPLETE and shown.steps:
            wish, look = (replace(one, from_seq=shown.steps[0].step.seq) for one in (wish, look))
    return wish, carry_out(operator, look)


_NOT_YET = "(dry run)"
"""The reason of what is only looked at: it is not kept."""
