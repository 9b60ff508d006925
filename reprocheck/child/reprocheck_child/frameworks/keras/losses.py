"""Records when batches of Keras 3 end, on TensorFlow, JAX and PyTorch.

The losses are seen by the backend's own adapter, where differentiation starts. Keras says when a
batch of `fit` or `train_on_batch` has ended, which is the iteration, and when an optimizer is
applied by hand. `steps_per_execution` is set to 1, or batches would end unseen.
"""

import sys
import weakref
from typing import Any, Dict, Optional

from ...recorder.hooking import around, guarded, install as install_hooks, replace

_KEPT_LOSSES = 64

BY = "keras"
"""Who is given what an epoch reports."""
COMPILED = "Keras compiles the training step"


def install(keras: Any, recorder: Any) -> Dict[str, str]:
    """Install the hooks in a freshly imported keras."""
    adapter = _Adapter(keras, recorder)
    steps = {
        name: getattr(adapter, "hook_" + name) for name in ("trainer", "callbacks", "optimizers")
    }
    if keras.backend.backend() == "torch":
        # on that backend the level is left at the import of Keras, for loops of the script's own,
        # too
        recorder.stay_shallow("the hooks of PyTorch see no names of layers of Keras")
    if recorder.deeper:
        from .deep import Watcher

        adapter.deep = Watcher(keras, recorder, lambda: adapter.training > 0)
        adapter.deep.updates.index_of = adapter.of_optimizer
        adapter.deep.updates.optimizers = lambda: adapter.index
        steps.update(adapter.deep.hooks())
    return install_hooks(keras, steps)


