"""The control `dropout-off` for MindSpore: dropout keeps every value.

It acts on cells, functions and primitives, in graph and PyNative mode.
"""

import sys
from typing import Any, Dict

from ..pynative import everywhere
from .replacements import with_other_arguments

NAME = "dropout-off"

CELLS: "Dict[str, Dict[str, Any]]" = {
    "Dropout": {"p": 0.0, "keep_prob": 1.0},
    "Dropout1d": {"p": 0.0},
    "Dropout2d": {"p": 0.0},
    "Dropout3d": {"p": 0.0},
    "DropoutExt": {"p": 0.0},
    "Dropout2dExt": {"p": 0.0},
}
"""Classes of mindspore.nn.layer.basic; mint.nn has the last two as Dropout and Dropout2d."""

PRIMITIVES = (
    ("mindspore.ops.auto_generate.gen_ops_prim", "Dropout"),
    ("mindspore.ops.auto_generate.gen_ops_prim", "FlashAttentionScore"),
    ("mindspore.ops.operations.nn_ops", "Dropout2D"),
    ("mindspore.ops.operations.nn_ops", "Dropout3D"),
)
"""Operators whose `keep_prob` is set when they are made."""

FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "dropout_ext", "dropout2d_ext")
"""Functions of mindspore.ops.function.nn_func."""


def dropout_off(mindspore: Any, active: Any) -> None:
    """Change dropout cells and primitives as they are made, and rebind dropout functions.

    Functions are rebound in every module of MindSpore that has imported them.
    """
    from mindspore.nn.layer import basic
    from mindspore.ops.function import nn_func

    from . import replacements

    for name, values in CELLS.items():
        _hook(active, getattr(basic, name, None), "mindspore.nn." + name, values)
    for module, name in PRIMITIVES:
        _hook(
            active,
            getattr(sys.modules.get(module), name, None),
            "mindspore.ops." + name,
            {"keep_prob": 1.0},
        )
    for name in FUNCTIONS:
        real = getattr(nn_func, name, None)
        if real is not None:
            everywhere(real, replacements.dropout)
            active.touched(NAME, "mindspore.ops." + name, "the identity")


def _hook(active: Any, kind: Any, what: str, values: Dict[str, Any]) -> None:
    if kind is None:
        return

    def change(arguments: Dict[str, Any]) -> None:
        changed = {
            name: value
            for name, value in values.items()
            if arguments.get(name) not in (None, value)
        }
        if changed:
            arguments.update(changed)
            active.touched(NAME, what)

    with_other_arguments(kind, "a dropout that is made", change)
