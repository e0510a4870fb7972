"""Bugs that single tests find; those that the simulation finds are in `mutants.py` and `varied_mutants.py`."""

from __future__ import annotations

from tests.sim.planting import Planted

PLANTED: tuple[Planted, ...] = ()
