"""Accepted curves: what a check is held against.

compare    the curves of a check against those of a baseline
allow      how far they may be apart
"""

from reprocheck.suite.baselines.allow import Allowed, allowed
from reprocheck.suite.baselines.compare import compare

__all__ = ["Allowed", "allowed", "compare"]
