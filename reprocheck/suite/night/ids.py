"""The name of a night: it sorts by time, and no other night has it."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

FORMAT = "%Y-%m-%dT%H-%M-%SZ"
_LENGTH = len("2026-11-23T02-00-00Z")


def new_id(now: float, newest: str = "") -> str:
    """Return a name for a night: `2026-11-23T02-00-00Z-1f3a`; it sorts after `newest` even if the
    clock was set back.

    now     seconds since 1970
    newest  the last night there is; "" without any
    """
    began = datetime.fromtimestamp(int(now), UTC)
    before = _time_of(newest)
    if before is not None and began <= before:
        began = before + timedelta(seconds=1)
    return f"{began:{FORMAT}}-{secrets.token_hex(2)}"


def is_id(name: str) -> bool:
    """Return whether a folder has the name of a night."""
    return _time_of(name) is not None


def _time_of(night: str) -> datetime | None:
    """Return the time in the name of a night; None if it has another form."""
    try:
        return datetime.strptime(night[:_LENGTH], FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
