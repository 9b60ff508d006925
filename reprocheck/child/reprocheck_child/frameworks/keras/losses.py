"""Keras 3 on TensorFlow, JAX and PyTorch: what a batch is.

The losses are seen by the backend's own adapter, where differentiation starts. Keras says when a
batch of `fit` or `train_on_batch` has ended, which is the iteration, and when an optimizer is
applied by hand. `steps_per_execution` is set to 1, or batches would end unseen.
"""

import functools
import sys
import weakref
from typing import Any, Dict, List, Optional

NAME = "keras"
MINIMUM = (3, 0)
_KEPT_LOSSES = 64


def install(keras: Any, recorder: Any) -> Dict[str, str]:
    """Hook a freshly imported keras."""
    adapter = _Adapter(keras, recorder)
    hooks: Dict[str, str] = {}
    steps = {
        name: getattr(adapter, "hook_" + name) for name in ("trainer", "callbacks", "optimizers")
    }
    if recorder.level != "loss":
        from .deep import Watcher

        adapter.deep = Watcher(keras, recorder, lambda: adapter.training > 0)
        adapter.deep.updates.index_of = adapter.of_optimizer
        steps.update(adapter.deep.hooks())
    for name, step in steps.items():
        try:
            step()
            hooks[name] = "ok"
        except Exception as error:
            hooks[name] = "not available in keras %s: %r" % (
                getattr(keras, "__version__", "?"),
                error,
            )
    return hooks


