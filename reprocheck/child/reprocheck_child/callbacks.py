"""Callbacks that report the losses of a trainer, for people who prefer them to hooks.

Each name is a class of its trainer's own kind, made when it is first asked for; the trainer is
imported then, and by nothing else here. Standard library only. Python 3.9 and later, in any
interpreter.
"""

import sys

from . import trainer_callbacks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KINDS = {
    "KerasCallback": ("keras.callbacks", "Callback"),
    "LightningCallback": ("lightning.pytorch", "Callback"),
    "MindSporeCallback": ("mindspore.train.callback", "Callback"),
    "TransformersCallback": ("transformers", "TrainerCallback"),
}
"""Name -> module and name of its trainer's class."""
NAMES = tuple(_KINDS)


def __getattr__(name: str) -> "Any":
    if name not in NAMES:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    does = getattr(trainer_callbacks, name)
    namespace = {"__module__": "reprocheck", "__doc__": does.__doc__}
    from importlib import import_module

    module, kind = _KINDS[name]
    older = "pytorch_lightning" in sys.modules and "lightning" not in sys.modules
    if older and module == "lightning.pytorch":
        module = "pytorch_lightning"
    callback = globals()[name] = type(name, (does, getattr(import_module(module), kind)), namespace)
    return callback
