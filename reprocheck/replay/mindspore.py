"""The script for MindSpore: `templates/mindspore.txt`, filled in.

A cell that draws, and that is given one tensor.
"""

from __future__ import annotations

from importlib import resources
from string import Template

from reprocheck.model.replay import Replay


def script(replay: Replay) -> str:
    """Return the text of the script."""
    (tensor,) = [one for _, one in replay.tensors]
    template = resources.files("reprocheck.replay").joinpath("templates/mindspore.txt")
    return Template(template.read_text("utf-8")).substitute(
        NAME=replay.name,
        CONSTRUCTOR=replay.constructor,
        SHAPE=repr(tensor.shape),
        DTYPE=tensor.dtype,
    )
