"""Recognize programs that train nothing: they try out a module, show, measure, convert or prepare
data.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from pathlib import Path

from reprocheck.scan import syntax
from reprocheck.scan.checks import streams
from reprocheck.scan.entry import is_guard
from reprocheck.scan.memo import kept
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.steps import Call, Step

_WRITES = re.compile(
    r"^(save(?!_?fig|_image)|write|dump|export|upload|push_|tofile|imwrite|create_dataset|add_scalar)"
    r"|^(put|send|post)$|^to_(csv|pickle|parquet|json|feather|hdf|disk)$"
)
_DRIVES = re.compile(r"^(learn|launch|spawn|optimize|search|train_\w+)$")
_SEARCHES = ("re.", "regex.")
"""`search` of a pattern in a text."""
_DRIVERS = re.compile(r"(trainer|runner|learner|experiment|agent)\w*\.\w+$", re.IGNORECASE)


def is_below_guard(root: Module, step: Step) -> bool:
    """Return whether a step stands below `if __name__ == "__main__":` of the module `root`."""
    module, node = (*step.through, (step.module, step.node))[0]
    is_guarded = any(map(is_guard, (node, *module.around(node))))
    return is_guarded and module is root


@kept
def is_without_training(order: Order) -> bool:
    """Return whether a program in a folder trains nothing, and starts nothing that may train,
    because it shows, measures, converts or prepares something.

    Return False for a file that the user named itself, because it may become a training.
    """
    if order.root.single:
        return False
    if any(map(partial(_goes_on, order.root), streams.every(order))):
        # A module for others may show how it is used: what it trains stands in its guard alone,
        # and reads no data.
        root = order.root
        is_for_others = id(root) in root.project.imported or "." in root.name
        for call in streams.every(order) if is_for_others else ():
            if _READS.match(call.method) or ".datasets." in call.name:
                return False
            if not streams.is_training(call):
                continue
            if call.through or not any(map(is_guard, call.module.around(call.node))):
                return False
        return is_for_others
    return not order.cut or not _trains_in_text(order)


_READS = re.compile(
    r"(open|load|read|parse|imread|listdir|glob|iterdir|DataLoader|from_pretrained)"
)


def _goes_on(root: Module, call: Call) -> bool:
    """Return whether a call is a part of a training, or starts one.

    A single backward pass below a `__main__` guard and outside of any loop shows how to call a
    model, and is no training; neither are gradients that no optimizer takes.
    """
    if call.name == "torch.autograd.grad":
        return False
    if call.method in _PASSES and call.happens_once:
        return not is_below_guard(root, call)
    return streams.is_training(call) or _drives(call)


_PASSES = frozenset({"backward", "zero_grad"})


def _trains_in_text(order: Order) -> bool:
    """Return whether any code of a program calls a training method, executed or not."""
    calls = (module.index.calls for module in streams.closure(order))
    return not streams.TRAINING_METHODS.isdisjoint(map(last_word, chain.from_iterable(calls)))


@kept
def leaves_nothing(order: Order) -> bool:
    """Return whether a program writes no files that another program could train on."""
    return not any(_WRITES.match(call.method) for call in streams.every(order))


@kept
def is_chore(order: Order) -> bool:
    """Return whether a program is named after work that is no training: its file, as
    `convert_data.py`, or its folder, as `demo/`.

    Return False if it trains nevertheless, unless its name is that of a benchmark or profile.
    """
    path = Path(order.root.shown)
    is_named = _CHORE.search(path.stem) or _CHORES.fullmatch(path.parent.name)
    if order.root.single or not is_named:
        return False
    return bool(_SPEED.search(path.stem)) or not streams.trains(order)


_CHORE = re.compile(
    r"(?:^|_)(?:download|demo|convert|export|infer|inference|predict|visuali[sz]\w+|viewer|plot"
    r"|metrics|bench|benchmark|profil\w+|eval|evaluate|enjoy|show\w*|render|analy\w+"
    r"|interact\w*|serve\w*|chat)(?:_|$)|^test(?:_|$)|(?:^|_)sample$"
)
_CHORES = re.compile(r"demos?|visuali[sz]\w+|evaluation|eval|analysis|profiling|diagnostics")
_SPEED = re.compile(r"(?:^|_)(?:bench|benchmark|profil\w+)(?:_|$)")
"""Such a program may train to see how long that takes."""


def is_for_nobody(order: Order) -> bool:
    """Return whether a program trains nothing, and writes nothing that another program could train
    on.
    """
    return order.whole and is_without_training(order) and leaves_nothing(order)


@kept
def is_trial(order: Order) -> bool:
    """Return whether a program only tries out its own module: it trains and writes nothing, and
    other programs import the module.
    """
    root = order.root
    if not order.whole or order.cut or id(root) not in root.project.imported:
        return False
    if streams.trains(order):
        return False
    return not any(_WRITES.match(one.method) or _drives(one) for one in streams.every(order))


def _drives(call: Call) -> bool:
    """Return whether a call starts a training whose code is not in this program, as
    `study.optimize`.
    """
    if call.name.startswith(_SEARCHES):
        return False
    if _DRIVES.match(call.method):
        return True
    owner = syntax.owner(call.node)
    if owner is None:
        return False
    return _DRIVERS.search(f"{last_word(owner)}.{syntax.method(call.node)}") is not None
