"""Watches the files that a process opens, reads, writes and moves, in whichever language."""
