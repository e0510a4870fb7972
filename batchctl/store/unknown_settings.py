"""Rows of `Setting` that do nothing, such as one with a misspelt name that somebody relies on."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, select

from batchctl.domain.maintenance import retention
from batchctl.domain.maintenance.retention import SettingFinding
from batchctl.domain.text import did_you_mean
from batchctl.store import identity, limits, task_queues
from batchctl.store.tables import setting

KNOWN = (identity.DATABASE_ID, limits.MAX_CONCURRENT, task_queues.ROLES, *retention.NAMES)
"""Every name that means something."""
_UNKNOWN = select(setting.c.Name).where(setting.c.Name.not_in(KNOWN)).order_by(setting.c.Setting_id)


def read(connection: Connection) -> Iterator[SettingFinding]:
    """Yield a finding for each; what is wrong with a rule of retention is reported with the rules."""
    for name in map(str, connection.execute(_UNKNOWN).scalars()):
        if retention.meant_setting(name) is None:
            said = did_you_mean(name, KNOWN)
            if name.partition(":")[0] == retention.FAILED_DAYS:
                said = " Failed instances are never purged: somebody has to rerun or cancel them."
            yield SettingFinding(name, "Name", f"There is no such setting, so the row does nothing.{said}")
