"""Records where variables and seed generators of Keras are made.

It also records draws from Python's `random`, from which Keras seeds everything without a seed.
"""

import sys
import weakref
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from ...deep_levels import leaves
from ...recorder.hooking import around

NAME = "keras"
"""What Python's `random` is called where Keras takes seeds from it: `keras.utils.set_random_seed`
is what repairs that.
"""


class Drawn(NamedTuple):
    """A draw from Python's `random`.

    It has the states of generators before it, the line of the script that led to it, and how many
    seeds were set before it.
    """

    states: Dict[str, str]
    line: str
    seeds: int


class Births:
    """The hooks on the constructors of initializers, variables and seed generators."""

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
        seeds.others["python"] = (NAME,)

    def hook_default_seed(self) -> None:
        """Set hooks on the function that draws seeds from Python's `random`."""
        # private: whatever gets no seed takes one from here, out of Python's `random`; backends
        # have imported the function by name
        from keras.src.random import seed_generator

        def drawing() -> None:
            states = {NAME: self.deep.hash_bytes(self.deep.generators["python"]())}
            self.drawn = Drawn(states, self.deep.source(1), self.deep.seeds)

        importers = [
            module for name, module in list(sys.modules.items()) if name.startswith("keras.src.")
        ]
        around(
            seed_generator, "make_default_seed", "a seed of keras", before=drawing, also=importers
        )

    def hook_initializers(self) -> None:
        """Note which draw from Python's `random` seeded an initializer."""
        # the base of all that draw, which Keras does not export; they take their seed when made
        from keras.src.initializers.random_initializers import RandomInitializer

        self._after(RandomInitializer, "__init__", self._initializer)

    def _initializer(self, initializer: Any) -> None:
        if self.drawn is not None:
            self.initializers[id(initializer)] = (weakref.ref(initializer), self.drawn)

    def hook_generators(self) -> None:
        """Set hooks on the constructor of seed generators."""
        from keras.src.random.seed_generator import SeedGenerator

        self._after(SeedGenerator, "__init__", self._generator)

    def _generator(self, generator: Any) -> None:
        seed: Optional[Tuple[Any, str]] = self.seeds.last.get("python")
        line = self.deep.source(2)
        if self.drawn is None:
            # private: the seed that it was given or drew stands nowhere else (Keras 3.15)
            given = generator._initial_seed
            seed = (leaves.plain_or_type(given), line)
        self.generators[id(generator)] = (weakref.ref(generator), seed, line)

    def of_generator(self, generator: Any) -> Tuple[Optional[Tuple[Any, str]], str]:
        """Return the seed that the script has given a generator, and the script's lines.

        The seed was given directly or drawn from Python's `random`. The lines are those that set
        the seed and made the generator.
        """
        reference, seed, line = self.generators.get(id(generator), (None, None, ""))
        if reference is None or reference() is not generator:
            return None, ""
        return seed, line

    def _after(self, kind: Any, name: str, then: Callable[[Any], None]) -> None:
        """Call `then(instance)` after the method `name`; `drawn` holds what the call drew."""

        def before(instance: Any, *_: Any, **__: Any) -> Callable[[Any], None]:
            self.drawn = None

            def made(_: Any) -> None:
                try:
                    then(instance)
                finally:
                    self.drawn = None

            return made

        around(kind, name, "a new " + kind.__name__, before=before)

    def hook_variables(self) -> None:
        """Set hooks on the filling of variables by an initializer."""
        # private, and the one way to a value for variables of every backend, those too whose values
        # are made later (`keras.StatelessScope`)
        from keras.src import backend

        def filling(variable: Any, initializer: Any) -> Callable[[Any], None]:
            before = self._states()
            return lambda _: self._variable(variable, initializer, before)

        around(
            backend.Variable,
            "_initialize_with_initializer",
            "a new variable of keras",
            before=filling,
        )

    def _states(self) -> Dict[str, bytes]:
        return {name: state for name, state in self.deep.states().items() if ":" not in name}

    def _variable(self, variable: Any, initializer: Any, before: Dict[str, bytes]) -> None:
        """Record the states of generators that a variable's values were drawn from.

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
