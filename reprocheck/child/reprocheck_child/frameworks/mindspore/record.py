"""Turns MindSpore tensors and optimizers into the recorder's events.

Losses are read where they lie, weights are looked at around an update.
"""

import os
import threading
import weakref
from itertools import zip_longest
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ...recorder.hooking import guarded
from ...recorder.lines import one_or_all
from ...shared.iterations import LOG
from .values import Values, changed, checksums, listed

BY = "mindspore"


class Rates:
    """The rates of all optimizers at each update; only changes are recorded."""

    def __init__(self, mindspore: Any, recorder: Any) -> None:
        self.parameter = mindspore.Parameter
        self.series = recorder.series
        self.held: weakref.WeakKeyDictionary[Any, List[Any]] = weakref.WeakKeyDictionary()
        """Optimizer -> what its groups had when its step began."""
        self.names: Dict[int, List[str]] = {}

    @guarded("learning rates")
    def look(self, optimizers: Sequence[Any]) -> None:
        """Read the rates as a step of these optimizers begins."""
        for optimizer in optimizers:
            step = getattr(optimizer, "global_step", None)
            self.held[optimizer] = [self._read(rate, step) for rate in _groups(optimizer)]

    @guarded("a learning rate")
    def report(self, optimizer: Any, index: int, built: int) -> None:
        """Record the learning rates of an optimizer that has stepped.

        `built`: how many optimizers were built so far.
        """
        values = self.held.pop(optimizer, [])
        names = self.names.setdefault(index, [])
        if not names and len(values) == 1 and built == 1:
            names.append("learning_rate")
        while len(names) < len(values):
            names.append("learning_rate/%d.%d" % (index, len(names)))
        for name, value in zip(names, values):
            if value is not None:
                self.series.keep(name, value, BY)

    def _read(self, rate: Any, step: Any) -> Any:
        """Return a rate as a number of Python or numpy; None if it would have to be computed."""
        if isinstance(rate, float):
            return rate
        parameter = self._parameter(rate)
        if parameter is None:
            return None
        values = parameter.asnumpy()  # a view: what is taken out of it is a copy
        if not values.ndim:
            return values[()]
        place = int(step.asnumpy()[0])
        if place >= len(values):
            return None
        return values[place]

    def _parameter(self, rate: Any) -> Any:
        """Return the parameter that holds a rate; None for a schedule, which computes it.

        It is held as it is, or in one of the two cells that MindSpore makes of a number and of a
        list of rates.
        """
        if isinstance(rate, self.parameter):
            return rate
        # private; a schedule of the script's own has another class, whatever its attributes
        if type(rate).__name__ not in ("_ConvertToCell", "_IteratorLearningRate"):
            return None
        return rate.learning_rate


def _groups(optimizer: Any) -> List[Any]:
    """Return the learning rates of an optimizer, one for each group of parameters."""
    groups: Optional[List[Any]] = getattr(optimizer, "param_groups", None)
    if groups is not None:  # of `mindspore.experimental` and `mindspore.mint`
        return [group.get("lr") for group in groups]
    rates: Any = getattr(optimizer, "learning_rate", None)
    if not getattr(optimizer, "is_group_lr", False):
        return [rates]
    # one for each parameter: those of a group are the same object
    return list({id(rate): rate for rate in rates}.values())


Before = List[Optional[List[int]]]
"""For each optimizer of a step the checksums of its weights before it, None where they could not be
read; empty where not looked at.
"""


class Inside(threading.local):
    """The depth of hooked executions in this thread; only the outermost is recorded.

    `with inside:` stands around an execution.
    """

    depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1