class _Adapter:
    def __init__(self, keras: Any, recorder: Any) -> None:
        self.keras = keras
        self.recorder = recorder
        self.index: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self.training = 0  # how many batches of a trainer are under way
        self.deep: Any = None
        """What records the deeper levels, at those levels."""

    # -------------------------------------------------------------------------------------- batches

    def hook_trainer(self) -> None:
        """One step an execution; `train_on_batch` is a batch."""
        from keras.src.trainers.trainer import Trainer

        real, adapter = Trainer.compile, self

        @functools.wraps(real)
        def compile(model: Any, *args: Any, **kwargs: Any) -> Any:
            returned = real(model, *args, **kwargs)
            adapter.one_step(model)
            return returned

        Trainer.compile = compile
        for owner in _trainers(self.keras):
            self._hook_train_on_batch(owner)

    def _hook_train_on_batch(self, owner: Any) -> None:
        real, adapter = owner.train_on_batch, self

        @functools.wraps(real)
        def train_on_batch(model: Any, *args: Any, **kwargs: Any) -> Any:
            adapter.begin(model, (*args, *kwargs.values()))
            try:
                returned = real(model, *args, **kwargs)
            finally:
                adapter.training -= 1
            adapter.end(model)
            return returned

        owner.train_on_batch = train_on_batch

    def hook_callbacks(self) -> None:
        """A callback of ours in front of all others hears of every batch of `fit`."""
        from keras.src.callbacks import callback_list

        real, adapter = callback_list.CallbackList.__init__, self
        kind = self._callback()

        @functools.wraps(real)
        def __init__(held: Any, callbacks: Any = None, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            given = callbacks or []
            theirs = list(given) if isinstance(given, (list, tuple)) else [given]
            real(held, [kind(adapter), *theirs], *args, **kwargs)

        callback_list.CallbackList.__init__ = __init__

    def _callback(self) -> Any:
        class Recording(self.keras.callbacks.Callback):  # type: ignore[name-defined,misc]
            """Hears of the batches of `fit`."""

            def __init__(self, adapter: "_Adapter") -> None:
                super().__init__()
                self.adapter = adapter

            def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
                if self.adapter.deep is not None:
                    self.adapter.deep.epoch()

            def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
                self.adapter.begin(self.model)

            def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
                self.adapter.training = 0
                self.adapter.end(self.model)

        return Recording

    def one_step(self, model: Any) -> None:
        """Make each batch an execution of its own."""
        try:
            if getattr(model, "steps_per_execution", 1) != 1:
                self.recorder.note(
                    "steps-per-execution",
                    "`steps_per_execution` was set to 1, so that each batch has a loss of its own.",
                )
                model.steps_per_execution = 1
        except Exception as error:
            self.recorder.problem("setting steps_per_execution", error)

    def begin(self, model: Any, given: Any = None) -> None:
        """A batch begins; `given` to `train_on_batch`."""
        self.training += 1
        try:
            self.of_model(model)
            if self.deep is not None:
                self.deep.begin(model, given)
        except Exception as error:
            self.recorder.problem("a batch of keras", error)

    def end(self, model: Any) -> None:
        """A batch has ended, and with it an iteration. May end the process."""
        try:
            if self.keras.backend.backend() == "jax":
                sys.modules["jax"].effects_barrier()
            if self.deep is not None:
                self.deep.end(model, self.of_model(model))
            self.recorder.update(self.of_model(model), None)
        except Exception as error:
            self.recorder.problem("a batch of keras", error)

    def of_model(self, model: Any) -> int:
        """The index under which the batches of a model are recorded: that of its optimizer."""
        optimizer = getattr(model, "optimizer", None)
        return self.of_optimizer(optimizer if optimizer is not None else model)

    # ----------------------------------------------------------------------------------- optimizers

    def hook_optimizers(self) -> None:
        """Optimizers that are built, applied by hand, and that scale the loss."""
        from keras.src.optimizers import base_optimizer
        from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer

        self._hook_init(base_optimizer.BaseOptimizer)
        self._hook_apply(base_optimizer.BaseOptimizer)
        for owner in (base_optimizer.BaseOptimizer, LossScaleOptimizer):
            self._hook_scale(owner)

    def _hook_init(self, owner: Any) -> None:
        real, adapter = owner.__init__, self

        @functools.wraps(real)
        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            real(optimizer, *args, **kwargs)
            try:
                adapter.of_optimizer(optimizer)
            except Exception as error:
                adapter.recorder.problem("an optimizer of keras was built", error)

        owner.__init__ = __init__

    def _hook_apply(self, owner: Any) -> None:
        real, adapter = owner.apply, self

        @functools.wraps(real)
        def apply(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            updates = adapter.deep.updates if adapter.deep is not None else None
            if updates is not None:
                updates.before(optimizer, *_given(*args, **kwargs))
            returned = real(optimizer, *args, **kwargs)
            if updates is not None:
                updates.after(optimizer)
            if not adapter.training:
                adapter.applied(optimizer)
            return returned

        owner.apply = apply

    def applied(self, optimizer: Any) -> None:
        """An optimizer was applied outside of a trainer's batch: eagerly, or in a function that is
        being traced. May end the process.
        """
        try:
            index = self.of_optimizer(optimizer)
            backend = self.keras.backend.backend()
            if backend == "tensorflow":
                from ..tensorflow import losses as tensorflow

                tensorflow.of(sys.modules["tensorflow"], self.recorder).applied(
                    index, optimizer.iterations
                )
            elif backend == "torch":
                self.recorder.update(index, None)
        except Exception as error:
            self.recorder.problem("an optimizer of keras was applied", error)

    def of_optimizer(self, optimizer: Any) -> int:
        """The recorder's index of an optimizer; the wrapped one's where it wraps one."""
        optimizer = getattr(optimizer, "inner_optimizer", optimizer)
        index: Optional[int] = self.index.get(optimizer)
        if index is None:
            index = self.index[optimizer] = self.recorder.optimizer(type(optimizer).__name__)
        return index

    def _hook_scale(self, owner: Any) -> None:
        real = vars(owner).get("scale_loss")
        if real is None:
            return
        recorder, keras = self.recorder, self.keras

        @functools.wraps(real)
        def scale_loss(optimizer: Any, loss: Any) -> Any:
            scaled = real(optimizer, loss)
            if scaled is not loss and keras.backend.backend() == "tensorflow":
                from ..tensorflow import losses as tensorflow

                unscaled = tensorflow.of(sys.modules["tensorflow"], recorder).unscaled
                if len(unscaled) > _KEPT_LOSSES:
                    unscaled.clear()
                unscaled[id(scaled)] = (lambda: scaled, loss)
            return scaled

        owner.scale_loss = scale_loss


def _given(grads: Any, trainable_variables: Any = None) -> Any:
    """Gradients and weights of a call of `apply`."""
    return grads, trainable_variables


def _trainers(keras: Any) -> List[Any]:
    """The trainer classes of the backend in use that define `train_on_batch`."""
    module = sys.modules.get("keras.src.backend.%s.trainer" % keras.backend.backend())
    return (
        [
            kind
            for kind in vars(module).values()
            if isinstance(kind, type) and "train_on_batch" in vars(kind)
        ]
        if module
        else []
    )
