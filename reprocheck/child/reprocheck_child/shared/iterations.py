"""Groups raw events into iterations: one pure state machine.

It is used while recording (early stop) and when reading a trace.

An iteration is one update of the weights. A loss belongs to the next update that follows it. An
iteration closes when every live optimizer has stepped once, or just before one steps a second time;
an optimizer that has not stepped by then is left behind and not waited for until it steps again.
Where no optimizer exists, each backward pass is one iteration.

Two refinements: an optimizer that is built between the updates of an open iteration closes it (a
script that builds a new optimizer for each iteration); and where a script calls `log_loss` after
the update, its losses belong to the update before them.

Standard library only; the one module of the recorder that the parent process imports too.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from array import array
    from collections.abc import Iterable

LOG, BACKWARD, GRAD = "log", "backward", "grad"
_WEIGHT = {"": 1, GRAD: 1, BACKWARD: 2, LOG: 3}
"""Which kind of losses takes precedence; before the first loss (""), each that is known."""

IGNORED, COUNTED, COUNTED_FROM_HERE = 0, 1, 2
"""What `Grouping.loss` says of the losses it was given; the last: they count, and all losses before
them no longer do.
"""


def _array(numbers: Iterable[int]) -> array[int]:
    """Return whole numbers in 8 bytes each."""
    from array import array  # it imports `collections`: 3 ms of a process that trains nothing

    return array("q", numbers)


class Grouping:
    """Iterations of one process. Feed it the events in order; it keeps counts, never values.

    losses      number of losses that count so far
    ends        ends[i] = number of losses in the closed iterations 1 … i+1
    moved_at    number of losses before the first update that really changed weights, None until
                there was one
    moved_in    the iteration (from 1) that holds that update
    first_end   number of losses before the first update of any kind
    unchanged_updates  updates that changed no weight, before the first that did
    unchanged_passes   likewise, backward passes that found the weights of the pass before, in a
                       training without optimizer
    unfinished  True if `finish` had to close the last iteration

    Read `closed` after every event, not after updates only: with `log_loss` after the update, an
    iteration closes when the next begins.
    """

    def __init__(self) -> None:
        self.losses = 0
        self.ends: array[int] | list[int] = []  # an array from the first iteration on
        self.first_end: int | None = None
        self.moved_at: int | None = None
        self.moved_in: int | None = None
        self.unchanged_updates = 0
        self.unchanged_passes = 0
        self.weights_seen = False
        self.skipped: list[int] = []
        self.unordered: list[int] = []
        self.unfinished = False
        self._kind = ""
        self._live: dict[int, None] = {}
        self._stepped: set[int] = set()
        # losses up to here belong to the open iteration or to closed ones; the rest awaits its
        # update
        self._attached = 0
        self._threads: set[str] = set()  # of the losses that belong to the open iteration
        self._waiting: set[str] = set()  # of the losses that await their update
        self.closed_by_loss = True
        """Whether each loss closes its iteration, because there is no optimizer.

        The loss comes before the gradients and the update of the iteration.
        """
        self._by_loss = 0  # iterations that closed with a loss, before there was an optimizer
        # iteration of the first update of which nobody knows whether it changed weights
        self._unseen_update: int | None = None
        self._last: tuple[int, bool | None] | None = None  # the last update
        self._late = False  # losses are logged after their update
        # the update whose losses may still be logged
        self._held: tuple[int, bool | None] | None = None

    @property
    def closed(self) -> int:
        """Return the number of closed iterations."""
        return len(self.ends)

    @property
    def updated(self) -> int:
        """Return the number of iterations whose update is made.

        Their losses may still be logged.
        """
        return len(self.ends) + (self._held is not None)

    @property
    def begun(self) -> int:
        """Return the number of iterations that have begun.

        They are those that are closed, and the open one where it has a loss.
        """
        closed = len(self.ends)
        return closed + (self.losses > (self.ends[-1] if closed else 0))

    @property
    def under_way(self) -> bool:
        """Return whether an iteration has a loss or an update and is not closed.

        An iteration whose update is made, and whose losses are still to be logged, does not count.
        """
        return not self._late and self._is_open()

    def optimizer(self, index: int) -> None:
        """Count an optimizer that was built."""
        self._release()
        self.closed_by_loss = False
        if self._stepped and index not in self._live:
            self._leave_behind()
        self._live[index] = None

    def loss(self, count: int, kind: str, thread: str = "") -> int:
        """Count the losses of one backward pass or one `log_loss` call.

        Returns IGNORED, COUNTED or COUNTED_FROM_HERE.
        """
        answer = COUNTED
        if kind != self._kind:
            answer = self._take_kind(kind)
            if answer == IGNORED:
                return IGNORED
        self.losses += count
        self._waiting.add(thread)
        if self.closed_by_loss:
            self._note_first_end()
            self._by_loss += 1
            self._attach()
            self._close()
        return answer

    def update(self, index: int, changed: bool | None) -> None:
        """Count a step of optimizer `index`.

        changed  whether the weights of the optimizer changed; None if they were not compared
        """
        if self.regular(index):  # the bulk of a training: as _step, without its questions
            self._last = (index, changed)
            self._attached = self.losses
            if not self.ends:
                self.ends = _array(())
            self.ends.append(self.losses)
            if len(self._waiting) > 1:
                self.unordered.append(len(self.ends))
            self._waiting.clear()
        elif self._late:
            self._release()
            self._held = (index, changed)
        else:
            self._step(index, changed)

    def regular(self, index: int) -> bool:
        """Return whether each further update of optimizer `index` would close an iteration."""
        if self.moved_at is None or self._late or self._stepped:
            return False
        return len(self._live) == 1 and index in self._live

    def moved(self) -> None:
        """Count a change of weights without a reported update.

        The script changed the weights by hand, or a step is still under way. Before the first loss,
        weights are initialized or loaded, which counts as no update.
        """
        self._release()
        self.weights_seen = True
        if not self._kind:
            return
        self._note_first_end()
        if self.moved_at is None:
            self.moved_at = self.losses
            self.moved_in = max(1, self.closed + self._is_open())

    def still(self) -> None:
        """Count a backward pass that found the same weights as the pass before.

        Only used in a training without an optimizer. Such a pass need not follow an update without
        effect: two passes whose gradients are accumulated for one update look the same.
        """
        self.weights_seen = True
        if self.moved_at is None:
            self.unchanged_passes += 1

    def skip(self) -> None:
        """Mark the open iteration: a gradient scaler skipped an optimizer's step."""
        self._release()
        iteration = self.closed + 1
        if iteration not in self.skipped[-1:]:
            self.skipped.append(iteration)

    def finish(self) -> None:
        """End the trace: group losses and updates that are left over as a last iteration.

        Left over are losses without an update yet, and updates of an iteration that did not close.
        """
        self._release()
        if not self.closed_by_loss and self._is_open():
            self.unfinished = True
            self._attach()
            self._close()
        if not self.closed or self.moved_at is not None:
            return
        if not self.weights_seen:
            self.moved_at = self.first_end
            self.moved_in = self._unseen_update or 1
        elif self._unseen_update is not None:
            self.moved_at = self.ends[self._unseen_update - 1]
            self.moved_in = self._unseen_update

    def _is_open(self) -> bool:
        """Return whether the open iteration holds a loss or an update."""
        return bool(self._stepped) or self.losses > self._attached

    def _note_first_end(self) -> None:
        if self.first_end is None:
            self.first_end = self.losses

    def _step(self, index: int, changed: bool | None) -> None:
        if self.closed_by_loss:
            # the losses so far awaited this update, unless weights moved by hand
            self.closed_by_loss = False
            if self.moved_at is None:
                self.ends = []
                self._attached = self._by_loss = 0
                self.first_end = None
        self._last = (index, changed)
        if index in self._stepped:
            self._leave_behind()
        self._live[index] = None
        self._stepped.add(index)
        self._attach()
        self._note_first_end()
        if self.moved_at is None:
            self._judge_update(changed, self.closed + 1)
        if len(self._stepped) == len(self._live):
            self._close()

    def _judge_update(self, changed: bool | None, iteration: int) -> None:
        if changed is None:
            self._unseen_update = self._unseen_update or iteration
            return
        self.weights_seen = True
        if changed:
            self.moved_at, self.moved_in = self.losses, iteration
        else:
            self.unchanged_updates += 1

    def _attach(self) -> None:
        self._attached = self.losses
        self._threads |= self._waiting
        self._waiting.clear()

    def _close(self) -> None:
        if not self.ends:
            self.ends = _array(())
        self.ends.append(self._attached)
        if len(self._threads) > 1:
            self.unordered.append(self.closed)
        self._threads.clear()
        self._stepped.clear()

    def _leave_behind(self) -> None:
        """Close the open iteration without the optimizers that have not stepped in it."""
        self._live = dict.fromkeys(filter(self._stepped.__contains__, self._live))
        self._close()

    def _take_kind(self, kind: str) -> int:
        """Switch to another kind of losses, if that kind takes precedence over the present one.

        For example, losses that the script logs take precedence over those of backward passes.
        """
        if _WEIGHT.get(kind, 0) < _WEIGHT[self._kind]:
            self._release()
            return IGNORED
        late = kind == LOG and self._last is not None and self.losses == self._attached
        before, self._kind = self._kind, kind
        answer = COUNTED
        if before:
            answer = COUNTED_FROM_HERE
            self._forget_losses()
        if late:
            self._reopen()
        return answer

    def _forget_losses(self) -> None:
        """Forget the losses so far, and the iterations that only these losses had closed.

        They were no losses of the script, as a kind of losses with precedence shows.
        """
        gone = self._by_loss
        self.losses = self._attached = self._by_loss = 0
        self.ends = _array([0] * (len(self.ends) - gone))
        self._threads.clear()
        self._waiting.clear()
        self.unordered.clear()
        self.skipped = [i - gone for i in self.skipped if i > gone]
        if self._unseen_update is not None:
            self._unseen_update = max(1, self._unseen_update - gone)
        self.moved_in = max(0, (self.moved_in or 0) - gone) or None
        self.moved_at = None if self.moved_in is None else 0
        updated = any((self.ends, self._stepped, self.moved_in))
        self.first_end = 0 if updated else None

    def _reopen(self) -> None:
        """Take back the last update until its losses are known.

        The first of these losses was logged after the update.
        """
        index, changed = self._last or (0, None)
        if self._stepped:
            self._stepped.discard(index)
        else:
            self.ends.pop()
            self._stepped = self._live.keys() - {index}
        iteration = self.closed + 1
        if iteration == 1:
            self.first_end = None
        if self.moved_in == iteration:
            self.moved_at = self.moved_in = None
            changed = True
        elif self.moved_at is None and changed is False:
            self.unchanged_updates -= 1
        self._late = True
        self._held = (index, changed)

    def _release(self) -> None:
        """Count the update that was taken back, because all its losses are known now."""
        if self._held is not None:
            (index, changed), self._held = self._held, None
            self._step(index, changed)