class Recording:
    """The recorder, the indices of optimizers and the readers of values that all hooks share."""

    def __init__(self, mindspore: Any, recorder: Any) -> None:
        from mindspore import nn

        self.mindspore = mindspore
        self.recorder = recorder
        self.values = Values(mindspore)
        self.inside = Inside()
        self.optimizers: Tuple[Any, ...] = (nn.Optimizer, *_experimental(mindspore))
        self.index: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.built = 0  # optimizers that were ever built
        self.rates = Rates(mindspore, recorder)
        self.deep: Any = None
        """What watches the deeper levels, at those levels; it is told of each half of a gradient
        and of each update before they are counted, which may end the process.
        """
        self._model: Optional[int] = None
        self._by_hand: Optional[List[int]] = None
        self._on_cpu: Optional[bool] = None

    def lost(self, tensors: List[Any], kind: str, scale: float = 1.0) -> None:
        """Record the losses from which one backward pass starts.

        May end the process.

        They are read now if they lie in host memory, else one iteration later.
        """
        if not tensors:
            return
        if self.deep is not None:
            self.deep.lost(tensors)
        values = self.values
        dtypes = one_or_all(list(map(values.dtype, tensors)))
        numel = tensors[0].size if len(tensors) == 1 else 1
        if self.on_cpu():
            self.recorder.loss(
                [values.read(tensor, scale) for tensor in tensors], dtypes, kind, numel
            )
        else:
            self.recorder.later(len(tensors), values.later(tensors, dtypes, scale), kind, numel)

    def on_cpu(self) -> bool:
        """Return whether tensors lie in host memory."""
        if self._on_cpu is None:
            self._on_cpu = self.mindspore.get_context("device_target") == "CPU"
        return self._on_cpu

    def index_of(self, optimizer: Any) -> int:
        """Return the recorder's index of an optimizer.

        An optimizer whose constructor was not seen (a deep copy) gets a new index.
        """
        index = self.index.get(optimizer)
        if index is None:
            self.built += 1
            index = self.index[optimizer] = self.recorder.optimizer(type(optimizer).__name__)
        return index

    def look(self, optimizers: Sequence[Any]) -> Before:
        """Read the learning rates of optimizers whose step begins.

        Return checksums of their weights, or [] once an update was seen to change weights.
        """
        if optimizers and self.on_cpu():
            self.rates.look(optimizers)
        if self.deep is not None:
            self.deep.before_step(optimizers)
        if not self.recorder.watching():
            return []
        with guarded("checksums of weights"):
            return [checksums(optimizer.parameters) for optimizer in optimizers]
        return []

    @guarded("an optimizer's step")
    def stepped(self, optimizers: Sequence[Any], before: Before) -> None:
        """Record optimizers that have stepped, each once.

        May end the process.
        """
        if self.deep is not None:
            self.deep.stepped(optimizers)
        for optimizer, sums in zip_longest(optimizers, before):
            moved = None
            if self.recorder.watching():
                moved = changed(optimizer.parameters, sums)
            index = self.index_of(optimizer)
            self.rates.report(optimizer, index, self.built)
            self.recorder.update(index, moved)

    def stepped_without_optimizer(self) -> None:
        """Record a step of a Model without an optimizer.

        Its network updates its weights by itself. May end the process.
        """
        if self._model is None:
            self._model = self.recorder.optimizer("Model")
        self.recorder.update(self._model, None)

    def look_by_hand(self, weights: Any) -> None:
        """Record whether weights changed since the last gradient, if there is no optimizer."""
        if weights is None or self.built or not self.recorder.watching():
            return
        before, self._by_hand = self._by_hand, checksums(listed(weights))
        now = self._by_hand or []
        if before and len(before) == len(now):
            self.recorder.looked(before != now)

    def find_rank(self) -> Optional[Tuple[int, int]]:
        """Return (rank, number of ranks) once communication is initialised.

        Before that, they are read from the launcher's environment variables.
        """
        from mindspore.communication import management

        if management.GlobalComm.INITED:
            return management.get_rank(), management.get_group_size()
        rank = os.environ.get("RANK_ID", "")
        # of `mpirun` and rank tables; of `msrun`
        size = os.environ.get("RANK_SIZE") or os.environ.get("MS_WORKER_NUM", "")
        if not (rank.isdigit() and size.isdigit()) or int(size) < 2:
            return None
        return int(rank), int(size)

    def log(self, value: Any) -> bool:
        """Log a MindSpore tensor as `log_loss` does."""
        if not isinstance(value, self.mindspore.Tensor):
            return False
        self.lost([value], LOG)
        return True

    def forked(self) -> None:
        """Begin a forked process outside every execution, with no weights seen."""
        self.inside.depth = 0
        self._by_hand = None
        self.values.unscaled.clear()


def overflowed(outputs: Any) -> bool:
    """Return whether a step with a loss scaler found an overflow and skipped the update.

    Such a step returns (loss, overflow, scale).
    """
    if not isinstance(outputs, (tuple, list)) or len(outputs) < 2:
        return False
    return bool(outputs[1].asnumpy().all())


def _experimental(mindspore: Any) -> Tuple[Any, ...]:
    """Return the base class of the experimental optimizers, if this version has it.

    It is that of `mindspore.experimental.optim` and `mindspore.mint.optim`.
    """
    try:
        return (mindspore.experimental.optim.Optimizer,)
    except AttributeError:
        return ()
