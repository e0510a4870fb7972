"""A cluster on this machine, to try pools of agents on: a scheduler, and workers that are processes of their own."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from batchctl.domain.errors import Refused

WORKERS = 2


def check_package() -> None:
    """Refuse where this Python lacks the package that such a cluster is made of."""
    if find_spec("distributed") is None:
        message = "A Dask cluster needs the package distributed, which this Python does not have."
        raise Refused(message, next_step="pip install 'batchctl[dask]'")


@contextmanager
def local_cluster(configuration: Path, workers: int = WORKERS) -> Iterator[str]:
    """Lend the address of a scheduler on loopback; the agents in its workers, a slot each, have the configuration of a file."""
    from distributed import LocalCluster  # noqa: PLC0415 - it reads the environment, which an import must not

    with LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        scheduler_port=0,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
        env={"BATCHCTL_CONFIG": str(configuration)},
    ) as cluster:
        yield str(cluster.scheduler_address)
