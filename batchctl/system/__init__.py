"""The real clock, files, processes and threads behind `batchctl.ports`."""
