"""The agents of a pool of kind `dask`: one in each worker of a cluster."""

from __future__ import annotations

import asyncio
import logging
import pickle
import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from batchctl.domain.text import visible
from batchctl.system.remote.transport import OfferedAgent, UnreachableError
from batchctl.system.remote.wire import Message, Received

Answer = Callable[[str, dict[str, Any], Any], Awaitable[Message]]
"""Takes the verb, the message and the worker."""
CONNECT_SECONDS = 5
DIRECT_SECONDS = 1
_OF_DASK = {"tls_cert": "tls_client_cert", "tls_key": "tls_client_key"}
"""How Dask calls what settings call otherwise."""


class DaskCluster:
    """Reaches agents through the scheduler of their cluster. No step is ever a task of Dask."""

    def __init__(self, scheduler: str, answer: Answer, tls_files: Mapping[str, str]) -> None:
        """Connect to nothing yet; `answer`, a function of a module, is called in the workers.

        `tls_files` has tls_ca_file, tls_cert and tls_key, or nothing without TLS.
        """
        self._scheduler, self._tls_files = scheduler, tls_files
        self._answer = pickle.dumps(answer)
        self._client: Any = None
        self._is_direct: dict[str, bool] = {}

    async def open(self) -> None:
        """Connect to the scheduler."""
        await self.close()
        _check_tls(self._tls_files)
        try:
            import distributed  # noqa: PLC0415 - it reads the environment, which an import must not

            _silence()
            files = {_OF_DASK.get(setting, setting): file for setting, file in self._tls_files.items()}
            security = distributed.Security(**files, require_encryption=True) if files else None
            self._client = await distributed.Client(
                self._scheduler,
                asynchronous=True,
                set_as_default=False,
                timeout=CONNECT_SECONDS,
                security=security,
                name="batchctl",
            )
        except Exception as error:
            raise UnreachableError(_in_words(error, self._tls_files)) from error

    async def offered(self) -> Mapping[str, OfferedAgent]:
        """Return the workers that take new work."""
        client = self._opened()
        try:
            known = (await client.scheduler.identity(n_workers=-1))["workers"]
        except Exception as error:
            raise UnreachableError(str(error) or type(error).__name__) from error
        return {
            address: OfferedAgent(address, int(worker["nthreads"]), worker.get("resources") or {})
            for address, worker in known.items()
            if worker.get("status", "running") == "running"
        }

    async def ask(self, name: str, verb: str, message: Received, *, within: float) -> Received:
        """Ask the agent of a worker, whose address is its name."""
        del within
        client = self._opened()
        try:
            if name not in self._is_direct:
                self._is_direct[name] = await _is_direct(client, name)
            found: Received = await self._run(client, name, verb, dict(message))
        except Exception as error:
            # Dask raises whatever it was: what is broken may be the way, the worker, or what it has imported.
            if not self._is_direct.get(name):
                self._is_direct.pop(name, None)
            raise UnreachableError(str(error) or type(error).__name__) from error
        return found

    async def close(self) -> None:
        """Leave the cluster."""
        client, self._client, self._is_direct = self._client, None, {}
        if client is not None:
            await client.close(timeout=CONNECT_SECONDS)

    async def _run(self, client: Any, name: str, verb: str, message: dict[str, Any]) -> Any:
        """Have a function called in a worker, and return its answer; raises what that raised."""
        from distributed.core import clean_exception  # noqa: PLC0415 - as that of the package

        call = {"function": self._answer, "args": pickle.dumps((verb, message)), "kwargs": None, "wait": True}
        if self._is_direct[name]:
            found = await client.rpc(name).run(**call)
        else:
            found = await client.scheduler.proxy(worker=name, msg={"op": "run", **call})
        if found["status"] != "OK":
            raise clean_exception(**found)[1] or UnreachableError(verb)
        return found["result"]

    def _opened(self) -> Any:
        if self._client is None or self._client.status != "running":
            message = f"the scheduler {self._scheduler} is away"
            raise UnreachableError(message)
        return self._client


def _check_tls(files: Mapping[str, str]) -> None:
    """Look whether the files of certificates can be used; raises `UnreachableError` with the setting of the one that cannot."""
    for setting, file in files.items():
        try:
            Path(file).read_bytes()
        except OSError as error:
            message = f"{setting} {visible(file)} cannot be read: {error.strerror or type(error).__name__}"
            raise UnreachableError(message) from error
    if not files:
        return
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(files["tls_ca_file"])
    except ssl.SSLError as error:
        message = f"tls_ca_file {visible(files['tls_ca_file'])} holds no certificate"
        raise UnreachableError(message) from error
    try:
        # A key that needs a password would ask for it at a terminal.
        context.load_cert_chain(files["tls_cert"], files["tls_key"], password=str)
    except (ssl.SSLError, ValueError) as error:
        cert, key = visible(files["tls_cert"]), visible(files["tls_key"])
        message = f"tls_cert {cert} does not go with tls_key {key}, or one of them cannot be read without a password"
        raise UnreachableError(message) from error


def _in_words(error: Exception, tls_files: Mapping[str, str]) -> str:
    """Say why there is no connection; what is wrong with certificates, with the file that is to fit."""
    said = str(error) or type(error).__name__
    if isinstance(error.__cause__, ssl.SSLCertVerificationError):
        file, why = visible(tls_files["tls_ca_file"]), error.__cause__.verify_message
        return f"the certificate of the scheduler is not trusted by tls_ca_file {file}: {why}"
    if tls_files and "SSLError" in said:
        return f"the scheduler does not take tls_cert {visible(tls_files['tls_cert'])}: {said}"
    return said


async def _is_direct(client: Any, name: str) -> bool:
    """Say whether there is a way to a worker from here; otherwise its scheduler passes everything on, with a second hop."""
    try:
        async with asyncio.timeout(DIRECT_SECONDS):
            await client.rpc(name).identity()
    except (OSError, TimeoutError):
        return False
    return True


def _silence() -> None:
    """Let neither the package nor its event loop log broken connections: what goes wrong on the way is told by the pool."""
    for name in [each for each in logging.root.manager.loggerDict if each.startswith(("distributed", "tornado"))]:
        logging.getLogger(name).setLevel(logging.CRITICAL)
