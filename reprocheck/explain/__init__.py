"""Where two runs first part, and why: `ladder(check, folder)`, then `causes(check, folder)`."""

from __future__ import annotations

from reprocheck.explain.cause import causes
from reprocheck.explain.rungs import ladder

__all__ = ["causes", "ladder"]
