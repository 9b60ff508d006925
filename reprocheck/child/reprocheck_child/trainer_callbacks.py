"""What `reprocheck.KerasCallback` and its like do: each calls `log_loss` once a loss.

`callbacks` makes them classes of their trainers' own kinds. Standard library only. Python 3.9 and
later.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class KerasCallback:
    """`fit(callbacks=[reprocheck.KerasCallback()])`: each batch's own loss, as what it added to the
    mean that Keras keeps.

    Exact to the last digits of that sum. With `steps_per_execution` above 1: the mean over the
    batches of an execution.

    Raises:
        ImportError: From `reprocheck.KerasCallback`, where Keras is not installed.

    Examples:
        >>> model.fit(x, y, epochs=1, callbacks=[reprocheck.KerasCallback()])
    """

    model: "Any"

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


class LightningCallback:
    """`Trainer(callbacks=[reprocheck.LightningCallback()])`: each loss that automatic optimization
    is about to differentiate.

    Raises:
        ImportError: From `reprocheck.LightningCallback`, where neither `lightning` nor
            `pytorch_lightning` is installed.

    Examples:
        >>> Trainer(max_epochs=1, callbacks=[reprocheck.LightningCallback()]).fit(model, loader)
    """

    def on_before_backward(self, trainer: "Any", pl_module: "Any", loss: "Any") -> None:
        """The loss of one batch, divided by `accumulate_grad_batches`."""
        _log(loss.detach())


class MindSporeCallback:
    """`Model.train(callbacks=[reprocheck.MindSporeCallback()])`: the loss of each step, the first
    of its outputs.

    Raises:
        ImportError: From `reprocheck.MindSporeCallback`, where MindSpore is not installed.

    Examples:
        >>> model.train(1, dataset, callbacks=[reprocheck.MindSporeCallback()])
    """

    def on_train_step_end(self, run_context: "Any") -> None:
        """The loss that the step returned."""
        output = run_context.original_args().net_outputs
        _log(output[0] if isinstance(output, (tuple, list)) else output)


class TransformersCallback:
    """`Trainer(callbacks=[reprocheck.TransformersCallback()])`: the `loss` of each output of the
    model while it trains.

    Raises:
        ImportError: From `reprocheck.TransformersCallback`, where Transformers is not installed.

    Examples:
        >>> Trainer(model, callbacks=[reprocheck.TransformersCallback()], **rest).train()
    """

    def on_train_begin(self, args: "Any", state: "Any", control: "Any", **kwargs: "Any") -> None:
        """Ask the model for its outputs."""
        self._handle = kwargs["model"].register_forward_hook(self._seen)

    def on_train_end(self, args: "Any", state: "Any", control: "Any", **kwargs: "Any") -> None:
        """Ask no more."""
        self._handle.remove()

    @staticmethod
    def _seen(model: "Any", inputs: "Any", output: "Any") -> None:
        loss = output.get("loss") if hasattr(output, "get") else output[0]
        if model.training and loss is not None:
            _log(loss.detach())


def _log(value: "Any") -> None:
    """Do the same as `reprocheck.log_loss`, which does nothing outside of a recorded run."""
    recorder = sys.modules.get("reprocheck_child.recorder.events")
    if recorder is not None:
        recorder.log_loss(value)