class _Adapter:
    def __init__(self, keras: Any, recorder: Any) -> None:
        self.keras = keras
        self.recorder = recorder
        self.index: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.training = 0  # how many batches of a trainer are under way
        self.deep: Any = None
        """What records the deeper levels, at those levels."""

    def hook_trainer(self) -> None:
        """Set one step for each execution of a trainer, and record `train_on_batch`."""
        from keras.src.trainers.trainer import Trainer

        around(Trainer, "compile", "a model that is compiled", after=self.compiled)
        # each backend has a trainer of its own, which defines `train_on_batch` anew
        backend = self.keras.backend.backend()
        module = sys.modules.get("keras.src.backend.%s.trainer" % backend)
        for kind in list(vars(module).values()) if module else ():
            if isinstance(kind, type) and "train_on_batch" in vars(kind):
                replace(kind, "train_on_batch", self._one_batch)

    def _one_batch(self, real: Any) -> Any:
        def train_on_batch(model: Any, *args: Any, **kwargs: Any) -> Any:
            self.begin(model, (*args, *kwargs.values()))
            try:
                returned = real(model, *args, **kwargs)
            finally:
                self.training -= 1
            self.end(model)
            return returned

        return train_on_batch

    def hook_callbacks(self) -> None:
        """Add a callback of ours before all others, which sees every batch of `fit`."""
        # `fit` wraps what callbacks it is given in a list of its own, made by this class
        from keras.src.callbacks import callback_list

        kind = self._callback()

        def with_ours(real: Any) -> Any:
            def __init__(  # noqa: N807
                instance: Any, callbacks: Any = None, *args: Any, **kwargs: Any
            ) -> None:
                given = callbacks or []
                theirs = list(given) if isinstance(given, (list, tuple)) else [given]
                last = [] if self.deep is None else self.deep.held.callbacks()
                real(instance, [kind(self), *theirs, *last], *args, **kwargs)

            return __init__

        replace(callback_list.CallbackList, "__init__", with_ours)

    def _callback(self) -> Any:
        class Recording(self.keras.callbacks.Callback):  # type: ignore[name-defined,misc]
            """A callback that sees the batches of `fit`."""

            def __init__(self, adapter: "_Adapter") -> None:
                super().__init__()
                self.adapter = adapter
                self.fitting = False

            def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
                self.adapter.recorder.epoch_began("fit")
                if self.adapter.deep is not None:
                    self.adapter.deep.epoch()

            def on_train_begin(self, logs: Any = None) -> None:
                self.fitting = True

            def on_train_end(self, logs: Any = None) -> None:
                self.fitting = False

            def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
                self.adapter.reported(self.model, epoch, logs or {})

            def on_test_end(self, logs: Any = None) -> None:
                if not self.fitting:  # else they are among the logs of the epoch
                    self.adapter.evaluated(logs or {})

            def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
                self.adapter.begin(self.model)

            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                self.adapter.training = 0
                self.adapter.end(self.model, logs)

        return Recording

    @guarded("the logs of an epoch of keras")
    def reported(self, model: Any, epoch: int, logs: Dict[str, Any]) -> None:
        """Record the logged values of an epoch of `fit` that has ended, with its validation."""
        series = self.recorder.series
        series.add_all(logs, epoch, BY)
        optimizer = getattr(model, "optimizer", None)
        # Private: `learning_rate` would compute the rate of a schedule anew.
        rate = getattr(_wrapped(optimizer), "_learning_rate", None)
        if isinstance(rate, self.keras.Variable):
            series.add("learning_rate", self.keras.ops.convert_to_numpy(rate), epoch, BY)

    def evaluated(self, logs: Dict[str, Any]) -> None:
        """Record the result of `evaluate` if the script itself called it."""
        self.recorder.series.add_all(_prefixed("evaluate/", logs), None, BY)

    def compiled(self, _: Any, model: Any, *__: Any, **___: Any) -> None:
        """Set `steps_per_execution` of a compiled model to 1."""
        if not getattr(model, "run_eagerly", False):
            self.recorder.stay_shallow(COMPILED)
        if getattr(model, "steps_per_execution", 1) != 1:
            self.recorder.note(
                "steps-per-execution",
                "`steps_per_execution` was set to 1, so that each batch has its own loss.",
            )
            model.steps_per_execution = 1

    def begin(self, model: Any, given: Any = None) -> None:
        """Begin a batch; `given` is the batch passed to `train_on_batch`."""
        self.training += 1
        with guarded("a batch of keras"):
            self.of_model(model)
            if self.deep is not None:
                self.deep.begin(model, given)

    @guarded("a batch of keras")
    def end(self, model: Any, logs: Any = None) -> None:
        """End a batch, and with it an iteration.

        May end the process.

        `logs`: what `fit` hands to callbacks then, which Keras has made Python numbers of.
        """
        if self.keras.backend.backend() == "jax":
            sys.modules["jax"].effects_barrier()
        # behind the loss, which opens the iteration, and before the update, which may be the last
        self.recorder.series.add_all(_prefixed("batch_end/", logs or {}), None, BY)
        if self.deep is not None:
            self.deep.end(model, self.of_model(model))
        self.recorder.update(self.of_model(model), None)

    def of_model(self, model: Any) -> int:
        """Return the index by which a model's batches are recorded: that of its optimizer."""
        optimizer = getattr(model, "optimizer", None)
        if optimizer is None:
            optimizer = model  # one that updates its weights by itself
        return self.of_optimizer(optimizer)

    def hook_optimizers(self) -> None:
        """Set hooks on optimizers: building them, applying them by hand, scaling the loss."""
        # private: the base of all optimizers, on every backend; a class of the backend stands
        # between it and the public `keras.optimizers.Optimizer`
        from keras.src.optimizers import base_optimizer
        from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer

        kind = base_optimizer.BaseOptimizer
        around(kind, "__init__", "an optimizer of keras was built", after=self._built)
        replace(kind, "apply", self._applying)
        for owner in (kind, LossScaleOptimizer):
            if "scale_loss" in vars(owner):
                around(owner, "scale_loss", "a scaled loss of keras", after=self._scaled)

    def _built(self, _: None, optimizer: Any, *__: Any, **___: Any) -> None:
        self.of_optimizer(optimizer)

    def _applying(self, real: Any) -> Any:
        def apply(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            updates = self.deep.updates if self.deep is not None else None
            if updates is not None:
                updates.before(optimizer, *_given(*args, **kwargs))
            returned = real(optimizer, *args, **kwargs)
            if updates is not None:
                updates.after(optimizer)
            if not self.training:
                self.applied(optimizer)
            return returned

        return apply

    @guarded("an optimizer of keras was applied")
    def applied(self, optimizer: Any) -> None:
        """Record an optimizer that was applied outside of a trainer's batch.

        Eagerly, or in a function that is being traced. May end the process.
        """
        index = self.of_optimizer(optimizer)
        backend = self.keras.backend.backend()
        if backend == "tensorflow":
            from ..tensorflow import losses as tensorflow

            tensorflow.of(sys.modules["tensorflow"], self.recorder).applied(
                index, optimizer.iterations
            )
        elif backend == "torch":
            self.recorder.update(index, None)

    def of_optimizer(self, optimizer: Any) -> int:
        """Return the recorder's index of an optimizer; of the inner one if it wraps another."""
        optimizer = _wrapped(optimizer)
        index: Optional[int] = self.index.get(optimizer)
        if index is None:
            index = self.index[optimizer] = self.recorder.optimizer(type(optimizer).__name__)
        return index

    def _scaled(self, scaled: Any, optimizer: Any, loss: Any) -> None:
        """Remember a loss before and after its scaling by an optimizer.

        On TensorFlow the tape computes the gradients of the scaled loss.
        """
        if scaled is loss or self.keras.backend.backend() != "tensorflow":
            return
        from ..tensorflow import losses as tensorflow

        unscaled = tensorflow.of(sys.modules["tensorflow"], self.recorder).unscaled
        if len(unscaled) > _KEPT_LOSSES:
            unscaled.clear()
        unscaled[id(scaled)] = (lambda: scaled, loss)


def _wrapped(optimizer: Any) -> Any:
    """Return the inner optimizer of a `LossScaleOptimizer`; any other optimizer itself."""
    return getattr(optimizer, "inner_optimizer", optimizer)


def _prefixed(prefix: str, logs: Dict[str, Any]) -> Dict[str, Any]:
    """Return logs with a prefix before their names, to tell them from the logs of an epoch."""
    return {prefix + str(name): value for name, value in logs.items()}


def _given(grads: Any, trainable_variables: Any = None) -> Any:
    """Return (gradients, weights) that a call of `apply` is given."""
    return grads, trainable_variables
