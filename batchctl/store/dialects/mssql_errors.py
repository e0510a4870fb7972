"""What the numbers of SQL Server's errors mean to the store."""

from __future__ import annotations

TRANSIENT = frozenset({1205, 1222, 3960, 41302, 41305, 41325})
NOT_ONE_TRANSACTION = 51077
"""What a commit raises itself: something has ended the transaction, and what was written after that stands alone."""
ALREADY_OVER = frozenset({3902, 3903})
LOST = frozenset({NOT_ONE_TRANSACTION, 3902, 64, 121, 233, 596, 4060, 6005, 10053, 10054, 10060, 40197, 40501, 40613})
LOST_STATES = ("08", "HYT0", "01002", "10054")
"""HYT0x: the driver waited in vain, so how far the server has come is unknown; only ending the session settles it."""
REFUSED_BECAUSE = {
    18452: "refuses the login",
    18456: "refuses the login",
    916: "cannot be opened by this login",
    4060: "cannot be opened",
    927: "is being restored",
    942: "is offline",
    945: "cannot be opened: files are missing, or the disk or the memory is short",
    208: "lacks a table of batchctl",
    229: "does not give this user the rights that batchctl needs",
    230: "does not give this user the rights that batchctl needs",
    262: "does not give this user the rights that batchctl needs",
    701: "is short of memory",
    1101: "cannot grow: the disk is full, or its files may grow no more",
    1105: "cannot grow: the disk is full, or its files may grow no more",
    9002: "cannot grow: its transaction log is full",
    3906: "is read-only: it may have become a secondary",
    823: "is damaged: restore it from a backup, do not write to it",
    824: "is damaged: restore it from a backup, do not write to it",
    825: "is damaged, or its disk is about to fail: look after the disk, and restore it from a backup",
}
NEXT_STEPS = {
    208: "batchctl db verify, or let the user's default schema be the one with the tables",
    229: "let a DBA grant SELECT, INSERT, UPDATE and DELETE on the tables of batchctl",
    1105: "let a DBA make room; the controller goes on by itself",
    9002: "let a DBA look at log_reuse_wait_desc in sys.databases, and make room",
    3906: "name the primary, or the availability group's listener, in database_url",
    823: "let a DBA run DBCC CHECKDB",
    824: "let a DBA run DBCC CHECKDB",
    825: "let a DBA run DBCC CHECKDB",
}
