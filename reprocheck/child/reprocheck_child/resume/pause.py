"""Pauses a training after a checkpoint, while reprocheck takes a snapshot of its folder.

The training process leaves a file `wanted-PID-N` in the trace folder, which names the checkpoint,
and waits for `taken-PID-N`. If there are several ranks, rank 0 looks for all of them, and the
others wait with it: see `ranks`.
"""

from __future__ import annotations

import os
from time import monotonic, sleep

from ..files_seen import opened_files
from ..recorder import json_text
from ..recorder.hooking import guarded
from ..shared.marks import OUTSIDE, SENT, SIGNAL, TAKEN, WANTED
from . import ranks
from .checkpoints import Checkpoints, Found

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

_exit, _getpid = os._exit, os.getpid
FOLLOWED = "continues-until"
"""Holds the last iteration of a continued run, for its other ranks."""
LONGEST = 600.0
"""Seconds for which the snapshot is waited for."""
LONGEST_WRITING = 60.0
"""Seconds for which those are waited for that still write a checkpoint."""
LONGEST_TASK, LONGEST_TASKS = 5.0, 30.0
"""Seconds for which a task is waited for that may be about to write one, and for which all of them
are.
"""
POLL = 0.0005
MOST_TOLD = 50
RANKS_APART = (
    "The ranks do not come to the same iteration at the same time, as those of a pipeline do not:"
    " what the others wrote after rank 0 had found a checkpoint is not in the snapshot, and what"
    " they held there was not recorded."
)
FIRST, EPOCH_END, SECOND_EPOCH = "first", "epoch-end", "second-epoch"


def install(recorder: Any, request: Mapping[str, Any]) -> None:
    """Watch a run that is to be resumed later.

    request  what is asked of the run: see `docs/reference/trace-format.md`
    """
    pause = Pause(recorder, request)
    recorder.before_iteration, recorder.before_going_on = pause.look, pause.await_snapshot
    recorder.epoch_began = pause.epoch_began


