"""Callbacks that say the losses of a trainer in code, for people who prefer that to hooks: each
calls `log_loss` once a loss.

Each name is a class of its trainer's own kind, made when it is first asked for; the trainer is
imported then, and by nothing else here. Standard library only. Python 3.9 and later, in any
interpreter.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = ("KerasCallback", "LightningCallback", "MindSporeCallback", "TransformersCallback")


def __getattr__(name: str) -> "Any":
    if name not in NAMES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    made = {
        "KerasCallback": _keras,
        "LightningCallback": _lightning,
        "MindSporeCallback": _mindspore,
        "TransformersCallback": _transformers,
    }[name]()
    made.__module__, made.__qualname__ = "reprocheck", name
    globals()[name] = made
    return made


def _class(module: str, name: str) -> "Any":
    from importlib import import_module

    return getattr(import_module(module), name)


def _log(value: "Any") -> None:
    """As `reprocheck.log_loss`, which does nothing outside of a recorded run."""
    recorder = sys.modules.get("reprocheck_child.events")
    if recorder is not None:
        recorder.log_loss(value)


def _lightning() -> "Any":
    older = "pytorch_lightning" in sys.modules and "lightning" not in sys.modules

    package = "pytorch_lightning" if older else "lightning.pytorch"

    class LightningCallback(_class(package, "Callback")):  # type: ignore[misc]
        """`Trainer(callbacks=[reprocheck.LightningCallback()])`: each loss that automatic
        optimization is about to differentiate.
        """

        def on_before_backward(self, trainer: "Any", pl_module: "Any", loss: "Any") -> None:
            """The loss of one batch, divided by `accumulate_grad_batches`."""
            _log(loss.detach())

    return LightningCallback


def _transformers() -> "Any":
    class TransformersCallback(_class("transformers", "TrainerCallback")):  # type: ignore[misc]
        """`Trainer(callbacks=[reprocheck.TransformersCallback()])`: the `loss` of each output of
        the model while it trains.
        """

        def on_train_begin(
            self, args: "Any", state: "Any", control: "Any", **kwargs: "Any"
        ) -> None:
            """Asks the model for its outputs."""
            self._handle = kwargs["model"].register_forward_hook(self._seen)

        def on_train_end(self, args: "Any", state: "Any", control: "Any", **kwargs: "Any") -> None:
            """Asks no more."""
            self._handle.remove()

        @staticmethod
        def _seen(model: "Any", inputs: "Any", output: "Any") -> None:
            loss = output.get("loss") if hasattr(output, "get") else output[0]
            if model.training and loss is not None:
                _log(loss.detach())

    return TransformersCallback


def _keras() -> "Any":
    class KerasCallback(_class("keras.callbacks", "Callback")):  # type: ignore[misc]
        """`fit(callbacks=[reprocheck.KerasCallback()])`: each batch's own loss, as what it added to
        the mean that Keras keeps.

        Exact to the last digits of that sum. With `steps_per_execution` above 1: the mean over the
        batches of an execution.
        """

        def on_epoch_begin(self, epoch: int, logs: "Any" = None) -> None:
            """The mean starts again."""
            self._before = (0.0, 0.0)

        def on_train_batch_end(self, batch: int, logs: "Any" = None) -> None:
            """What this batch added."""
            tracker = self.model._loss_tracker
            total, count = (float(value) for value in (tracker.total, tracker.count))
            before, self._before = self._before, (total, count)
            if count > before[1]:
                _log((total - before[0]) / (count - before[1]))

    return KerasCallback


def _mindspore() -> "Any":
    class MindSporeCallback(_class("mindspore.train.callback", "Callback")):  # type: ignore[misc]
        """`Model.train(callbacks=[reprocheck.MindSporeCallback()])`: the loss of each step, the
        first of its outputs.
        """

        def on_train_step_end(self, run_context: "Any") -> None:
            """The loss that the step returned."""
            output = run_context.original_args().net_outputs
            _log(output[0] if isinstance(output, (tuple, list)) else output)

    return MindSporeCallback
