"""What every command says whose work a controller takes up: that nothing happens while none is running."""

from __future__ import annotations

from batchctl import app

TO_RUN = "batchctl run   (no controller is running that starts what is due)"

TO_TAKE = "batchctl run   (no controller is running that takes it)"


def to_run(app: app.App) -> tuple[str, ...]:
    """Return what to type so that what is due is started; nothing where a controller does it."""
    with app.transactions.read() as connection:
        return () if app.presence.firing(connection, app.clock.now()) else (TO_RUN,)


def to_take(app: app.App) -> tuple[str, ...]:
    """Return what to type so that what waits is taken up; nothing where a controller does it."""
    with app.transactions.read() as connection:
        return () if app.presence.living(connection, app.clock.now()) else (TO_TAKE,)


def to_wait(app: app.App, reference: str) -> tuple[str, ...]:
    """Return what to type to see what becomes of new work, and before it what lets anything become of it."""
    return *to_take(app), f"batchctl wait {reference}"
