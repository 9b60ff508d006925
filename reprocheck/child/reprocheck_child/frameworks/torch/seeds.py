"""Records where a script seeds generators and loads checkpoints.

It records the call, the seed or the keys of the state dict, and the script's line.
"""

import functools
import os
import sys
from _thread import _local
from typing import Any, Callable, Dict, List, Optional

from ...recorder import import_hook
from ...recorder.hooking import guarded, replace

_NAMES, _LISTED = 200, 50
"""Characters that are kept of a text, and names of a list."""
_WORKERS = "torch.utils.data._utils.worker"
_OF_A_WORKER = 20
"""Seeds that are recorded of one worker of a loader: one that seeds for each sample says the same
again and again.
"""


def install(torch: Any, deep: Any) -> None:
    """Record calls that seed a default generator, `load_state_dict` and `torch.load`."""
    seeds = _Seeds(deep)
    seeds.watch(torch, "manual_seed", "torch", torch.random)
    seeds.watch(torch, "seed", "torch", torch.random)
    for backend in ("cuda", "xpu", "mps"):
        seeds.watch_device(getattr(torch, backend, None), backend)
    import_hook.when_imported(
        "torch_npu", lambda module: seeds.watch_device(getattr(torch, "npu", None), "npu")
    )
    import_hook.when_imported("random", lambda module: seeds.watch(module, "seed", "python"))
    import_hook.when_imported(
        "numpy.random",
        lambda module: seeds.watch(module, "seed", "numpy", getattr(module, "mtrand", None)),
    )
    _Loads(torch, deep).watch()


class _Seeds:
    """The wrappers of functions that seed.

    If one of them calls another (`torch.manual_seed` seeds the devices), one call is recorded.
    """

    def __init__(self, deep: Any) -> None:
        self.deep = deep
        self.local = _local()
        self.of_worker = 0
        self.left: Dict[str, bytes] = {}
        """Generator -> the state in which the last seed left it, at first that in which it was
        found.
        """

    def watch_device(self, module: Any, name: str) -> None:
        for function in ("manual_seed", "manual_seed_all", "seed", "seed_all"):
            if hasattr(module, function):
                self.watch(module, function, name, getattr(module, "random", None))

    def watch(self, module: Any, name: str, generator: str, *others: Any) -> None:
        """Wrap a seeding function of a module, also in other modules that have imported it."""
        try:
            real = getattr(module, name)
            self.left.setdefault(generator, self._state(generator))
            wrapper = self._wrapper(real, generator)
            for owner in (module, *others):
                if getattr(owner, name, None) == real:  # bound methods are equal, not identical
                    self.deep.hooks.put(owner, name, wrapper)
        except Exception as error:
            self.deep.unrecorded("seed of " + generator, repr(error))

    def _wrapper(self, real: Callable[..., Any], generator: str) -> Callable[..., Any]:
        local, record, state, hooks = self.local, self.record, self._state, self.deep.hooks

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if hooks.gone or getattr(local, "inside", False):
                return real(*args, **kwargs)
            before = state(generator)
            local.inside = True
            try:
                returned = real(*args, **kwargs)
            finally:
                local.inside = False
            record(generator, args, kwargs, returned, before)
            return returned

        # by hand: what one of these calls is let through, also where it raises
        functools.update_wrapper(wrapper, real)
        # a method of a hidden instance, known by the name of the function
        if "." in wrapper.__qualname__:
            wrapper.__qualname__ = wrapper.__name__
        return wrapper

    def _state(self, generator: str) -> bytes:
        """Return the state of a generator; b"" where it cannot be read."""
        read = self.deep.generators.get(generator, bytes)
        try:
            return bytes(read())
        except Exception:
            return b""

    @staticmethod
    def _worker() -> Optional[int]:
        """Return the number of the loader worker that this process is; None if it is no worker."""
        # as `torch.utils.data.get_worker_info` says it, and without importing that in a process
        # that has no loader
        info = getattr(sys.modules.get(_WORKERS), "_worker_info", None)
        return getattr(info, "id", None)

    def record(self, generator: str, args: Any, kwargs: Any, returned: Any, before: bytes) -> None:
        """Record that a script has seeded a generator.

        If numbers were drawn from the generator before, a hash of its state until then is recorded,
        too.
        """
        with guarded("a generator was seeded"):
            if sys._getframe(2).f_globals.get("__name__") == _WORKERS:
                return  # each worker of a loader is seeded from the loader's own seed
            keys: Dict[str, Any] = {}
            seed = next(iter([*args, *kwargs.values()]), None)
            if seed is None:
                keys["sys"] = True
                if type(returned) is int:
                    seed = returned  # torch.seed() says what it took from the system
            keys["out"] = [["seed", _seed(self.deep, seed)]]
            library = self.deep.library(sys._getframe(2), "torch")
            if library:
                keys["by"] = library
            line = self.deep.source(2)
            if line:
                keys["l"] = line
            if before != self.left.get(generator, before):
                keys["g"] = {generator: self.deep.hash_bytes(before)}
            self.left[generator] = self.deep.marks[generator] = self._state(generator)
            worker = self._worker()
            if worker is None:
                self.deep.seen("seed", generator, **keys)
            elif self.of_worker < _OF_A_WORKER:
                self.of_worker += 1
                self.deep.seen("seed", generator, w=worker, **keys)
                self.deep.flush()  # a worker is ended without a word


