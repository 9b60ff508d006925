"""Runs callbacks right after a module's own import.

The module's spec, loader class and name stay as they are.

One finder stands first in `sys.meta_path`. It asks the other finders for the real spec and wraps
`exec_module` of that one loader instance; the wrapper removes itself before it calls the real one.

A script may empty `sys.modules`. The recorder's own modules are then put back with the next import:
a second copy of them would know nothing of the recorder that is under way, and what the script logs
would go nowhere.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable

    Callback = Callable[[object], None]

_OURS = __name__.rpartition(".recorder.")[0]
_package = sys.modules[_OURS]
_Module = type(sys)
_IMPORTING = ("importlib", "_frozen_importlib", __name__)
"""Modules whose functions stand between an import and the finder."""
_Spec = type(__spec__)  # `importlib.machinery` may be gone, too, when it is needed

_waiting: dict[str, list[Callback]] = {}
_provided: dict[str, str] = {}
_added: set[str] = set()


def when_imported(name: str, callback: Callback) -> None:
    """Call `callback(module)` once `name` has been imported; at once if it is loaded.

    The callback must not raise.
    """
    if name in sys.modules:
        callback(sys.modules[name])
    else:
        _waiting.setdefault(name, []).append(callback)


def provide(name: str, path: str) -> None:
    """Load module `name` from the file `path` if no other finder provides the module."""
    _provided[name] = path


def added() -> str:
    """Return the modules that only the recorder has imported since the last call.

    Neither the script nor an earlier import of the recorder had imported these modules.
    """
    new = {name for name in _added if name in sys.modules and not name.startswith("_")}
    _added.clear()
    return ", ".join(sorted(name for name in new if name.rpartition(".")[0] not in new))


def install(before: set[str]) -> None:
    """Put the finder first; a second call changes nothing.

    `before`: the modules that were here before those of the recorder.
    """
    _added.update(name for name in sys.modules.keys() - before if not name.startswith(_OURS))
    _added.discard("sitecustomize")
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    def __init__(self) -> None:
        self._busy: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if _OURS not in sys.modules:
            _put_back(_package)
        if name.partition(".")[0] == _OURS:
            module = sys.modules.get(name)
            if module is None:
                return None
            return _Spec(name, _Loaded(module), is_package=hasattr(module, "__path__"))  # type: ignore[arg-type]
        if name in self._busy:
            return None
        if _is_asked_by_recorder():
            _added.add(name)
        if name in _waiting:
            spec = self._asked(name, path, target)
            loader = getattr(spec, "loader", None)
            if loader is not None:  # a namespace package has none
                _wrap(loader, name)
            return spec
        if name in _provided:
            return self._asked(name, path, target)
        return None

    def _asked(self, name: str, path: Any, target: Any) -> Any:
        """Return the spec that the other finders give, else that of a provided file.

        The other finders may ask for the same module.
        """
        self._busy.add(name)
        try:
            spec = self._real_spec(name, path, target)
        finally:
            self._busy.discard(name)
        if spec is not None or name not in _provided:
            return spec
        from importlib.util import spec_from_file_location

        return spec_from_file_location(name, _provided[name])

    def _real_spec(self, name: str, path: Any, target: Any) -> Any:
        others = [finder for finder in sys.meta_path if finder is not self]
        for finder in others:
            # one of the older protocol, which Python 3.12 has given up, has no `find_spec`
            spec = getattr(finder, "find_spec", _none)(name, path, target)
            if spec is not None:
                return spec
        return None


def _is_asked_by_recorder() -> bool:
    """Return whether a module of the recorder holds the import statement under way.

    An import further up the stack does not count: each import of a framework would take as many
    steps as it has frames above it, 12 ms in all.
    """
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_IMPORTING):
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__", "").startswith(_OURS)


def _none(*_: Any) -> None:
    """Return None: find no module."""


class _Loaded:
    """The loader of a module that is loaded already: the same object again."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def create_module(self, spec: Any) -> Any:
        return self._module

    def exec_module(self, module: Any) -> None:
        pass


def _put_back(module: Any) -> None:
    """Enter a module of the recorder and those below it into `sys.modules`."""
    sys.modules[module.__name__] = module
    prefix = module.__name__ + "."
    for name, below in list(vars(module).items()):
        if isinstance(below, _Module) and below.__name__ == prefix + name:
            _put_back(below)


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
    except AttributeError:
        # a loader with slots cannot be watched: the missing `framework` event says so
        pass
