"""Accepted curves: what a check is held against.

compare    the curves of a check against those of a baseline, and how far they may be apart
accept     a check of a night becomes a baseline
accepted   all baselines of a suite, read once
operation  the first operation that differs from the last green night
document   baselines as a text file
file       those that count, in a file of the repository
foreign/   curves from files of other programs
"""

from reprocheck.suite.baselines.accept import (
    Accepted as Accepted,
    accept as accept,
    accept_command as accept_command,
    baseline_for as baseline_for,
)
from reprocheck.suite.baselines.compare import (
    Allowed as Allowed,
    allowed as allowed,
    allowed_between as allowed_between,
    compare as compare,
)
from reprocheck.suite.baselines.errors import BaselineError as BaselineError
