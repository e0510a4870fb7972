"""A watched file that was corrected in place after its work had read it: the instance, and how to load it."""

from __future__ import annotations

from datetime import datetime

from batchctl.domain.rows import BatchInstance
from batchctl.domain.status import FINAL, InstanceStatus
from batchctl.domain.text import NAME_LIMIT, shorten, visible
from batchctl.domain.values import value

GOING_ON = {
    InstanceStatus.FAILED: "once the file is right: batchctl rerun {id} --reason ...",
    InstanceStatus.HELD: "once the file is right: batchctl rerun {id} --reason ...",
    InstanceStatus.PAUSED: "once the file is right: batchctl resume {id}",
    InstanceStatus.RETRY: "it is tried again by itself",
}
"""How a waiting instance goes on, and reads its file as it is then."""


@value
class CorrectedFile:
    """A file that has changed since the last attempt of its instance began."""

    instance: BatchInstance
    path: str
    corrected_at: datetime
    is_sent_whole: bool
    """True when no other instance of its `FileProcess` row is open: the row can be sent again."""

    @property
    def wording(self) -> str:
        """Describe what has happened to it."""
        when = f"{self.corrected_at:%Y-%m-%d %H:%M:%S} UTC, while BatchControl {self.instance.instance_id} waited"
        since = f"File {shorten(visible(self.path), NAME_LIMIT)} was corrected at {when}"
        if self.instance.status in FINAL:
            return f"{since}; no step has read it since, and nothing loads it by itself"
        return f"{since}: that reads it as it is now"

    @property
    def clear(self) -> str:
        """Return what to type so that it is loaded."""
        instance = self.instance
        if instance.status not in FINAL:
            return GOING_ON[instance.status].format(id=instance.instance_id)
        if self.is_sent_whole:
            return f"batchctl inbox resend {instance.intake_id} --reason ...   (loads the corrected file)"
        start = " --from SEQ" if instance.status is InstanceStatus.COMPLETE else ""
        return f"batchctl rerun {instance.instance_id}{start} --reason ...   (reads the corrected file)"
