"""What can go wrong with a baseline."""

from reprocheck.errors import UsageError


class BaselineError(UsageError):
    """Report that a baseline cannot be accepted, read or written."""
