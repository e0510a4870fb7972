"""A module that was meant to be a program."""

from __future__ import annotations

import sys

print("usage: exits_on_import FILE")
sys.exit(2)
