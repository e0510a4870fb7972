"""Threads, loops and time limits: all that waits beside the one thread of the controller."""
