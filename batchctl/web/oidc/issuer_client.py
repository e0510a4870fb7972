"""Asks the issuer: where it is asked for what, for its keys, and who it is that has come back with a code."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from typing import Any

import anyio
import httpx2
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc.jwk import KeySet

from batchctl.domain.errors import BatchctlError, Busy, Refused
from batchctl.domain.operators.issuers import CORRECT, IssuerMetadata, metadata_of
from batchctl.domain.text import message_of, shorten, visible
from batchctl.system.masking import masked
from batchctl.web.oidc.id_tokens import UnknownKey, WantedToken, claims_of, keys_of
from batchctl.web.oidc.pending_logins import PendingLogin
from batchctl.web.oidc.registration import Registration

PATIENCE = 10
"""Seconds that the issuer has for all that one log-in asks of it, however it answers."""
MOST_BYTES = 1024 * 1024
"""How long an answer may be."""
AT_ONCE = 8
"""How many log-ins ask the issuer at once."""
KEPT = timedelta(hours=1)
"""How long what the issuer publishes is gone by."""
SCOPES = "openid profile email"
_PUBLISHED = "/.well-known/openid-configuration"
_SHOWN = 300


class IssuerClient:
    """Asks one issuer, of which it keeps what that publishes for a while."""

    def __init__(self, registration: Registration, now: Callable[[], datetime]) -> None:
        """Ask nothing yet."""
        self._as = registration
        self._now = now
        self._at_once = anyio.CapacityLimiter(AT_ONCE)
        self._metadata: IssuerMetadata | None = None
        self._keys: KeySet | None = None
        self._read_at = now()

    async def address(self, pending: PendingLogin, back: str) -> str:
        """Return where a browser is sent, to be sent `back` from there."""
        async with self._asking(back) as client:
            metadata = await self._published(client)
            made = client.create_authorization_url(
                metadata.log_in, state=pending.state, nonce=pending.nonce, code_verifier=pending.verifier
            )
            return str(made[0])

    async def claims(self, code: str, pending: PendingLogin, back: str) -> Mapping[str, object]:
        """Return what the issuer says of the person who has come back with a code."""
        async with self._asking(back, code, pending.verifier) as client:
            metadata = await self._published(client)
            if metadata.by_form:
                client.token_endpoint_auth_method = "client_secret_post"  # noqa: S105 - the name of a way
            given = await client.fetch_token(
                metadata.tokens, grant_type="authorization_code", code=code, code_verifier=pending.verifier
            )
            wanted = WantedToken(self._as.issuer, self._as.client_id, pending.nonce)
            text, access_token = given["id_token"], given.get("access_token")
            try:
                keys = self._keys or await self._read_keys(client, metadata)
                return claims_of(text, access_token, keys, wanted, self._now())
            except UnknownKey:
                keys = await self._read_keys(client, metadata)
                return claims_of(text, access_token, keys, wanted, self._now())

    async def names_itself(self, back: str) -> bool:
        """Say whether the issuer says its name in each answer."""
        async with self._asking(back) as client:
            return (await self._published(client)).names_itself

    async def _published(self, client: AsyncOAuth2Client) -> IssuerMetadata:
        if self._metadata is None or self._now() - self._read_at >= KEPT:
            document = await _read(client, self._as.issuer.rstrip("/") + _PUBLISHED)
            self._metadata, self._keys = metadata_of(document, self._as.issuer), None
            self._read_at = self._now()
        return self._metadata

    async def _read_keys(self, client: AsyncOAuth2Client, metadata: IssuerMetadata) -> KeySet:
        self._keys = keys_of(await _read(client, metadata.keys))
        return self._keys

    @asynccontextmanager
    async def _asking(self, back: str, *secrets: str) -> AsyncIterator[AsyncOAuth2Client]:
        """Lend what asks the issuer, within its time; say what went wrong in words."""
        try:
            with anyio.fail_after(PATIENCE):
                async with self._at_once, self._client(back) as client:
                    yield client
        except BatchctlError:
            raise
        except (TimeoutError, httpx2.TransportError) as error:
            raise self._away(error) from None
        except Exception as error:  # noqa: BLE001 - an answer may be anything, and so is what libraries make of it
            raise self._refused(error, secrets) from None

    def _client(self, back: str) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            client_id=self._as.client_id,
            client_secret=self._as.client_secret,
            redirect_uri=back,
            scope=SCOPES,
            code_challenge_method="S256",
            timeout=PATIENCE,
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_bound]},
        )

    def _away(self, error: Exception) -> Busy:
        why = f"does not answer within {PATIENCE} s" if isinstance(error, TimeoutError) else "cannot be reached"
        said = visible(shorten(" ".join(str(error).split()).rstrip("."), _SHOWN))
        message = f"The issuer {visible(self._as.issuer)} {why}{f': {said}' if said else ''}."
        return Busy(message, next_step="try again, or log in by name and password")

    def _refused(self, error: Exception, secrets: tuple[str, ...]) -> Refused:
        """Say what is wrong with an answer, without what was sent."""
        known = [one for one in (self._as.client_secret, *secrets) if one]
        said = visible(shorten(masked(" ".join(message_of(error).split()).rstrip("."), known), _SHOWN))
        if isinstance(error, OAuthError):
            message = f"The issuer does not take the code: {said}."
            return Refused(message, next_step="log in again; where that does not help, compare [web] oidc_... with it")
        message = f"What the issuer has answered lets no user in: {said}."
        return Refused(message, next_step=CORRECT)


async def _read(client: AsyncOAuth2Client, address: str) -> Mapping[str, Any]:
    """Read a document that an issuer publishes."""
    answer = await client.request("GET", address, withhold_token=True, headers={"Accept": "application/json"})
    answer.raise_for_status()
    return _object(answer.json())


def _object(found: Any) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise ValueError("it publishes something else than a JSON object")
    return found


async def _bound(answer: httpx2.Response) -> None:
    """Let no answer grow, also by being unpacked."""
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        raise ValueError("the answer is packed, which was not asked for")
    answer.stream = _Bounded(answer.stream)


class _Bounded(httpx2.AsyncByteStream):
    """Breaks off what is too long."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for part in self._stream:
            length += len(part)
            if length > MOST_BYTES:
                raise ValueError(f"the answer is longer than {MOST_BYTES} bytes")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
