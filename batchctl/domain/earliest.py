"""When something may start at the earliest, by the gates that block it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from batchctl.domain.gates import Ends, Gate
from batchctl.domain.values import value

NOW = "now"


@value
class Earliest:
    """Not before a time, and perhaps not before something else either."""

    at: datetime | None
    """Before when it does not start; None where no gate gives a time."""
    needs: tuple[Ends, ...] = ()
    """What has to happen besides: that time alone does not let it start."""
    is_now: bool = False

    def __str__(self) -> str:
        """Return it in words."""
        if self.is_now:
            return NOW
        then = " and ".join(self.needs)
        if self.at is None:
            return then
        shown = f"{self.at:%Y-%m-%d %H:%M:%S} UTC"
        return f"not before {shown}, {then}" if then else shown


def earliest(gates: Sequence[Gate]) -> Earliest:
    """Work it out from all gates of an instance or a batch."""
    blocking = [gate for gate in gates if gate.blocked is not None]
    if not blocking:
        return Earliest(None, is_now=True)
    ends = {gate.ends for gate in blocking}
    needs = tuple(end for end in (Ends.CONTROLLER, Ends.HOLDER, Ends.ACT) if end in ends)
    return Earliest(max((gate.until for gate in blocking if gate.until is not None), default=None), needs)
