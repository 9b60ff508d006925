"""Runs an example as it is, without the recorder, and writes down its losses: `python plain.py
OUTPUT EXAMPLE`.

A loss is what the script calls `backward` on, before a gradient scaler multiplies it, what it
passes to `reprocheck.log_loss`, or what it prints behind the word `loss` as a hexadecimal number.
OUTPUT gets `.RANK.json` appended: a list of the losses in hexadecimal, so that no bit is lost.
"""

from __future__ import annotations

import builtins
import functools
import json
import os
import re
import runpy
import sys
from pathlib import Path
from typing import Any

losses: list[str] = []


def watch_torch() -> None:
    """Note the loss in `Tensor.backward`."""
    import torch

    unscaled: dict[int, Any] = {}
    backward = torch.Tensor.backward

    @functools.wraps(backward)
    def noting(loss: Any, *args: Any, **kwargs: Any) -> None:
        losses.append(unscaled.get(id(loss), loss).item().hex())
        backward(loss, *args, **kwargs)

    torch.Tensor.backward = noting
    for owner in (torch.amp.GradScaler, *torch.amp.GradScaler.__subclasses__()):
        if "scale" in vars(owner):
            owner.scale = remembering(owner.scale, unscaled)


def remembering(scale: Any, unscaled: dict[int, Any]) -> Any:
    """`GradScaler.scale`, which also keeps what it scaled."""

    @functools.wraps(scale)
    def scale_and_keep(scaler: Any, outputs: Any) -> Any:
        scaled = scale(scaler, outputs)
        unscaled.clear()
        unscaled[id(scaled)] = outputs
        return scaled

    return scale_and_keep


def watch_tensorflow() -> None:
    """Note what `GradientTape.gradient` is asked for, of tapes in Python."""
    import tensorflow

    gradient = tensorflow.GradientTape.gradient

    @functools.wraps(gradient)
    def noting(tape: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
        losses.append(float(target.numpy()).hex())
        return gradient(tape, target, *args, **kwargs)

    tensorflow.GradientTape.gradient = noting


def watch_keras() -> None:
    """Note the mean of each epoch: of one batch it is the batch's own loss."""
    import keras

    real = keras.callbacks.CallbackList.on_epoch_end

    @functools.wraps(real)
    def noting(held: Any, epoch: int, logs: Any = None) -> None:
        losses.append(float(logs["loss"]).hex())
        real(held, epoch, logs)

    keras.callbacks.CallbackList.on_epoch_end = noting


def watch_log() -> None:
    """Note what the script says itself."""
    import reprocheck

    reprocheck.log_loss = lambda value: losses.append(float(value).hex())


def watch_print() -> None:
    """Note what the script prints."""
    real = builtins.print

    def noting(*values: Any, **options: Any) -> None:
        losses.extend(re.findall(r"^loss (\S+)$", " ".join(map(str, values))))
        real(*values, **options)

    builtins.print = noting


WATCH = {
    "numpy": watch_log,
    "jax": watch_print,
    "keras": watch_keras,
    "tensorflow": watch_tensorflow,
}
"""Folder of an example -> what notes its losses, where that is not `backward`."""


def main(output: str, example: str) -> None:
    """Run `example` as `python example` would, then write the losses."""
    WATCH.get(Path(example).parts[-2], watch_torch)()
    sys.argv = [example]
    sys.path[0] = str(Path(example).resolve().parent)
    runpy.run_path(example, run_name="__main__")
    Path(f"{output}.{os.environ.get('RANK', '0')}.json").write_text(json.dumps(losses))
    sys.stdout.flush()
    # PyTorch's threads may abort a process that has done its work: "terminate called without an
    # active exception", once in some hundred starts of two ranks.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
