"""Faults that are made on purpose around a check, and what became of it: `python -m
benchmarks.faults` writes docs/reference/faults.md.

place     a project of a user's, with files that a check must not lose, and what is left there
seen      what a fault came to, and the row of the table that says so
kills     every kind of process, killed at points of its life
disks     disks that are full, folders that cannot be written or are gone
trainings what a training itself can do
machine   the clock, process ids, limits, the terminal, signals that stop and continue
damaged   recordings that are cut, and writing that is interrupted
page      the rows as Markdown, and back
finished  rows that need not be made again
"""
