"""Follows the state of TensorFlow's global generator.

Operators take their seeds from `random_seed.get_seed`. If no seed was set, kernels seed themselves
from OS entropy and show no state: a number that no two processes share stands for it then.
"""

import os
import time
from typing import Any, Callable, Dict

from ...host.seeds import Seeds
from ...recorder.hooking import around

UNSEEDED = "unseeded"


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
        """Set hooks on functions that set a seed, and on operators that take one."""
        # each operator that draws asks this module for its seeds, with those that it was given; the
        # public names are copies of its functions
        from tensorflow.python.framework import random_seed

        self.deep.generators["tensorflow"] = self.state
        seeds.watch("tensorflow", [self.tensorflow.random, random_seed], "set_seed")
        around(random_seed, "get_seed", "a draw of tensorflow", before=self._asked)

    def state(self) -> bytes:
        """Return the seed and the number of draws as the state.

        If no seed was set, the state is a number that no other process has.
        """
        # `tf.random` sets the seed and tells nobody which it is
        from tensorflow.python.eager import context

        seed = context.global_seed()
        known = self.token if seed is None else b"%d" % seed
        return b"%s %d" % (known, self.draws)

    def _asked(self, op_seed: Any) -> None:
        """Count an operator that asks for its seeds as a draw if it has no seed of its own."""
        if op_seed is not None:
            return
        if not self.before:
            self.before = self.state()
        self.draws += 1
        if not self.tensorflow.executing_eagerly():
            self.traced()

    def taken(self) -> Dict[str, str]:
        """Return the state that a weight's values were drawn from.

        {} if nothing was drawn since the weight before.
        """
        before, self.before = self.before, b""
        if not before:
            return {}
        return {"tensorflow": self.deep.hash_bytes(before)}
