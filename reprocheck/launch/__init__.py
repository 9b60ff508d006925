"""Starts the user's command N times and records how it went.

Imports model, settings, record, controls, errors, the recorder's masking.

entry_point  what the user typed -> EntryPoint            prepare  makes the folder of a check,
             discard removes it
worktree     another commit of the user's repository, found by find_commit
alone_in     the claim of a check on the folder in which it works
check        all runs -> CheckRecord, in that folder      Observer what is told on the way
record_deeper  two more runs at a deeper level -> DeeperPair, added to that record
record_arm     runs under controls -> Arm, added to that record
record_trial   runs with variations, added to that record
record_reseeded  one run with another seed, added to that record
record_operands  one more run that keeps what a single operator is given
"""

from reprocheck.launch.check import check as check
from reprocheck.launch.entry.entry_point import (
    entry_point as entry_point,
    find_python as find_python,
    safe_name as safe_name,
)
from reprocheck.launch.folder import discard as discard, prepare as prepare, publish as publish
from reprocheck.launch.folder_lock import alone_in as alone_in
from reprocheck.launch.observer import Observer as Observer, Quiet as Quiet
from reprocheck.launch.run.further_runs import (
    record_arm as record_arm,
    record_deeper as record_deeper,
    record_operands as record_operands,
    record_reseeded as record_reseeded,
    record_trial as record_trial,
)
from reprocheck.launch.run.tail import Output as Output
from reprocheck.launch.workdir.worktree import find_commit as find_commit, worktree as worktree
