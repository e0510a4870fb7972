"""What binds the two halves of a log-in together: one browser, one time, ten minutes."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

LASTS = timedelta(minutes=10)
"""How long somebody may take at the issuer."""
_BYTES = 32


@dataclass(frozen=True, slots=True)
class PendingLogin:
    """A log-in that has gone to the issuer and is to come back."""

    state: str
    """What the issuer sends back as it was sent there."""
    nonce: str
    """What has to stand in the ID token."""
    verifier: str
    """What proves to the issuer that the code is shown by the console that has asked for it (PKCE)."""


@dataclass
class PendingLogins:
    """Makes what is sent to the issuer from what the browser keeps, by a key of this process.

    So nothing grows with what is only begun, and a restart of the console ends all: the log-in begins again.
    """

    token: Callable[[int], str]
    """Makes so many random bytes."""
    now: Callable[[], datetime]
    _ended: dict[str, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the key."""
        self._key = self.token(_BYTES).encode()

    def begin(self) -> tuple[str, PendingLogin]:
        """Return what the browser keeps, and what is sent to the issuer."""
        kept = f"{int(self.now().timestamp())}-{self.token(_BYTES)}"
        return kept, self._of(kept)

    def end(self, kept: str, state: str) -> PendingLogin | None:
        """Return the log-in of this browser, once; None where another has begun it, or it took too long."""
        pending, now = self._of(kept), self.now()
        if not hmac.compare_digest(pending.state.encode(), state.encode()):
            return None
        # It is as it was made: what belongs to its state could not be guessed.
        began = datetime.fromtimestamp(int(kept.partition("-")[0]), UTC)
        self._ended = {one: at for one, at in self._ended.items() if now - at < LASTS}
        if now - began >= LASTS or pending.state in self._ended:
            return None
        self._ended[pending.state] = began
        return pending

    def _of(self, kept: str) -> PendingLogin:
        return PendingLogin(*(self._made(what, kept) for what in ("state", "nonce", "verifier")))

    def _made(self, what: str, kept: str) -> str:
        return hmac.new(self._key, f"{what} {kept}".encode(), hashlib.sha256).hexdigest()
