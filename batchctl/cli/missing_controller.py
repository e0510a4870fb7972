"""Said by every command that tells when something is due next: that nothing starts it while no controller is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from batchctl.app import App

TO_RUN = "batchctl run   (no controller is running that starts what is due)"


def to_run(app: App) -> tuple[str, ...]:
    """Return what to type so that what is due is started; nothing where a controller does it."""
    with app.transactions.read() as connection:
        return () if app.presence.firing(connection, app.clock.now()) else (TO_RUN,)
