"""Makes the door of the issuer from the settings."""

from __future__ import annotations

from batchctl.app import App
from batchctl.web.oidc.issuer_client import IssuerClient
from batchctl.web.oidc.issuer_entrance import IssuerEntrance
from batchctl.web.oidc.pending_logins import PendingLogins
from batchctl.web.oidc.registration import registration_of


def issuer_entrance(app: App, scheme: str) -> IssuerEntrance:
    """Return the door, by which browsers come with a scheme."""
    registration = registration_of(app.settings)
    client, pending = IssuerClient(registration, app.clock.now), PendingLogins(app.ids.token, app.clock.now)
    return IssuerEntrance(registration, client, pending, scheme)
