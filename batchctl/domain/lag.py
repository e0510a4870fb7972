"""The latest that the present may be: controllers know the database's clock only roughly, and each lags a little."""

from __future__ import annotations

from datetime import datetime, timedelta

MOST_LAG = timedelta(seconds=10)
"""A time further ahead was written by hand, or the clock was set back: it proves nothing."""


def not_before(now: datetime, *written: datetime) -> datetime:
    """Return the present by this program's clock, or the latest moment that others have written already, if later.

    No controller runs ahead of the database's clock; one that has just begun, or gets slow answers, lags most.
    """
    return max([now, *(at for at in written if at - now <= MOST_LAG)])
