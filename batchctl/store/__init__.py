"""All SQL: the tables of the control database and one named statement per function."""

from __future__ import annotations

from sqlalchemy import Connection

__all__ = ["Connection"]
