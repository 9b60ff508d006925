"""Callbacks that run right after a module's own import, without touching the module's spec, loader class or name.

One finder stands first in `sys.meta_path`. It asks the other finders for the real spec and wraps `exec_module` of that one loader
instance; the wrapper removes itself before it calls the real one.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable

    Callback = Callable[[object], None]

_waiting: dict[str, list[Callback]] = {}
_provided: dict[str, str] = {}


def when_imported(name: str, callback: Callback) -> None:
    """Call `callback(module)` once `name` has been imported; at once if it is loaded. The callback must not raise."""
    if name in sys.modules:
        callback(sys.modules[name])
    else:
        _waiting.setdefault(name, []).append(callback)


def provide(name: str, path: str) -> None:
    """Load module `name` from the file `path` where nothing else provides it."""
    _provided[name] = path


def install() -> None:
    """Put the finder first; a second call changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    def __init__(self) -> None:
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if (name not in _waiting and name not in _provided) or name in self._busy:
            return None
        self._busy.add(name)
        try:
            spec = self._real_spec(name, path, target)
        finally:
            self._busy.discard(name)
        if spec is None and name in _provided:
            from importlib.util import spec_from_file_location

            spec = spec_from_file_location(name, _provided[name])
        if name in _waiting and getattr(spec, "loader", None) is not None:
            _wrap(spec.loader, name)
        return spec

    def _real_spec(self, name: str, path: Any, target: Any) -> Any:
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                return spec
        return None


def _wrap(loader: Any, name: str) -> None:
    real = getattr(loader, "exec_module", None)
    if real is None:
        return

    def exec_module(module: Any) -> None:
        try:
            del loader.exec_module
        except AttributeError:
            pass
        real(module)
        for callback in _waiting.pop(name, []):
            callback(module)

    try:
        loader.exec_module = exec_module
    except AttributeError:  # a loader with slots cannot be watched: the missing `framework` event says so
        pass
