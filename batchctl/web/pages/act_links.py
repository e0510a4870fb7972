"""Which acts a page leads to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import quote

from batchctl.domain.operators.pools import Drain
from batchctl.web.act_table import ACTS, verb_of
from batchctl.web.page import ActLink
from batchctl.web.wishes import Subject


def acts_about(
    subject: Subject, key: str | int, names: Iterable[str] | None = None, tags: Sequence[str] = ()
) -> list[ActLink]:
    """Return the buttons of the acts about a row that make sense now; without names, of all there are."""
    of_subject = (verb.name for verb in ACTS.values() if verb.subject is subject and not verb.makes_row)
    return [_act(subject, key, name, tags) for name in (of_subject if names is None else names)]


def _act(subject: Subject, key: str | int, name: str, tags: Sequence[str] = ()) -> ActLink:
    address = f"/{subject}/{quote(str(key), safe='')}/{name}"
    return ActLink(name.capitalize(), address, verb_of(subject, name).right, tags)


def thaw(freeze_id: int) -> ActLink:
    """Return the button that ends a freeze."""
    return _act(Subject.FREEZES, freeze_id, "thaw")


def undrain(drain: Drain) -> ActLink:
    """Return the button that ends a drain."""
    if drain.host is not None:
        return _act(Subject.HOSTS, drain.host, "undrain")
    return _act(Subject.POOLS, drain.pool or "", "undrain")


SUBMIT = ActLink("Submit a row", f"/new/{Subject.FILE_PROCESSES}", ACTS[Subject.FILE_PROCESSES, "submit"].right)
FREEZE = ActLink("Freeze", f"/new/{Subject.FREEZES}", ACTS[Subject.FREEZES, "freeze"].right)
