"""Records losses and updates of MindSpore, in graph and PyNative mode.

They are those of `Model`, train cells, gradients taken by hand and compiled steps.

Patched are the executors that Python calls, never an object that the graph compiler parses: it
would compile the wrapper, and the numbers would change. Four places see every training: a callback
in `Model._train`, the call of an optimizer, the gradient functions of PyNative mode, and the
execution of a compiled cell or function (the last two in `steps`).
"""

from functools import partial
from typing import Any, Callable, Dict, List, Optional

from ...recorder.hooking import around, guarded, install as install_hooks, replace
from ...shared.iterations import BACKWARD
from .record import Before, Recording, overflowed
from .steps import Compiled, Gradients, say_captures
from .values import listed

SINKING = (
    "Data sinking was asked for and is off: a sunk epoch gives one loss, not one for each"
    " iteration."
)


def install(mindspore: Any, recorder: Any) -> Dict[str, str]:
    """Install the hooks in a freshly imported mindspore."""
    recording = Recording(mindspore, recorder)
    steps: Dict[str, Callable[[], None]] = {
        "model": lambda: hook_model(recording),
        "optimizers": lambda: hook_optimizers(recording),
        "gradients": lambda: Gradients(recording).hook(),
        "cells": lambda: Compiled(recording).hook_cells(),
        "functions": lambda: Compiled(recording).hook_functions(),
        "captures": lambda: say_captures(recorder),
    }
    hooks = install_hooks(mindspore, steps)
    if recorder.goes_deeper():
        from . import deep

        hooks.update(deep.install(recording))
    recorder.find_rank.append(recording.find_rank)
    recorder.readers["mindspore"] = recording.log
    recorder.on_fork.append(recording.forked)
    return hooks


def hook_model(recording: Recording) -> None:
    """Add our callbacks to each training of a Model, and turn data sinking off."""
    # private, but what both `train` and `fit` call once they have checked what they were given
    from mindspore.train.model import Model

    callbacks_around, inside = _callbacks(recording), recording.inside

    def with_ours(real: Any) -> Any:
        def _train(
            self: Any,
            epoch: Any,
            train_dataset: Any,
            callbacks: Any = None,
            dataset_sink_mode: bool = True,
            *args: Any,
            **named: Any,
        ) -> Any:
            with guarded("Model._train"):
                if dataset_sink_mode:
                    recording.recorder.note("data-sinking-off", SINKING)
                given = [] if callbacks is None else listed(callbacks)
                callbacks, dataset_sink_mode = callbacks_around(given), False
            with inside:
                return real(
                    self, epoch, train_dataset, callbacks, dataset_sink_mode, *args, **named
                )

        return _train

    # private: `train` and `fit` both lead through it (MindSpore 2.10)
    replace(Model, "_train", with_ours)


def _callbacks(recording: Recording) -> Callable[[List[Any]], List[Any]]:
    from mindspore.train.callback import Callback

    class Begins(Callback):  # type: ignore[misc]
        """A callback for the beginning of a step, after the script's own callbacks."""

        before: Before = []
        optimizers: Optional[List[Any]] = None

        def on_train_step_begin(self, run_context: Any) -> None:
            with guarded("Model, before a step"):
                if self.optimizers is None:
                    parameters = run_context.original_args()
                    cells = [cell for _, cell in parameters.train_network.cells_and_names()]
                    optimizers = [
                        cell
                        for cell in (*cells, parameters.optimizer)
                        if isinstance(cell, recording.optimizers)
                    ]
                    self.optimizers = list(
                        {id(optimizer): optimizer for optimizer in optimizers}.values()
                    )
                self.before = recording.look(self.optimizers)

    class Ends(Callback):  # type: ignore[misc]
        """A callback for the end of a step: one iteration, as Model counts them."""

        def __init__(self, begins: Begins) -> None:
            super().__init__()
            self.begins = begins

        def on_train_step_end(self, run_context: Any) -> None:
            with guarded("Model, after a step"):
                begins = self.begins
                parameters = run_context.original_args()
                optimizers = begins.optimizers or []
                before = begins.before
                outputs = parameters.net_outputs
                recording.lost(recording.values.first(outputs), BACKWARD)
                manager = parameters.get("loss_scale_mananger")  # their spelling
                scaled = manager is not None and manager.get_drop_overflow_update()
                if scaled and overflowed(outputs):
                    recording.recorder.skip()
                elif optimizers:
                    recording.stepped(optimizers, before)
                else:
                    recording.stepped_without_optimizer()

    def around(given: List[Any]) -> List[Any]:
        begins = Begins()
        ends = Ends(begins)
        if recording.recorder.boundaries is None:
            return [*given, ends, begins]  # it may end the process: theirs are called before
        return [ends, *given, begins]  # a checkpoint that theirs write lies behind the update

    return around


def hook_optimizers(recording: Recording) -> None:
    """Set hooks on the constructor of each optimizer and its calls from Python.

    An optimizer inside a graph or a Model is recorded with its step.
    """
    for kind in recording.optimizers:
        around(kind, "__init__", "a new optimizer", after=partial(_built, recording))
        replace(kind, "__call__", partial(_stepping, recording))


def _built(recording: Recording, _: None, optimizer: Any, *__: Any, **___: Any) -> None:
    recording.index_of(optimizer)


def _stepping(recording: Recording, real: Any) -> Any:
    inside = recording.inside

    def __call__(optimizer: Any, *args: Any, **named: Any) -> Any:  # noqa: N807
        update = real if recording.deep is None else partial(recording.deep.update, real)
        if inside.depth:
            return update(optimizer, *args, **named)
        before = recording.look([optimizer])
        with inside:
            out = update(optimizer, *args, **named)
        recording.stepped([optimizer], before)
        return out

    return __call__
