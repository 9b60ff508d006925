"""Runs an example as it is, without the recorder, and writes down its losses: `python plain.py OUTPUT EXAMPLE`.

A loss is what the script calls `backward` on, before a gradient scaler multiplies it, or what it passes to `reprocheck.log_loss`.
OUTPUT gets `.RANK.json` appended: a list of the losses in hexadecimal, so that no bit is lost.
"""

from __future__ import annotations

import functools
import json
import os
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


def watch_log() -> None:
    """Note what the script says itself."""
    import reprocheck

    reprocheck.log_loss = lambda value: losses.append(float(value).hex())


def main(output: str, example: str) -> None:
    """Run `example` as `python example` would, then write the losses."""
    watch_log() if "numpy" in Path(example).parts else watch_torch()
    sys.argv = [example]
    sys.path[0] = str(Path(example).resolve().parent)
    runpy.run_path(example, run_name="__main__")
    Path(f"{output}.{os.environ.get('RANK', '0')}.json").write_text(json.dumps(losses))


if __name__ == "__main__":
    main(*sys.argv[1:])
