"""All that people can do from the console, in one table: forms and REST go by it."""

from __future__ import annotations

from collections.abc import Mapping

from batchctl.domain.errors import NotFound
from batchctl.domain.text import visible
from batchctl.web.verbs import batch_verbs, desk_verbs, incident_verbs, instance_verbs, start_verbs
from batchctl.web.wishes import ConsoleAct, Subject

ACTS: Mapping[tuple[Subject, str], ConsoleAct] = {
    (verb.subject, verb.name): verb
    for verb in (
        *instance_verbs.VERBS,
        *batch_verbs.VERBS,
        *incident_verbs.VERBS,
        *start_verbs.VERBS,
        *desk_verbs.VERBS,
    )
}


def verb_of(subject: Subject, name: str) -> ConsoleAct:
    """Return what is done to a row under a name; raises `NotFound`."""
    found = ACTS.get((subject, name))
    if found is None or found.makes_row:
        known = ", ".join(verb.name for verb in ACTS.values() if verb.subject is subject and not verb.makes_row)
        raise NotFound(f"There is no act '{visible(name)}' about {subject}.", next_step=f"one of {known}")
    return found
