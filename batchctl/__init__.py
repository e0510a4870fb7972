"""batchctl: a batch-control workflow engine in which everything is a row."""

from __future__ import annotations

__version__ = "0.1.0"
