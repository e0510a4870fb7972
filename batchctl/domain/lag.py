"""What the present cannot lie before: controllers know the database's clock only roughly, and each lags behind it a little."""

from __future__ import annotations

from datetime import datetime, timedelta

MOST_LAG = timedelta(seconds=10)
"""What was written further ahead was written by hand, or the clock was set back: it says nothing."""


def not_before(now: datetime, *written: datetime) -> datetime:
    """Return the present by one's own reckoning, or the latest moment that others have written already, if that lies ahead.

    Nobody runs ahead of the database's clock, and who has just begun, or gets slow answers, lags most.
    """
    return max([now, *(at for at in written if at - now <= MOST_LAG)])