class Pause:
    """Look for checkpoints between the iterations of a continued run, and wait for snapshots.

    at         places of the wanted checkpoints: `first`, `epoch-end`, `second-epoch`, or a number
               of
               updates
    go_on      iterations to run after a checkpoint
    pattern    how the user says that a checkpoint is called; "" if that is to be found out
    spare      boundaries to record after the first: a run that a signal ends may save at one of
               them
    signal_at  updates after which a signal ends the run; 0 for no signal
    at_once    whether the signal comes while a checkpoint is still being written
    """

    def __init__(self, recorder: Any, request: Mapping[str, Any]) -> None:
        self._recorder = recorder
        self._wanted: list[str] = list(request["at"])
        self._go_on = int(request["go_on"])
        self._within = int(request["within"])
        self._spare = int(request.get("spare") or 0)
        self._signal_at = int(request.get("signal_at") or 0)
        self._at_once = bool(request.get("at_once"))
        self._number = 0
        self._number_of_boundary = -1
        self._until = 0  # as in `_goes_on`, at the boundary that was looked at last
        self._behind: int | None = None
        self._ranks: ranks.Ranks | None = None
        self._over = False  # nothing more is looked for, as the first rank has told
        self._signaled = False
        self._begun = False
        self._patience = LONGEST_TASKS
        self._passed = 0  # checkpoints at places that were not asked for
        self._epochs: dict[str, int] = {}
        self._epochs_at: dict[int, int] = {}  # updates -> epochs that had begun by then
        self._awaited = ""  # the answer to what was asked for last
        self._checkpoints = Checkpoints(recorder, str(request.get("pattern") or ""), self._refuse)
        self._checkpoints.install()
        recorder.on_end.append(self._account)

    def epoch_began(self, loader: str) -> None:
        """Count an epoch when a loader begins to hand out its data.

        The first loader that begins counts as that of the training.

        loader  the loader's place, or the line that iterates the loader
        """
        self._epochs[loader] = self._epochs.get(loader, 0) + 1

    @guarded("looking for a checkpoint")
    def look(self) -> None:
        """Look for a checkpoint before an iteration; the script loses nothing but time."""
        if not self._begun:
            self._begun = True
            self._recorder.find_world()
            self._ranks = ranks.of(self._recorder)
            self._boundary(self._checkpoints.begin)
        elif self._follows or self._wanted or self._signal_at:
            if not self._is_killed_now:
                self._await_tasks()
            self._boundary(self._look)
            self._await_signal()
        self._epochs_at[self._recorder.updated + 1] = self._epoch()

    @guarded("waiting for a snapshot")
    def await_snapshot(self) -> None:
        """Wait until the snapshot is taken, before the script goes on.

        The recorder does its own work first, while the snapshot is taken.
        """
        if self._awaited:
            answer, self._awaited = self._path(self._awaited), ""
            self._unseen(lambda: self._await(answer))

    @property
    def _is_killed_now(self) -> bool:
        """Return whether a signal is due that ends the run while a checkpoint is written."""
        return self._at_once and 0 < self._signal_at <= self._recorder.grouping.updated

    @property
    def _follows(self) -> bool:
        """Return whether this rank leaves the search for checkpoints to rank 0."""
        return bool(self._recorder.world[0])

    def _boundary(self, look: Callable[[], None]) -> None:
        """Look for a checkpoint once all ranks are at the boundary, and tell them the result.

        look  the function that looks
        """
        if self._follows:
            self._unseen(self._follow)
        elif self._ranks is None:
            self._unseen(look)
        else:
            self._unseen(lambda: self._lead(look))

    def _lead(self, look: Callable[[], None]) -> None:
        """Look for a checkpoint as rank 0, while the other ranks wait at the same boundary."""
        others = self._ranks
        assert others is not None
        number = self._next_number()
        for report in others.gathered(number):
            self._checkpoints.take(report)
        if others.apart:
            self._recorder.caveat("resume-ranks-apart", RANKS_APART)
        self._behind = None
        look()
        self.await_snapshot()  # the other ranks go on with the answer
        # behind the signal each rank comes to its end by itself
        comes_again = bool(self._wanted) or self._recorder.updated < self._signal_at
        answer = {"until": self._until, "behind": self._behind, "over": not comes_again}
        others.answer(number, answer)
        if not comes_again:
            self._ranks = None

    def _follow(self) -> None:
        """Wait for the answer of rank 0, and stop after the same iteration.

        The state of the training is recorded after the same checkpoint, too.
        """
        if self._over:
            return
        if self._ranks is None:
            self._follow_late()
            return
        answer = self._ranks.answered(self._next_number(), self._checkpoints.told())
        if answer is None:
            self._follow_late()
            return
        self._over = answer["over"]
        self._goes_on(answer["until"], answer["behind"])

    def _follow_late(self) -> None:
        """Stop after the same iteration as rank 0, if the ranks come to boundaries separately."""
        try:
            with open(self._path(FOLLOWED), encoding="ascii") as file:
                until = int(file.read())
        except (OSError, ValueError):
            return
        self._recorder.stop_after(until)

    def _goes_on(self, until: int, behind: int | None) -> None:
        """Let the run end after iteration `until`.

        behind  updates before the checkpoint that was found; None if none was found
        """
        if behind is None:
            return
        self._until, self._behind = until, behind
        self._recorder.stop_after(until)
        if self._recorder.boundaries is not None:
            behind_it = range(behind + 1, behind + 2 + self._spare)
            self._recorder.boundaries.update(behind_it)

    def _next_number(self) -> int:
        """Return the number of the present boundary, which is the same in all ranks.

        An iteration has two boundaries: before its forward pass and before its loss.
        """
        first = int(self._recorder.updated) * 2
        self._number_of_boundary = first if self._number_of_boundary < first else first + 1
        return self._number_of_boundary

    def _account(self) -> None:
        """Record at the end of the run which files were saved but not taken for a checkpoint."""
        if self._signaled:  # a handler may have written one
            self._unseen(self._look)
            self.await_snapshot()
        masked = self._recorder.masked
        ignored, removed = self._checkpoints.ignored, self._checkpoints.removed
        temporary = dict.fromkeys(map(os.path.basename, self._checkpoints.temporary))
        if not any((ignored, removed, temporary, self._passed)):
            return
        event = {
            "e": "unkept",
            "p": [masked(path) for path in list(ignored)[:MOST_TOLD]],
            "removed": [masked(path) for path in list(removed)[:MOST_TOLD]],
            "temporary": [masked(path) for path in list(temporary)[:MOST_TOLD]],
            "passed": self._passed,
            "epochs": self._epoch(),
        }
        self._recorder.emit(event)

    def _look(self) -> None:
        checkpoints = self._checkpoints
        checkpoint = checkpoints.found(self._recorder.updated)
        if checkpoint is None:
            return
        if not self._is_killed_now:
            self._wait(
                lambda: self._checkpoints.is_written_to([*checkpoint.paths, *checkpoint.beside]),
                LONGEST_WRITING,
            )
        places = [name for name in self._wanted if self._is_at(name, checkpoint.save.updates)]
        if self._signal_at:
            self._recorder.emit(self._event(checkpoint, places, 0))
        if not places:
            self._passed += 1
            return
        self._wanted = [name for name in self._wanted if name not in places]
        self._take(checkpoint, places)

    def _is_at(self, name: str, updates: int) -> bool:
        if name == FIRST:
            return True
        if name.isdecimal():
            return updates >= int(name)
        then = self._epochs_at.get(updates, 0)
        if name == EPOCH_END:
            return 0 < then < self._epoch()
        return then > 1

    def _epoch(self) -> int:
        """Return how many epochs of the training's loader have begun."""
        return next(iter(self._epochs.values()), 0)

    def _take(self, checkpoint: Found, places: list[str]) -> None:
        """Ask for a snapshot of a checkpoint, and set the iteration after which the run ends.

        places  the wanted places that the checkpoint serves, such as `epoch-end`
        """
        recorder, updates = self._recorder, checkpoint.save.updates
        until = updates + self._go_on
        if self._wanted:
            until = max(until, self._within)
        event = self._event(checkpoint, places, until)
        recorder.emit(event)
        self._number += 1
        name = "%d-%d" % (_getpid(), self._number)
        self._leave(
            WANTED + name, json_text.dumps({**event, "p": checkpoint.paths, "t": checkpoint.target})
        )
        self._leave(FOLLOWED, str(until))
        self._goes_on(until, updates)
        self._awaited = TAKEN + name

    def _event(self, checkpoint: Found, places: list[str], until: int) -> dict[str, Any]:
        return {
            "e": "checkpoint",
            "i": checkpoint.save.updates,
            "at": places,
            "by": checkpoint.save.by,
            "l": checkpoint.save.line,
            "p": [self._recorder.masked(path) for path in checkpoint.paths],
            "o": [self._recorder.masked(path) for path in checkpoint.beside],
            "t": self._recorder.masked(checkpoint.target),
            "s": checkpoint.size,
            "until": until,
        }

    def _await_signal(self) -> None:
        """Wait for the signal that ends this run, if enough updates were made.

        A script that handles the signal goes on afterwards.
        """
        if self._signaled or self._follows:
            return
        if not 0 < self._signal_at <= self._recorder.updated:
            return
        self.await_snapshot()
        self._signaled = True
        self._leave(SIGNAL, str(_getpid()))
        self._await(self._path(SENT))

    def _await_tasks(self) -> None:
        """Wait for tasks of the last iteration that may be about to save.

        Tasks are threads, futures and processes. A task that does not end in time, such as a
        loader's thread, is ignored later.
        """
        tasks = self._checkpoints.tasks()
        if not tasks or self._patience <= 0:
            return
        began = monotonic()
        longest = min(LONGEST_TASK, self._patience)
        if not self._wait(lambda: bool(self._checkpoints.under_way(tasks)), longest):
            self._checkpoints.pass_over(self._checkpoints.under_way(tasks))
        self._patience -= monotonic() - began

    def _await(self, answer: str) -> None:
        """Wait until reprocheck has made the file `answer`."""
        self._wait(lambda: not os.path.exists(answer), LONGEST)

    @staticmethod
    def _wait(goes_on: Callable[[], bool], longest: float) -> bool:
        """Wait while `goes_on()` is true; return False if it is still true at the end.

        longest  seconds to wait at most
        """
        deadline = monotonic() + longest
        while goes_on():
            if monotonic() > deadline:
                return False
            sleep(POLL)
        return True

    def _refuse(self, path: str) -> None:
        """End the process, because a checkpoint is about to be written outside of the snapshot."""
        recorder = self._recorder
        recorder.emit({"e": "outside", "p": path})
        self._leave(OUTSIDE, path)
        recorder.emit({"e": "stop", "i": recorder.grouping.closed})
        _exit(0)

    def _leave(self, name: str, text: str) -> None:
        """Write a file in the trace folder in one step, so that no reader sees a part of it."""
        draft = self._path("." + name)
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(draft, self._path(name))

    def _path(self, name: str) -> str:
        return os.path.join(str(self._recorder.folder), name)

    @staticmethod
    def _unseen(look: Callable[[], None]) -> None:
        """Call `look` without recording the files that it reads."""
        if opened_files.WATCHED is None:
            look()
        else:
            opened_files.WATCHED.quietly(look)
