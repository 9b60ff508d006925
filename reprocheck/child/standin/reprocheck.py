"""Stands in for the package where the script's interpreter does not have it, only while reprocheck records a run."""

from reprocheck_child.events import log_loss

__all__ = ["log_loss"]
__version__ = "recorder"
