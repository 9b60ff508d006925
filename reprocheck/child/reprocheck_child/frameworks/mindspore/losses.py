"""MindSpore: `Model`, train cells, gradients taken by hand and compiled steps, in graph and
PyNative mode.

Patched are the executors that Python calls, never an object that the graph compiler parses: it
would compile the wrapper, and the numbers would change. Four places see every training: a callback
in `Model._train`, the call of an optimizer, the gradient functions of PyNative mode, and the
execution of a compiled cell or function (the last two in `steps`).
"""

import functools
from typing import Any, Callable, Dict, List, Optional

from ...shared.iterations import BACKWARD
from .record import Before, Recording
from .steps import Compiled, Gradients, say_captures

NAME = "mindspore"
MINIMUM = (2, 3)

SINKING = (
    "Data sinking was asked for and is off: a sunk epoch gives one loss, not one for each"
    " iteration."
)


def install(mindspore: Any, recorder: Any) -> Dict[str, str]:
    """Hook a freshly imported mindspore."""
    recording = Recording(mindspore, recorder)
    hooks: Dict[str, Callable[[], None]] = {
        "model": lambda: hook_model(recording),
        "optimizers": lambda: hook_optimizers(recording),
        "gradients": lambda: Gradients(recording).hook(),
        "cells": lambda: Compiled(recording).hook_cells(),
        "functions": lambda: Compiled(recording).hook_functions(),
        "captures": lambda: say_captures(recorder),
    }
    if recorder.level != "loss":
        from . import deep

        hooks = deep.around(recording, hooks)
    found = {name: _attempt(hook, mindspore) for name, hook in hooks.items()}
    recorder.find_rank.append(recording.find_rank)
    recorder.readers["mindspore"] = recording.log
    recorder.on_fork.append(recording.forked)
    return found


def _attempt(hook: Callable[[], None], mindspore: Any) -> str:
    try:
        hook()
        return "ok"
    except Exception as error:
        return "not available in mindspore %s: %r" % (getattr(mindspore, "__version__", "?"), error)


# --------------------------------------------------------------------------- Model.train, Model.fit


def hook_model(recording: Recording) -> None:
    """Append a callback to each training of a Model, and turn data sinking off."""
    from mindspore.train.model import Model

    real, watcher, inside = Model._train, _callback_class(recording), recording.inside

    @functools.wraps(real)
    def _train(
        self: Any,
        epoch: Any,
        train_dataset: Any,
        callbacks: Any = None,
        dataset_sink_mode: bool = True,
        *args: Any,
        **named: Any,
    ) -> Any:
        try:
            if dataset_sink_mode:
                recording.recorder.note("data-sinking-off", SINKING)
            given = [callbacks] if callbacks is not None else []
            if isinstance(callbacks, (list, tuple)):
                given = list(callbacks)
            callbacks, dataset_sink_mode = [*given, watcher()], False
        except Exception as error:
            recording.recorder.problem("Model._train", error)
        inside.depth += 1
        try:
            return real(self, epoch, train_dataset, callbacks, dataset_sink_mode, *args, **named)
        finally:
            inside.depth -= 1

    Model._train = _train


def _callback_class(recording: Recording) -> type:
    from mindspore.train.callback import Callback

    recorder = recording.recorder

    class RecordLosses(Callback):  # type: ignore[misc]
        """One iteration a step, as Model counts them."""

        before: Before = []
        optimizers: Optional[List[Any]] = None

        def on_train_step_begin(self, run_context: Any) -> None:
            try:
                if self.optimizers is None:
                    self.optimizers = _optimizers(recording, run_context.original_args())
                self.before = recording.look(self.optimizers)
            except Exception as error:
                recorder.problem("Model, before a step", error)

        def on_train_step_end(self, run_context: Any) -> None:
            try:
                _step_of_model(
                    recording, run_context.original_args(), self.optimizers or [], self.before
                )
            except Exception as error:
                recorder.problem("Model, after a step", error)

    return RecordLosses


def _optimizers(recording: Recording, parameters: Any) -> List[Any]:
    """The optimizers in a Model's train network."""
    cells = [cell for _, cell in parameters.train_network.cells_and_names()]
    found = [
        cell for cell in (*cells, parameters.optimizer) if isinstance(cell, recording.optimizers)
    ]
    return list({id(optimizer): optimizer for optimizer in found}.values())


def _step_of_model(
    recording: Recording, parameters: Any, optimizers: List[Any], before: Before
) -> None:
    """A step of a Model has ended: `net_outputs` is the loss, or (loss, overflow, scale).

    May end the process.
    """
    outputs = parameters.net_outputs
    recording.lost(recording.values.first(outputs), BACKWARD)
    manager = parameters.get("loss_scale_mananger")  # their spelling
    scaled = manager is not None and manager.get_drop_overflow_update()
    if (
        scaled
        and isinstance(outputs, (tuple, list))
        and len(outputs) > 1
        and bool(outputs[1].asnumpy().all())
    ):
        recording.recorder.skip()
    elif optimizers:
        recording.stepped(optimizers, before)
    else:
        recording.stepped_without_optimizer()


# --------------------------------------------------------------------------------------- optimizers


def hook_optimizers(recording: Recording) -> None:
    """See the birth of each optimizer and its calls from Python; one inside a graph or a Model is
    seen with its step.
    """
    for kind in recording.optimizers:
        _hook_optimizer(recording, kind)


def _hook_optimizer(recording: Recording, kind: Any) -> None:
    init, call, inside = kind.__init__, kind.__call__, recording.inside

    @functools.wraps(init)
    def __init__(optimizer: Any, *args: Any, **named: Any) -> None:  # noqa: N807
        init(optimizer, *args, **named)
        try:
            recording.index_of(optimizer)
        except Exception as error:
            recording.recorder.problem("a new optimizer", error)

    @functools.wraps(call)
    def __call__(optimizer: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
        if inside.depth:
            return call(optimizer, *args, **named)
        before = recording.look([optimizer])
        inside.depth += 1
        try:
            out = call(optimizer, *args, **named)
        finally:
            inside.depth -= 1
        recording.stepped([optimizer], before)
        return out

    kind.__init__, kind.__call__ = __init__, __call__
