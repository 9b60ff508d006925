"""Give each library object one name, by whatever path it was imported; resolve star imports."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache

from reprocheck.scan.vocabulary import by_name, names, rows, words

BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("__")) | {
    *("__import__", "unicode", "xrange", "raw_input", "basestring")
}

FRAMEWORKS = ("torch", "torch_npu", "mindspore", "tensorflow", "keras", "jax", "numpy")

KNOWN_PACKAGES = frozenset(sys.stdlib_module_names) | {*FRAMEWORKS, *words("packages", "known")}

_PREFIXES = by_name("packages", "prefixes")
_PATTERNS = names("packages", "inner")
_INNER = tuple(zip(map(re.compile, _PATTERNS[::2]), _PATTERNS[1::2], strict=True))

_STARS = {
    package: frozenset(brought.split())
    for package, brought in rows("stars", "stars", dict[str, str]).items()
}
_CAPITALS = names("packages", "capitals")
_FUNCTIONS = names("packages", "functions")


@lru_cache(maxsize=20_000)
def canonical(name: str) -> str:
    """Return the name that the rules use for a library object, whatever alias it has.

    Such as `torch.nn.functional.relu`.
    """
    for _ in range(3):
        before = name
        parts = name.split(".")
        for count in range(min(len(parts), 5), 0, -1):
            prefix = ".".join(parts[:count])
            if prefix in _PREFIXES:
                rest = parts[count:]
                name = ".".join([_PREFIXES[prefix], *rest])
                break
        for pattern, replacement in _INNER:
            name = pattern.sub(replacement, name)
        if name == before:
            break
    return name


def starred(package: str, name: str) -> bool:
    """Return whether `from package import *` is known to bring this name."""
    package = canonical(package)
    if name in _STARS.get(package, ()):
        return True
    return package in _CAPITALS and name[:1].isupper()


def may_bring(package: str, name: str) -> bool:
    """Return whether a star import may define a name that nothing else defines.

    Lower-case functions of packages with many of them.
    """
    return canonical(package) in _FUNCTIONS and name not in BUILTINS


def of_library_alone(star: str, name: str) -> str | None:
    """Return None, because no star import is of a user's module here."""
    return None


def free_name(
    name: str, stars: Sequence[str], expand: Callable[[str, str], str | None] = of_library_alone
) -> str | None:
    """Return what a name stands for that nothing binds.

    By the star imports of its module, the last first, else a builtin, else what one of them may
    bring.

    expand    what a star import of the user's own module brings
    """
    for star in reversed(stars):
        own = expand(star, name)
        if own:
            return own
        if starred(star, name):
            return canonical(f"{star}.{name}")
    if name in BUILTINS:
        return f"builtins.{name}"
    for star in reversed(stars):
        if may_bring(star, name):
            return canonical(f"{star}.{name}")
    return None
