"""Where variables and seed generators of Keras are made, and what they take from Python's `random`:
the seed of whatever has none.
"""

import functools
import sys
import weakref
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from ... import leaves

NAME = "keras"
"""What Python's `random` is called where Keras takes seeds from it: `keras.utils.set_random_seed`
is what repairs that.
"""


class Drawn(NamedTuple):
    """A draw: the states of generators before it, the line of the script that led to it, and how
    many seeds were set before it.
    """

    states: Dict[str, str]
    line: str
    seeds: int


class Births:
    """Watches initializers, variables and seed generators being made."""

    def __init__(self, facts: Any, seeds: Any) -> None:
        self.facts = facts
        self.deep = facts.deep
        self.seeds = seeds
        self.drawn: Optional[Drawn] = None
        self.initializers: Dict[int, Tuple[Any, Drawn]] = {}
        self.generators: Dict[int, Tuple[Any, Optional[Tuple[Any, str]], str]] = {}
        """Id of a seed generator -> it, the seed that decides about it with its line where there is
        one, the line that made it.
        """
        seeds.others["python"] = NAME

    def hook_default_seed(self) -> None:
        """See seeds being drawn from Python's `random`."""
        from keras.src.random import seed_generator

        real = seed_generator.make_default_seed

        @functools.wraps(real)
        def make_default_seed() -> Any:
            try:
                state = self.deep.generators["python"]()
                self.drawn = Drawn(
                    {NAME: self.deep.hash_bytes(state)}, self.deep.source(1), self.deep.seeds
                )
            except Exception as error:
                self.deep.recorder.problem("a seed of keras", error)
            return real()

        for name, module in list(sys.modules.items()):
            if name.startswith("keras.src.") and vars(module).get("make_default_seed") is real:
                setattr(module, "make_default_seed", make_default_seed)  # noqa: B010

    def hook_initializers(self) -> None:
        """Keep what an initializer has drawn its seed from."""
        from keras.src.initializers.random_initializers import RandomInitializer

        self._after(RandomInitializer, "__init__", self._initializer)

    def _initializer(self, initializer: Any) -> None:
        if self.drawn is not None:
            self.initializers[id(initializer)] = (weakref.ref(initializer), self.drawn)

    def hook_generators(self) -> None:
        """See seed generators being made."""
        from keras.src.random.seed_generator import SeedGenerator

        self._after(SeedGenerator, "__init__", self._generator)

    def _generator(self, generator: Any) -> None:
        seed: Optional[Tuple[Any, str]] = self.seeds.last.get("python")
        line = self.deep.source(2)
        if self.drawn is None:
            given = generator._initial_seed
            seed = (leaves.plain(given) or {"h": "", "d": leaves.type_name(given)}, line)
        self.generators[id(generator)] = (weakref.ref(generator), seed, line)

    def of_generator(self, generator: Any) -> Tuple[Optional[Tuple[Any, str]], str]:
        """The seed that the script has given it, directly or through Python's `random`, with its
        line; and the line that made it.
        """
        reference, seed, line = self.generators.get(id(generator), (None, None, ""))
        return (seed, line) if reference is not None and reference() is generator else (None, "")

    def _after(self, kind: Any, name: str, then: Callable[[Any], None]) -> None:
        """Call `then` after a method, with what was drawn meanwhile in `drawn`."""
        real = getattr(kind, name)

        @functools.wraps(real)
        def method(instance: Any, *args: Any, **named: Any) -> Any:
            self.drawn = None
            returned = real(instance, *args, **named)
            try:
                then(instance)
            except Exception as error:
                self.deep.recorder.problem("a new " + kind.__name__, error)
            self.drawn = None
            return returned

        setattr(kind, name, method)

    def hook_variables(self) -> None:
        """See variables being filled by an initializer."""
        from keras.src import backend

        kind = backend.Variable
        real = kind._initialize_with_initializer

        @functools.wraps(real)
        def _initialize_with_initializer(variable: Any, initializer: Any) -> Any:
            before = self._states()
            returned = real(variable, initializer)
            try:
                self._variable(variable, initializer, before)
            except Exception as error:
                self.deep.recorder.problem("a new variable of keras", error)
            return returned

        kind._initialize_with_initializer = _initialize_with_initializer

    def _states(self) -> Dict[str, bytes]:
        return {name: state for name, state in self.deep.states().items() if ":" not in name}

    def _variable(self, variable: Any, initializer: Any, before: Dict[str, bytes]) -> None:
        """Say what a variable was drawn from.

        An initializer takes its seed when it is made: a layer may make its weights much later.
        """
        reference, drawn = self.initializers.get(id(initializer), (None, None))
        if reference is None or reference() is not initializer or drawn is None:
            now = self._states()
            moved = {
                name: self.deep.hash_bytes(state)
                for name, state in before.items()
                if now.get(name, state) != state
            }
            drawn = Drawn(moved, self.deep.source(2), self.deep.seeds)
        self.facts.born(variable, drawn.line, drawn.states, drawn.seeds)
