"""Maps from objects by identity, and from dictionary keys to values that are made on first use.

Objects may compare by value or not be hashable.
"""

import weakref
from typing import Any, Callable, Dict, Iterator, Tuple


class ByIdentity:
    """A limited number of values, each kept for one object as long as the object lives."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.entries: Dict[int, Tuple[Any, Any]] = {}  # id of an object -> a reference, the value

    def get(self, thing: Any, default: Any = None) -> Any:
        """Return the value of an object, or the default."""
        known = self.entries.get(id(thing))
        if known is None or known[0]() is not thing:
            return default
        return known[1]

    def keep(self, thing: Any, value: Any) -> Any:
        """Give an object its value; return the value."""
        identity, entries = id(thing), self.entries
        if len(entries) < self.most:
            # the callback ends the entry: the id may be given to another object right after
            entries[identity] = weakref.ref(thing, lambda _: entries.pop(identity, None)), value
        return value

    def living(self) -> Iterator[Tuple[Any, Any]]:
        """Yield (object, value) of each object that still exists."""
        for reference, value in list(self.entries.values()):
            thing = reference()
            if thing is not None:
                yield thing, value

    def once(self, thing: Any, make: Callable[[], Any]) -> Any:
        """Return the value of an object; if it has none yet, make and keep one by `make`."""
        value = self.get(thing, _NOTHING)
        if value is _NOTHING:
            value = self.keep(thing, make())
        return value


class Made(Dict[Any, Any]):
    """A dict that makes missing values.

    Looking up a present key runs no Python code, so it is as fast as in any dict.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        super().__init__()
        self.make = make

    def __missing__(self, key: Any) -> Any:
        value = self[key] = self.make(key)
        return value


_NOTHING = object()
