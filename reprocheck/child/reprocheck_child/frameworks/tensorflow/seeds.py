"""Where a script seeds generators, and where TensorFlow's global generator stands.

Operators take their seeds from `random_seed.get_seed`. Where no seed was set, kernels seed
themselves from the system and show no state: a number that no two processes share stands for it
then.
"""

import os
import sys
import time
from typing import Any, Callable, Dict, List, Tuple

from ... import leaves
from ...deep import of_line
from ...hooking import around

UNSEEDED = "unseeded"


class Seeds:
    """Watches the functions that seed a generator: Python's, numpy's and TensorFlow's."""

    def __init__(self, deep: Any) -> None:
        self.deep = deep
        # generator -> (fingerprint of the seed that the script set last, its line)
        self.last: Dict[str, Tuple[Any, str]] = {}
        self.others: Dict[str, str] = {}
        """Generator -> what else takes its seeds from it."""
        # generator -> the state in which the last seed left it, at first that in which it was found
        self.left: Dict[str, bytes] = {}

    def hook(self) -> None:
        """Watch `seed` of the modules random and numpy.random, where no other adapter has done
        so.
        """
        for generator, name in (("python", "random"), ("numpy", "numpy.random")):
            module = sys.modules.get(name)
            seed = getattr(module, "seed", None)
            if seed is not None:
                self.watch(generator, [module], "seed", silent=hasattr(seed, "__wrapped__"))

    def watch(self, generator: str, owners: List[Any], name: str, silent: bool = False) -> None:
        """Wrap a function of modules. `silent`: another adapter writes the fact."""
        self.left.setdefault(generator, self._state(generator))

        def seeding(*args: Any, **named: Any) -> Callable[[Any], None]:
            before = self._state(generator)
            seed = next(iter((*args, *named.values())), None)
            return lambda _: self._said(generator, seed, before, silent)

        around(owners[0], name, "a seed", before=seeding, also=owners[1:])

    def _said(self, generator: str, value: Any, before: bytes, silent: bool) -> None:
        leaf = leaves.plain_or_type(value)
        line = self.deep.source(2)
        self.last[generator] = (leaf, line)
        keys: Dict[str, Any] = of_line(line)
        if value is None:
            keys["sys"] = True
        if before and before != self.left.get(generator, before):
            keys["g"] = {generator: self.deep.hash_bytes(before)}
        self.left[generator] = self._state(generator)
        if not silent:
            self.deep.seen("seed", generator, call=False, out=[["seed", leaf]], **keys)
        other = self.others.get(generator)
        if other is not None:
            states = {"g": {other: keys["g"][generator]}} if "g" in keys else {}
            self.deep.seen("seed", other, call=False, out=[["seed", leaf]], **{**keys, **states})

    def _state(self, generator: str) -> bytes:
        read = self.deep.generators.get(generator)
        try:
            return b"" if read is None else bytes(read())
        except Exception:
            return b""


class Global:
    """TensorFlow's global generator: its seed and how many operators have taken a seed from it."""

    def __init__(self, tensorflow: Any, deep: Any) -> None:
        self.tensorflow = tensorflow
        self.deep = deep
        self.draws = 0
        self.token = b"%d %d" % (os.getpid(), time.time_ns())
        self.before: bytes = b""
        """State before the first draw since a weight was made."""
        self.traced: Callable[[], None] = lambda: None
        """Called when an operator of a function that is being traced takes a seed."""

    def hook(self, seeds: Seeds) -> None:
        """See seeds being set, and operators that take one."""
        # each operator that draws asks this module for its seeds, with those that it was given; the
        # public names are copies of its functions
        from tensorflow.python.framework import random_seed

        self.deep.generators["tensorflow"] = self.state
        seeds.watch("tensorflow", [self.tensorflow.random, random_seed], "set_seed")
        around(random_seed, "get_seed", "a draw of tensorflow", before=self._asked)

    def state(self) -> bytes:
        """The seed and the number of draws; what no other process has, where no seed was set."""
        # `tf.random` sets the seed and tells nobody which it is
        from tensorflow.python.eager import context

        seed = context.global_seed()
        return b"%s %d" % (self.token if seed is None else b"%d" % seed, self.draws)

    def _asked(self, op_seed: Any) -> None:
        """An operator asks for its seeds; without one of its own it draws."""
        if op_seed is not None:
            return
        if not self.before:
            self.before = self.state()
        self.draws += 1
        if not self.tensorflow.executing_eagerly():
            self.traced()

    def taken(self) -> Dict[str, str]:
        """The state that a weight's values were drawn from, if any were since the weight before."""
        before, self.before = self.before, b""
        return {"tensorflow": self.deep.hash_bytes(before)} if before else {}
