"""The files that a process opens, reads, writes and moves, whichever language does it."""
