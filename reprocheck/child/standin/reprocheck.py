"""Stands in for the package where the script's interpreter does not have it, only while reprocheck records a run."""

from reprocheck_child.events import log_loss

__all__ = ["Seeded", "log_loss", "seed_all"]  # noqa: F822
__version__ = "recorder"


def __getattr__(name):  # type: ignore[no-untyped-def]
    if name not in ("Seeded", "seed_all"):
        raise AttributeError("module 'reprocheck' has no attribute %r" % name)
    from reprocheck_child import seed_all

    return getattr(seed_all, name)
