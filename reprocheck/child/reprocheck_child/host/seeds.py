"""Records where a script seeds generators.

It watches the functions of Python and numpy, and those that the adapter of a framework adds.
"""

import sys
from contextlib import suppress
from typing import Any, Callable, Dict, List, Tuple

from ..deep_levels import leaves
from ..recorder.hooking import around
from ..recorder.lines import of_line


class Seeds:
    """The watch on functions that seed a generator: Python's, numpy's, and those that are added."""

    def __init__(self, deep: Any) -> None:
        self.deep = deep
        # generator -> (fingerprint of the seed that the script set last, its line)
        self.last: Dict[str, Tuple[Any, str]] = {}
        self.others: Dict[str, Tuple[str, ...]] = {}
        """Generator -> what else takes its seeds from it."""
        # generator -> the state in which the last seed left it, at first that in which it was found
        self.left: Dict[str, bytes] = {}

    def hook(self) -> None:
        """Watch `seed` of the modules random and numpy.random, unless another adapter does."""
        for generator, name in (("python", "random"), ("numpy", "numpy.random")):
            module = sys.modules.get(name)
            seed = getattr(module, "seed", None)
            if seed is not None:
                self.watch(generator, [module], "seed", silent=hasattr(seed, "__wrapped__"))

    def watch(self, generator: str, owners: List[Any], name: str, silent: bool = False) -> None:
        """Wrap the seeding function `name` of the modules `owners`.

        If `silent`, another adapter writes the fact, and only the state is remembered here.
        """
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
        # drawn from since it was seeded, or found
        moved = before != self.left.get(generator, before)
        self.left[generator] = self._state(generator)
        names = [] if silent else [generator]
        for name in (*names, *self.others.get(generator, ())):
            if before and moved:
                keys["g"] = {name: self.deep.hash_bytes(before)}
            self.deep.seen("seed", name, call=False, out=[["seed", leaf]], **keys)

    def _state(self, generator: str) -> bytes:
        with suppress(Exception):  # a generator that is not there, or that cannot be read now
            return bytes(self.deep.generators[generator]())
        return b""
