"""Check all targets of a suite once.

The modules say what runs when, what is recorded, and how a night goes on after an interruption.

folder  the folder of a suite
ids     the name of a night
plan    which targets, in what order; what is left of a night that was interrupted
claim   that one process makes a night
loop    the checks, one after the other or side by side, with their retries
deeper  the recordings that are kept, and the operation that differs first
run     a whole night
"""

from reprocheck.suite.night.plan import Options
from reprocheck.suite.night.run import Observer, Outcome, run

__all__ = ["Observer", "Options", "Outcome", "run"]
