"""`python3 dev.py chaos`: real workers on real databases, killed in every way there is; then what came of it."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

from tests.arguments import at_least_one
from tests.chaos import sabotage
from tests.chaos.cable import leave_network
from tests.chaos.campaign import Campaign, Options
from tests.chaos.hosts import may_be_made
from tests.chaos.report import figures, findings

KINDS = ("sqlite", "postgresql")


def main() -> int:
    """Run a campaign on each database asked for; the exit code says whether every promise was kept."""
    asked = _arguments()
    kinds = KINDS if asked.database == "both" else (asked.database,)
    seed = SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    failed = False
    if cable := asked.dask and may_be_made():
        leave_network()
    for at, kind in enumerate(kinds):
        kills = max(1, asked.kills // len(kinds) + (asked.kills % len(kinds) if at == 0 else 0))
        directory = Path(tempfile.mkdtemp(prefix=f"batchctl-chaos-{kind}-"))
        options = Options(kills, seed, kind, asked.sabotage, asked.pools, asked.dask, asked.agents, cable)
        outcome = Campaign(options, directory).run()
        print(figures(outcome), flush=True)
        if outcome.constraint_findings:
            failed = True
            print(findings(outcome), flush=True)
        elif asked.keep:
            print(f"  everything lies in {directory}", flush=True)
        else:
            shutil.rmtree(directory)
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev.py chaos", description=__doc__)
    parser.add_argument("--kills", type=at_least_one, default=2000, help="how many SIGKILLs in all (2000)")
    parser.add_argument("--seed", type=int, help="what the dice begin with; a new one unless given")
    parser.add_argument("--database", choices=[*KINDS, "both"], default="both")
    parser.add_argument("--keep", action="store_true", help="leave the folder also when nothing was found")
    parser.add_argument("--sabotage", choices=sorted(sabotage.KINDS), help="break the engine, to see it found")
    parser.add_argument("--pools", action="store_true", help="three hosts (names, users, folders) with different pools")
    parser.add_argument(
        "--dask", action="store_true", help="steps carried by agents in a cluster that is killed, and cut off, as well"
    )
    parser.add_argument(
        "--agents", action="store_true", help="steps carried by agents that poll a console; both are killed as well"
    )
    asked = parser.parse_args()
    if asked.pools and not may_be_made():
        parser.error("--pools makes hosts of other names and users: only root may do that")
    return asked


if __name__ == "__main__":
    sys.exit(main())
