"""Follows `tf.random.Generator` objects: their states, and what draws from them.

`tf.random.get_global_generator()` is among them.
"""

import os
import time
import weakref
from itertools import count
from typing import Any, Callable, Dict, Optional

from ...host.seeds import Seeds
from ...host.tensors import array, concrete
from ...recorder.hooking import around
from ...recorder.lines import of_line

KIND = "tf.random.Generator"
NAME = "tensorflow:Generator[%d]"


class Own:
    """A generator that the script made."""

    place = ""
    kind = KIND

    def __init__(self, generator: Any, line: str) -> None:
        self.reference = weakref.ref(generator)
        self.made = of_line(line)
        self.last = b""

    def handle_of(self) -> Any:
        """Return the variable that holds the state of the generator."""
        generator = self.reference()
        return None if generator is None else generator.state


class Generators:
    """The watch on generators that are made.

    `watcher` knows the states that were seen last.
    """

    def __init__(self, watcher: Any) -> None:
        self.watcher = watcher
        self.deep = watcher.deep
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._numbers = count()

    def hook(self) -> None:
        """Set hooks on the constructors of generators, and on draws outside of graphs."""
        # the public class; what it draws leads through this method
        from tensorflow.python.ops.stateful_random_ops import Generator

        around(Generator, "__init__", "a new generator of tensorflow", after=self._made)
        around(Generator, "skip", "a draw of a generator of tensorflow", before=self._drawing)

    def _made(self, _: None, generator: Any, *__: Any, **___: Any) -> None:
        own = Own(generator, self.deep.source(2))
        name = self._names[generator] = NAME % next(self._numbers)
        self.watcher.private[name] = own
        self.deep.generators[name] = lambda: self._state(own)
        self.watcher.known[name] = self._state(own)

    def _drawing(self, generator: Any, *_: Any, **__: Any) -> Optional[Callable[[Any], None]]:
        name = self._names.get(generator)
        if name is None or not self.watcher.tensorflow.executing_eagerly():
            return None
        own = self.watcher.private[name]
        line = of_line(self.deep.source(2))
        before = self._state(own)

        def drawn(_: Any) -> None:
            self.watcher.moved(name, before, self._state(own), line)

        return drawn

    def _state(self, own: Own) -> bytes:
        """Return the state of a generator.

        It is the last known state if it cannot be read now, and b"" once the generator is gone.
        """
        value: Any = own.handle_of()
        if value is None:
            return b""
        if concrete(value):
            with self.watcher.tensorflow.init_scope():
                own.last = bytes(array(value).tobytes())
        return own.last


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
