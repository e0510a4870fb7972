"""What this host knows about controllers."""

from __future__ import annotations

from batchctl.domain.commands import Identity
from batchctl.domain.rows import ControllerRow
from batchctl.system.host import platform


def is_gone(controller: ControllerRow) -> bool:
    """Say whether a controller ran where this program sees every process, and its process is not there any more."""
    return platform.has_ended(Identity(pid=controller.pid, pid_start=controller.pid_start, boot_id=controller.boot_id))
