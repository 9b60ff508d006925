"""Follows `tf.random.Generator` objects: their states, and what draws from them.

`tf.random.get_global_generator()` is among them.
"""

import weakref
from itertools import count
from typing import Any, Callable, Optional

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
