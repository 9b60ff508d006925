"""Runs under controls that a search over them asks for, from the state in which the first run of
the check began.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path

from reprocheck import interrupts
from reprocheck.errors import ReprocheckError
from reprocheck.launch.deeper import made_elsewhere, paths_created
from reprocheck.launch.observer import Held, Observer
from reprocheck.launch.plan import Plan, plan
from reprocheck.launch.runs import Beside, Enough, Rooms, record_runs
from reprocheck.launch.tail import Output
from reprocheck.model import Arm, EntryPoint, RunRecord
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
    why: str = "",
    patched: Mapping[Path, Path] | None = None,
    output: Output | None = None,
    enough: Enough | None = None,
) -> Arm:
    """Runs `entry` under `controls`, which win over what the user set, and adds the arm to the
    record in `folder` after every run.

    The runs lie in `arms/NAME` there. The first of them finds the working directory as run 1 of the
    check found it. With `patched`, Python is given these files in place of the user's, which stay
    as they are. Afterwards the working directory is as it was before this call, whatever happens.
    `enough`, asked after each run that was kept, says whether the rest can be spared. Raises what
    `check` raises; what was recorded until then is kept.
    """
    folder = folder.absolute()
    made, arm = _planned(
        *(entry, settings, folder, observer),
        name=name,
        controls=controls,
        seed=seed,
        runs=runs,
        steps=steps,
        patched=patched,
        output=output,
    )
    arm = replace(arm, why=why)

    def keep(done: tuple[RunRecord, ...]) -> None:
        if done:
            _write(folder, replace(arm, runs=done))

    return replace(arm, runs=record_runs(made, keep, enough))


def begin_arm(
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    observer: Observer,
    rooms: Rooms,
    *,
    name: str,
    controls: Sequence[str],
    seed: int,
    runs: int,
    steps: int | None,
) -> ArmBeside:
    """Begins the same runs beside those of other arms, as far as there are `rooms`. That needs
    copies of the working directory.
    """
    held = Held(observer)
    made, arm = _planned(
        *(entry, settings, folder.absolute(), held),
        name=name,
        controls=controls,
        seed=seed,
        runs=runs,
        steps=steps,
    )
    return ArmBeside(made, arm, held, rooms)


class ArmBeside:
    """An arm whose runs are made in threads, beside those of others.

    The record holds nothing of it before `keep`, and its observer hears nothing. Only the thread
    that calls `keep` waits, so that one arm at a time is written into the record. `drop` ends its
    runs; after `close` nothing is alive of them.
    """

    def __init__(self, made: Plan, arm: Arm, held: Held, rooms: Rooms) -> None:
        self._plan, self._arm, self._held = made, arm, held
        self._beside = Beside(rooms=rooms)
        self._kept = self._dropped = False
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=copy_context().run, args=(self._make,))
        self._thread.start()

    @property
    def name(self) -> str:
        """The folder of its runs below `arms`."""
        return self._arm.name

    @property
    def ended(self) -> bool:
        """Whether no run of it is under way or still to come."""
        return self._ended.is_set()

    def keep(self, why: str) -> None:
        """The record holds it from now on, after every run. Waits for the last of them, and raises
        what `record_arm` raises.
        """
        self._beside.first.set()
        self._beside.rooms.look_again()
        with self._plan.lock:
            self._kept = True
            self._arm = replace(self._arm, why=why)
            self._write()
            self._held.listen()
        try:
            with interrupts.interrupting():
                self._ended.wait()
        except BaseException:
            self._halt()
            with interrupts.waiting():
                self._ended.wait()
            raise
        if self._error is not None:
            raise self._error

    def drop(self) -> None:
        """Ends its runs, without waiting for that; `close` removes what they left."""
        if not self.ended:
            self._dropped = True
            self._halt()

    def close(self) -> None:
        """Ends what is under way. Of runs that nobody asked for, those of an arm that is complete
        are kept in the record as such; else nothing is left of them.
        """
        self.drop()
        self._thread.join()
        if self._kept:
            return
        complete = len(self._arm.runs) == self._plan.runs and self._error is None
        if complete and not self._dropped:
            self._arm = replace(self._arm, unneeded=True)
            self._write()
        else:
            shutil.rmtree(self._plan.folder / "arms" / self.name, ignore_errors=True)

    def _make(self) -> None:
        try:
            record_runs(self._plan, self._note, beside=self._beside)
        except BaseException as error:  # raised again in the thread that waits
            self._error = error
        finally:
            self._ended.set()

    def _note(self, done: tuple[RunRecord, ...]) -> None:
        """After each run, under the lock of the plan."""
        self._arm = replace(self._arm, runs=done)
        if self._kept:
            self._write()

    def _write(self) -> None:
        if self._arm.runs:
            _write(self._plan.folder, self._arm)

    def _halt(self) -> None:
        self._beside.halt.set()
        self._beside.rooms.look_again()


def _write(folder: Path, arm: Arm) -> None:
    """The record with this arm as it is now."""
    held = record.read(folder)
    others = (one for one in held.arms if one.name != arm.name)
    record.write(folder, replace(held, arms=(*others, arm)))


def _planned(
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
    patched: Mapping[Path, Path] | None = None,
    output: Output | None = None,
) -> tuple[Plan, Arm]:
    """The plan of an arm, and the arm without runs."""
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
        seed=seed,
        override=True,
        arm=name,
        patched=patched,
    )
    arm = Arm(
        name=name,
        controls=made.under.names,
        runs=(),
        patched=bool(patched),
        in_place=bool(patched),
        renewed=made.renewed,
    )
    return made, arm
