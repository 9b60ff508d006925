"""Runs under controls that a search over them asks for, from the state in which the first run of
the check began.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.errors import ReprocheckError
from reprocheck.launch.deeper import made_elsewhere, paths_created
from reprocheck.launch.observer import Observer
from reprocheck.launch.plan import plan
from reprocheck.launch.runs import Enough, record_runs
from reprocheck.launch.tail import Output
from reprocheck.model import Arm, EntryPoint, RunRecord
from reprocheck.model.reason import Reason
from reprocheck.recording import record
from reprocheck.settings import Settings


def record_arm(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    *,
    name: str,
    controls: Sequence[str],
    seed: int,
    runs: int,
    steps: int | None,
    reason: Reason | None = None,
    value: int = 0,
    reference: tuple[str, ...] = (),
    spared: tuple[str, ...] = (),
    patched: Mapping[Path, Path] | None = None,
    fixes: tuple[str, ...] = (),
    deep: bool = False,
    output: Output | None = None,
    enough: Enough | None = None,
) -> Arm:
    """Run `entry` under `controls`, which win over what the user set, and adds the arm to the
    record in `folder` after every run.

    The runs lie in `arms/NAME` there. The first of them finds the working directory as run 1 of the
    check found it. With `patched`, Python is given these files in place of the user's, which stay
    as they are. Afterwards the working directory is as it was before this call, whatever happens.
    `value`, `reference`, `spared`, `fixes`: see `Arm`. `deep`: more than losses is recorded.
    `enough`, asked after each run that was kept, says whether the rest is not needed. Raises what
    `check` raises; what was recorded until then is kept.
    """
    folder = folder.absolute()
    before = record.read(folder)
    if any(arm.name == name for arm in before.arms):
        raise ReprocheckError(f"The arm {name} has been recorded already.", "Give it another name.")
    made = plan(
        *(entry, settings, folder, observer, output),
        runs=runs,
        steps=steps,
        created=paths_created(before.runs),
        elsewhere=made_elsewhere(before.runs),
        controls=controls,
        seed=seed + value,
        override=True,
        spared=spared,
        arm=name,
        patched=patched,
        level="auto" if deep else "loss",
    )
    arm = Arm(
        name=name,
        controls=made.under.names,
        runs=(),
        patched=bool(patched) and not fixes,
        fixes=fixes,
        in_place=patched is not None,
        renewed=made.renewed,
        reason=reason,
        value=value,
        reference=reference,
        spared=spared,
    )

    def keep(done: tuple[RunRecord, ...]) -> None:
        if done:
            _write(folder, replace(arm, runs=done))

    return replace(arm, runs=record_runs(made, keep, enough))


def _write(folder: Path, arm: Arm) -> None:
    """Write the record with this arm as it is now."""
    held = record.read(folder)
    others = (one for one in held.arms if one.name != arm.name)
    record.write(folder, replace(held, arms=(*others, arm)))
