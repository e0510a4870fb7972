"""A cluster on this machine, to try pools of agents on: a scheduler, and workers that are processes of their own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from batchctl.domain.errors import Refused

WORKERS = 2


@contextmanager
def local_cluster(configuration: Path) -> Iterator[str]:
    """Lend the address of a scheduler on loopback; the agents in its workers have the configuration of a file."""
    try:
        from distributed import LocalCluster  # noqa: PLC0415 - it reads the environment, which an import must not
    except ImportError as error:
        message = f"A Dask cluster needs the package distributed: {error}."
        raise Refused(message, next_step="pip install 'batchctl[dask]'") from None
    with LocalCluster(
        n_workers=WORKERS,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        scheduler_port=0,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
        env={"BATCHCTL_CONFIG": str(configuration)},
    ) as cluster:
        yield str(cluster.scheduler_address)
