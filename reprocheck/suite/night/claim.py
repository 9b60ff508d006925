"""One process of a machine makes a night, and one at a time checks the same targets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reprocheck.errors import UsageError
from reprocheck.suite.execution.claims import Wanted, claimed
from reprocheck.suite.model import Night
from reprocheck.suite.targets import Suite


@contextmanager
def claimed_for_this_process(suite: Suite, night: Night, *, twice: bool) -> Iterator[None]:
    """Keep other processes of this machine from running the same night.

    twice  whether another night may check the same targets at the same commit meanwhile

    Raises UsageError if another process runs such a night, ReportError if the folder for temporary
    files cannot be written.
    """
    wanted = [Wanted(f"night {suite.folder.resolve()} {night.id}")]
    if not twice:
        wanted.append(Wanted(f"targets {suite.folder.resolve()} {night.commit} {night.selected}"))
    claim = claimed(wanted)
    if claim is None:
        raise UsageError(
            "A night with the same targets at the same commit is under way.",
            "Wait for its end, or end its process. Two machines share the work of a night where"
            " one starts it with --shard 1/2 and the other one with --shard 2/2. --twice checks"
            " all of it again.",
        )
    try:
        yield
    finally:
        claim.give_back()