def _seed(deep: Any, seed: Any) -> Dict[str, Any]:
    """Return a seed as the trace stores it; None stands for a seed from OS entropy."""
    if isinstance(seed, str):
        return {"v": seed[:_NAMES]}
    # types of seeds that stand in the trace as they are; None is a seed from the system
    if type(seed) in (int, float, type(None)):
        return {"v": seed}
    if hasattr(seed, "item") and getattr(seed, "size", None) == 1:
        return {"v": seed.item()}  # a number of numpy
    leaves = deep.fingerprints.leaves(seed)
    if len(leaves) != 1:
        return {"h": deep.hash_bytes(repr(seed).encode()), "d": type(seed).__name__}
    value: Any = leaves[0][1]
    if callable(value):  # the fingerprint of a tensor on a device
        value = value(True)
    return dict(value)


class _Loads:
    """The wrappers of functions that read checkpoints."""

    def __init__(self, torch: Any, deep: Any) -> None:
        self.torch = torch
        self.deep = deep
        self.local = _local()

    def watch(self) -> None:
        torch = self.torch
        hooks = self.deep.hooks
        hooks.around(torch.nn.Module, "load_state_dict", "a state was loaded", after=self.loaded)
        replace(torch, "load", self._outermost, also=[torch.serialization], put=hooks.put)

    def _outermost(self, real: Any) -> Any:
        local, read, hooks = self.local, self.read, self.deep.hooks

        def load(*args: Any, **kwargs: Any) -> Any:
            if hooks.gone or getattr(local, "inside", False):
                return real(*args, **kwargs)
            local.inside = True
            try:
                returned = real(*args, **kwargs)
            finally:
                local.inside = False
            read(args, kwargs, returned)
            return returned

        return load

    def loaded(
        self,
        returned: Any,
        module: Any,
        state_dict: Any,
        strict: Any = True,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Record that a module has loaded a state dict."""
        missing = getattr(returned, "missing_keys", None)
        unexpected = getattr(returned, "unexpected_keys", None)
        boundary = self.deep.boundary
        leaves = [] if boundary is None else boundary.archives.key_leaves(state_dict)
        leaves += [["missing", _names(missing)], ["unexpected", _names(unexpected)]]
        leaves += [["strict", {"v": bool(strict)}], ["entries", {"v": len(state_dict)}]]
        self._seen(self._name(module), "load_state_dict", leaves)

    @guarded("a file was loaded")
    def read(self, args: Any, kwargs: Any, returned: Any) -> None:
        """Record a file that was read by `torch.load`, by a hash of the tensors in the file."""
        file: Any = args[0] if args else kwargs.get("f")
        path = getattr(file, "name", None)
        if isinstance(file, (str, bytes, os.PathLike)):
            path = os.fsdecode(file)
        place = type(file).__name__
        if isinstance(path, str):
            place = self._relative(path)
        self._seen(place, "torch.load", [], self._contents(returned))
        if self.deep.boundary is not None:
            self.deep.boundary.archives.read(returned)

    def _contents(self, returned: Any) -> List[Any]:
        """Return one hash of all loaded tensors with their names, as leaf of a fact.

        [] if no loaded tensor is on the host.
        """
        if isinstance(returned, self.torch.nn.Module):
            returned = returned.state_dict()
        leaves = self.deep.fingerprints.leaves(returned)
        self.deep.finish()
        on_host = [(path, leaf) for path, leaf in leaves if isinstance(leaf, dict)]
        hashes = ["%s %s" % (path, leaf["h"]) for path, leaf in on_host if leaf.get("h")]
        if not hashes:
            return []
        return [["contents", {"h": self.deep.hash_bytes("\n".join(hashes).encode())}]]

    def _seen(
        self, place: str, kind: str, leaves: List[Any], contents: "Optional[List[Any]]" = None
    ) -> None:
        keys: Dict[str, Any] = {}
        if leaves:
            keys["in"] = leaves
        if contents:
            keys["out"] = contents
        line = self.deep.source(3)
        if line:
            keys["l"] = line
        self.deep.seen("load", place, k=kind, **keys)

    def _relative(self, path: str) -> str:
        recorder = self.deep.recorder
        path, inside = os.path.abspath(path), os.path.join(recorder.workdir, "")
        if recorder.workdir and path.startswith(inside):
            return path[len(inside) :]
        return str(recorder.masked(path))

    def _name(self, module: Any) -> str:
        from ...deep_levels.scope import variable

        return variable(self.deep.frame(3), module) or type(module).__name__


def _names(keys: Optional[List[str]]) -> Dict[str, Any]:
    """Return `v` with the names as one comma-separated text, shortened; None without keys."""
    if keys is None:
        return {"v": None}
    text = ", ".join(map(str, keys[:_LISTED]))
    if len(text) > _NAMES or len(keys) > _LISTED:
        text = text[: _NAMES - 20] + "… (%d)" % len(keys)
    return {"v": text}
