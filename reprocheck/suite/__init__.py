"""The nightly: many targets checked again and again, held against baselines and history.

model      what a suite is about, as data
targets/   from `[[tool.reprocheck.target]]` to targets, and the table that `suite init` writes
execution/ one check of one target, on this machine or on a Ray cluster
surface    what runs, records and compares trainings: all that is taken of the package
check_report  report.json of a finished check, as far as it is read
keys       the environment key of a check, and the facts beside it
night/     all targets of a suite, once: what runs when, what is recorded, how it goes on after an
           interruption
curves     the series of a check as a few kilobytes, bit for bit
history/   what is kept of each check: tables, queries, export
baselines/ accepted curves: accept, show, diff, reset, import, export
changes/   what changed since the nights before
bisect/    the commit or the package since which a target is another
diff/      two revisions of the code, or two sets of options
pages/     JUnit, JSON, Markdown, annotations, the site, notices
"""
