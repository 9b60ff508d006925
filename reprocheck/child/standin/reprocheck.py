"""Stands in for the package `reprocheck` in an interpreter that does not have it.

It is on the path only while reprocheck records a run.
"""

from reprocheck_child.recorder import events
from reprocheck_child.recorder.events import log_loss

__all__ = ["log", "log_loss"]
__version__ = "recorder"


def log(**values):  # type: ignore[no-untyped-def]
    events.log(values)


def __getattr__(name):  # type: ignore[no-untyped-def]
    from reprocheck_child import callbacks, seed_all

    if name == "check":
        from reprocheck_child import call

        return call.check
    if name in ("Seeded", "seed_all"):
        return getattr(seed_all, name)
    if name in callbacks.NAMES:
        return getattr(callbacks, name)
    raise AttributeError("module 'reprocheck' has no attribute %r" % name)
