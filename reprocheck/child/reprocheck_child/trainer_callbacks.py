"""The callbacks such as `reprocheck.KerasCallback`: each calls `log_loss` once for each loss.

`callbacks` makes them classes of their trainers' own kinds. Standard library only. Python 3.9 and
later.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class KerasCallback:
    """Logs the loss of each batch: `fit(callbacks=[reprocheck.KerasCallback()])`.

    The loss is what the batch added to the mean that Keras keeps.

    Exact to the last digits of that sum. With `steps_per_execution` above 1: the mean over the
    batches of an execution.

    Raises:
        ImportError: From `reprocheck.KerasCallback`, where Keras is not installed.

    Examples:
        >>> model.fit(x, y, epochs=1, callbacks=[reprocheck.KerasCallback()])
    """

    model: "Any"

    def on_epoch_begin(self, epoch: int, logs: "Any" = None) -> None:
        """Start the mean anew."""
        self._before = (0.0, 0.0)

    def on_train_batch_end(self, batch: int, logs: "Any" = None) -> None:
        """Log what this batch added to the mean."""
        # private: `logs["loss"]` is the mean of the epoch so far, not the batch's loss (Keras 3)
        tracker = self.model._loss_tracker
        total, count = (float(value) for value in (tracker.total, tracker.count))
        before, self._before = self._before, (total, count)
        if count > before[1]:
            _log((total - before[0]) / (count - before[1]))


class LightningCallback:
    """Logs each loss that Lightning's automatic optimization is about to differentiate.

    Used as `Trainer(callbacks=[reprocheck.LightningCallback()])`.

    Raises:
        ImportError: From `reprocheck.LightningCallback`, where neither `lightning` nor
            `pytorch_lightning` is installed.

    Examples:
        >>> Trainer(max_epochs=1, callbacks=[reprocheck.LightningCallback()]).fit(model, loader)
    """

    def on_before_backward(self, trainer: "Any", pl_module: "Any", loss: "Any") -> None:
        """Log the loss of one batch, divided by `accumulate_grad_batches`."""
        _log(loss.detach())


class MindSporeCallback:
    """Logs the loss of each step, which is the first of its outputs.

    Used as `Model.train(callbacks=[reprocheck.MindSporeCallback()])`.

    Raises:
        ImportError: From `reprocheck.MindSporeCallback`, where MindSpore is not installed.

    Examples:
        >>> model.train(1, dataset, callbacks=[reprocheck.MindSporeCallback()])
    """

    def on_train_step_end(self, run_context: "Any") -> None:
        """Log the loss that the step returned."""
        output = run_context.original_args().net_outputs
        _log(output[0] if isinstance(output, (tuple, list)) else output)


class TransformersCallback:
    """Logs the `loss` of each output of the model while it trains.

    Used as `Trainer(callbacks=[reprocheck.TransformersCallback()])`.

    Raises:
        ImportError: From `reprocheck.TransformersCallback`, where Transformers is not installed.

    Examples:
        >>> Trainer(model, callbacks=[reprocheck.TransformersCallback()], **rest).train()
    """

    def on_train_begin(self, args: "Any", state: "Any", control: "Any", **kwargs: "Any") -> None:
        """Set hooks on the model, to see its outputs."""
        self._handle = kwargs["model"].register_forward_hook(self._seen)

    def on_train_end(self, args: "Any", state: "Any", control: "Any", **kwargs: "Any") -> None:
        """Take the hook away."""
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
