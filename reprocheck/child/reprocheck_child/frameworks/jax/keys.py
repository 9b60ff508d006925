"""Follows JAX PRNG keys as they are made, and the generators of Python and numpy.

A PRNG key has no state to watch. Each line of the script that makes a key from a number stands for
a generator: its state is that number, and keys that are split off or folded keep the name of the
line. Draws change no key; a computation that is given a key counts as a draw.
"""

import functools
import sys
from typing import Any, Callable, Dict, List, Tuple

from ...deep_levels import hashing, leaves
from ...recorder import import_hook
from ...recorder.hooking import around, guarded, replace
from ...recorder.lines import of_line
from ...shared.marks import UNMOVED

NAME = "jax"
_MOST = 65536
_ROWS = 4096
"""Keys of an array of keys that are looked at."""
_A_LINE = 8
"""Keys of one line that have names of their own."""


class Keys:
    """The line of the script that each key comes from, by the numbers of the key."""

    def __init__(self, jax: Any, deep: Any, prints: Any, say: Callable[..., None]) -> None:
        self.jax = jax
        self.deep = deep
        self.prints = prints
        self.say = say
        self.origins: Dict[bytes, str] = {}  # numbers of a key -> name of its line
        self.lines: Dict[str, int] = {}  # line -> keys made there
        self.states: Dict[str, str] = {}
        """Name -> hash of all numbers that keys were made from there."""
        self.inside = False
        self.folds = False
        """Whether compiled code folds a number of its own into a key, such as that of the step: its
        draws are others although it is given the same key.
        """

    def hook(self) -> None:
        """Set hooks on the functions that make and derive PRNG keys."""
        random = self.jax.random
        for name in ("key", "PRNGKey", "wrap_key_data"):
            replace(random, name, self._making)
        for name, derived in (
            ("split", self._derived),
            ("fold_in", self._folded_in),
            ("clone", self._derived),
        ):
            if hasattr(random, name):
                around(random, name, "a key that was derived", after=derived)

    def _making(self, real: Any) -> Any:
        def make(*args: Any, **kwargs: Any) -> Any:
            outermost, self.inside = not self.inside, True
            try:
                key = real(*args, **kwargs)
            finally:
                self.inside = not outermost
            if outermost:
                self._made(key, args, kwargs)
            return key

        return make

    @guarded("a key that was made")
    def _made(self, key: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> None:
        if self._is_traced(key):
            return
        line = self.deep.source(2)
        name = self._name(line)
        self._keep(key, name)
        numbers = b"".join(self._numbers(key))
        self.states[name] = hashing.digest(self.states.get(name, "").encode() + numbers)
        seed = next(iter([*args, *kwargs.values()]), None)
        self.say(
            "seed",
            name,
            call=False,
            out=[["seed", self._seed(seed)]],
            **of_line(line),
        )

    def _name(self, line: str) -> str:
        """Return the generator name of the line that made a PRNG key: the first line is `jax`.

        The first keys that one line makes are told apart by numbers.
        """
        count = self.lines[line] = self.lines.get(line, 0) + 1
        if count == 1 and len(self.lines) == 1:
            return NAME
        where = line or "made elsewhere"
        if count > 1:
            where += ", number %d" % min(count, _A_LINE)
        return "%s (%s)" % (NAME, where)

    def _seed(self, seed: Any) -> Dict[str, Any]:
        if getattr(seed, "ndim", None) == 0 and not self._is_traced(seed):
            seed = seed.item()
        shown: Dict[str, Any] = leaves.plain(seed) or self.prints.of(seed)
        return shown

    def _derived(self, derived: Any, key: Any, *_: Any, **__: Any) -> str:
        """Note that a PRNG key was derived from another key; return its name, "" if unknown."""
        if not self.origins or self._is_traced(derived):
            return ""
        name = self.origin(key)
        self._keep(derived, name)
        return name

    def _folded_in(self, derived: Any, key: Any, *args: Any, **kwargs: Any) -> None:
        """Note that a number was folded into a key: later draws depend on it as on a seed."""
        name = self._derived(derived, key)
        number = next(iter([*args, *kwargs.values()]), None)
        self.folds = self.folds or self._is_traced(number)
        if not name or self._is_traced(number):
            return
        line = of_line(self.deep.source(1))
        self.say("fold", name, call=False, out=[["folded", self._seed(number)]], **line)

    def _is_traced(self, value: Any) -> bool:
        """Return whether a value is a tracer, which has no numbers."""
        return isinstance(value, self.jax.core.Tracer)

    def origin(self, key: Any) -> str:
        """Return the generator name of the line that a PRNG key comes from; "" if unknown."""
        if self._is_traced(key):
            return ""
        first = next(iter(self._numbers(key)), b"")
        return self.origins.get(first, "")

    def follows(self, key: Any, result: Any) -> None:
        """Give the key `result`, returned by a compiled program for the key `key`, the same name.

        Nothing happens if `result` is no key.
        """
        if self.prints.is_array(key) and self.is_key(key):
            self._keep(result, self.origin(key))

    def is_key(self, leaf: Any, path: str = "") -> bool:
        """Return whether a leaf is a PRNG key.

        It is a typed key, or an array that is known to be a key, or looks and is named like one.
        """
        if self.prints.is_key(leaf):
            return True
        # keys of the older kind are plain arrays: two numbers each with threefry, four with rbg
        if str(getattr(leaf, "dtype", "")) != "uint32" or leaf.shape[-1:] not in ((2,), (4,)):
            return False
        if self.origin(leaf):
            return True
        return leaf.ndim == 1 and any(word in path.lower() for word in ("key", "rng", "prng"))

    def drawn(self, keys: List[Any]) -> Dict[str, Dict[str, str]]:
        """Return the generator states `g` and `g2` of a computation that is given these PRNG keys.

        A key of unknown origin may come from any line.
        """
        before: Dict[str, str] = {}
        for key in keys:
            digest = hashing.digest(b"".join(self._numbers(key)))
            name = self.origin(key)
            names = [name] if name else list(self.states) or [NAME]
            for origin in names:
                before[origin] = hashing.digest((before.get(origin, "") + digest).encode())
        return used(before)

    def copies(self, keys: List[Any]) -> int:
        """Return how many times an array of PRNG keys holds one key, if it holds no other; else 1.

        Such an array gives each device, or each element of a `vmap`, the same draws.
        """
        arrays = map(self._numbers, keys)
        return max((len(numbers) for numbers in arrays if len(set(numbers)) == 1), default=1)

    def _keep(self, keys: Any, name: str) -> None:
        if name and len(self.origins) < _MOST:
            self.origins.update(dict.fromkeys(self._numbers(keys), name))

    def _numbers(self, key: Any) -> List[bytes]:
        """Return the numbers behind a PRNG key; of each key if `key` is an array of keys."""
        host = self.prints.array(key)
        if not host.ndim or not host.size:
            return []
        return [row.tobytes() for row in host.reshape(-1, host.shape[-1])[:_ROWS]]


class Defaults:
    """The default generators of Python and numpy, and whether they have moved.

    It keeps their states when last looked at or seeded.
    """

    def __init__(self, deep: Any, say: Callable[..., None]) -> None:
        self.deep = deep
        self.say = say
        self.before: Dict[str, bytes] = {}
        self.touched: Dict[str, None] = {}  # those that the script seeded or drew from

    def hook(self) -> None:
        """Set hooks on the seeding functions, unless another adapter has done so."""
        self.before = deep_states(self.deep)
        # a module, used by flax, that draws from Python's generator when it is imported
        import_hook.when_imported(
            "rich.style", lambda _: self.before.update(deep_states(self.deep))
        )
        for module, generator in (("random", "python"), ("numpy.random", "numpy")):
            import_hook.when_imported(module, functools.partial(self._watch, generator))

    def _watch(self, generator: str, module: Any) -> None:
        says = not hasattr(module.seed, "__wrapped__")  # another adapter has not hooked it before

        def seeded(_: Any, *args: Any, **kwargs: Any) -> None:
            self.touched[generator] = None
            state = deep_states(self.deep).get(generator)
            if state is not None:
                self.before[generator] = state
            if not says:
                return
            given = next(iter([*args, *kwargs.values()]), None)
            shown = leaves.plain(given) or {
                "h": hashing.digest(repr(given).encode()),
                "d": leaves.type_name(given),
            }
            line = self.deep.source(1)
            self.say("seed", generator, call=False, out=[["seed", shown]], l=line)

        # numpy.random has the function from there, and it can be called by both names
        also = [sys.modules.get("numpy.random.mtrand")]
        around(module, "seed", "a seed", after=seeded, also=also)

    def _drawn_by_user(self, generator: str) -> bool:
        """Return whether code of the script can have drawn.

        Packages draw from Python's generator while they are imported.
        """
        if generator != "python":
            return True
        files = [
            (module, getattr(module, "__file__", None)) for module in list(sys.modules.values())
        ]
        named = [(module, file) for module, file in files if isinstance(file, str)]
        return any(_uses_random(module) for module, file in named if self.deep._user_file(file))

    def moved(self) -> Dict[str, Dict[str, str]]:
        """Return the states `g` (last look) and `g2` (now) of generators that moved."""
        now = deep_states(self.deep)
        before, self.before = self.before, now
        names = [
            name
            for name, state in now.items()
            if name in before and before[name] != state and self._drawn_by_user(name)
        ]
        self.touched.update(dict.fromkeys(names))
        digest = hashing.digest
        return {
            "g": {name: digest(before[name]) for name in names},
            "g2": {name: digest(now[name]) for name in names},
        }

    def states(self) -> Dict[str, str]:
        """Return the state of each generator; `UNMOVED` if the script has not touched it."""
        states = dict.fromkeys(self.before, UNMOVED)
        touched = self.touched.keys() & self.before.keys()
        states.update((name, hashing.digest(self.before[name])) for name in touched)
        return states


def _uses_random(module: Any) -> bool:
    """Return whether a module has imported `random`, or a function of its shared generator."""
    random = sys.modules["random"]
    owners = [getattr(value, "__self__", value) for value in list(vars(module).values())]
    return any(owner is random or owner is random._inst for owner in owners)


def deep_states(deep: Any) -> Dict[str, bytes]:
    """Return the present states of the generators of Python and numpy."""
    return {name: state for name, state in deep.states().items() if name in ("python", "numpy")}


def used(before: Dict[str, str]) -> Dict[str, Dict[str, str]]:
    """Return the fact keys `g` (state before) and `g2` (state after) of generators drawn from.

    A JAX PRNG key does not change with a draw, so a hash of the state before stands for it.
    """
    if not before:
        return {}
    after = {name: hashing.digest(state.encode()) for name, state in before.items()}
    return {"g": before, "g2": after}
