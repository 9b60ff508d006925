"""What all further runs of a check share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprocheck.launch.observer import Teller
    from reprocheck.model import EntryPoint
    from reprocheck.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class Shared:
    """What is started, with which settings, the report folder, and who is told of it."""

    entry: EntryPoint
    settings: Settings
    folder: Path
    teller: Teller
