"""The further run of a check in which another seed must show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprocheck.launch.observer import Teller
    from reprocheck.model import EntryPoint
    from reprocheck.settings import Settings


def measure(entry: EntryPoint, held: Settings, folder: Path, teller: Teller) -> None:
    """Make one run with another seed, where the runs with one seed are equal in every bit.

    Raises what `launch.check` raises.
    """
    from reprocheck import launch
    from reprocheck.ladder.sources import Sources
    from reprocheck.search.seed_effect import can_be_judged
    from reprocheck.search.seed_origin import origin_of
    from reprocheck.wording.seeds import another_seed
    from reprocheck.workflow.replay import recorded_check

    check = recorded_check(folder)
    if not can_be_judged(check):
        return
    calls = check.runs[0].controls.seedings
    found = origin_of(entry, calls, Sources(check, folder).text)
    if found is None:
        return
    origin, other = found
    teller.remark(another_seed(origin))
    launch.record_reseeded(other, held, folder, teller, origin, output=teller.output)
    teller.clear()
