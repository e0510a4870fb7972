"""Which attempts an agent was told to start: written down before it starts one, so that none is started twice."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from batchctl.domain.errors import Refused
from batchctl.system.remote.wire import AgentToken


class TokenJournal:
    """A file for each attempt of one control database, with the claim under which it was begun."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, which is made with the first token."""
        self._folder = folder

    def knows(self, token: AgentToken) -> bool:
        """Say whether an attempt was told to start before."""
        return self._place(token.history_id).exists()

    def enter(self, token: AgentToken) -> bool:
        """Write that an attempt is about to be started; false where it was before. Raises `Refused` for an older claim."""
        self._folder.mkdir(parents=True, exist_ok=True)
        try:
            with self._place(token.history_id).open("x", encoding="ascii") as file:
                file.write(str(token.claim_token))
        except FileExistsError:
            self.check(token)
            return False
        return True

    def check(self, token: AgentToken) -> None:
        """Refuse what is told under an older claim than the newest that is known of an attempt."""
        with suppress(OSError, ValueError):
            newest = int(self._place(token.history_id).read_text(encoding="ascii"))
            if token.claim_token < newest:
                message = f"Attempt {token.history_id} has ClaimToken {newest}: a controller with {token.claim_token} lost it."
                raise Refused(message)

    def renew(self, token: AgentToken) -> None:
        """Write the newer claim of an attempt that another controller has taken over; raises `Refused` for an older one."""
        self.check(token)
        self._folder.mkdir(parents=True, exist_ok=True)
        newer = self._folder / f"{token.history_id}.{token.claim_token}"
        newer.write_text(str(token.claim_token), encoding="ascii")
        newer.replace(self._place(token.history_id))

    def forget(self, attempts: Iterable[int]) -> None:
        """Remove what is recorded as ended in the database."""
        for each in attempts:
            self._place(each).unlink(missing_ok=True)

    def _place(self, history_id: int) -> Path:
        return self._folder / str(history_id)
