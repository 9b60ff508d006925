"""Records what a training saves to files and what it loads from them.

For each file: under which key a saver was given which part of the training, which part of the
training was given which loaded value, and the lines of the script that did so.

Loaded only in a check of a resume: `boundaries` of the recorder.
"""

from __future__ import annotations

import os
import sys
import threading
from _thread import get_ident

from ..deep_levels import scope
from ..files_seen import native_readers
from ..process import user_files
from ..recorder import import_hook
from ..recorder.hooking import around, guarded
from ..recorder.lines import of_line

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Iterator

    Entry = list[Any]
    Given = tuple[int, str] | None

DCP, ORBAX, TF = "torch.distributed.checkpoint", "orbax.checkpoint", "tensorflow.python.checkpoint"
KERAS = "keras.src.models.model"
SAVERS: tuple[tuple[str, str, str, Given], ...] = (
    ("torch", "save", "torch.save", (0, "obj")),
    (DCP, "save", f"{DCP}.save", (0, "state_dict")),
    (DCP, "async_save", f"{DCP}.async_save", (0, "state_dict")),
    ("safetensors.torch", "save_file", "safetensors.torch.save_file", (0, "tensors")),
    ("safetensors.numpy", "save_file", "safetensors.numpy.save_file", (0, "tensor_dict")),
    *(
        (f"{lightning}.trainer.trainer", "Trainer.save_checkpoint", "Trainer.save_checkpoint", None)
        for lightning in ("lightning.pytorch", "pytorch_lightning")
    ),
    ("transformers.trainer", "Trainer._save_checkpoint", "transformers.Trainer", None),
    ("accelerate.accelerator", "Accelerator.save_state", "Accelerator.save_state", None),
    (KERAS, "Model.save", "keras.Model.save", None),
    (KERAS, "Model.save_weights", "keras.Model.save_weights", None),
    (f"{TF}.checkpoint_management", "CheckpointManager.save", "tf.train.CheckpointManager", None),
    (f"{TF}.checkpoint", "TrackableSaver.save", "tf.train.Checkpoint", None),
    ("mindspore", "save_checkpoint", "mindspore.save_checkpoint", None),
    ("mindspore.train.serialization", "save_checkpoint", "mindspore.save_checkpoint", None),
    *(
        (ORBAX, f"{kind}.save", f"{ORBAX}.{kind}.save", None)
        for kind in ("CheckpointManager", "PyTreeCheckpointer", "StandardCheckpointer")
    ),
    ("joblib.numpy_pickle", "dump", "joblib.dump", (0, "value")),
    ("numpy", "savez", "numpy.savez", None),
    ("numpy", "save", "numpy.save", None),
    ("pickle", "dump", "pickle.dump", (0, "obj")),
)
"""The module after whose import it is watched, the function, how a report names it, and which of
its arguments is saved.
"""
LOADERS = (("pickle", "load"), ("joblib.numpy_pickle", "load"), ("safetensors.torch", "load_file"))
"""Functions that return what a file holds, beside those that adapters watch."""
MOST, DEPTH, LONGEST = 400, 3, 60
"""Entries of one file, dicts within dicts, elements of a list that are looked at."""
FRAMES = 4
"""Functions of the user's under way, from the innermost out, whose names are recorded."""
_PLAIN = (int, bool, float, str, type(None))


class Save:
    """Describe one call of a saver such as `torch.save`.

    All that is written during the call belongs to the save.

    by       name of the saver in a report: `torch.save`
    line     `file:line` of the script that called the saver
    updates  number of updates of the weights when the save began
    number   number of the save in this process, from 1
    holds    kinds of what the saver was given, such as `optimizer` or `weights`
    """

    def __init__(
        self, by: str, line: str = "", updates: int = 0, number: int = 0, holds: Iterable[str] = ()
    ) -> None:
        self.by = by
        self.line = line
        self.updates = updates
        self.number = number
        self.holds = list(holds)


class Savers:
    """Watch the calls of all known savers and loaders in this process."""

    def __init__(self, recorder: Any) -> None:
        self._recorder = recorder
        self._saving: dict[int, Save] = {}  # by thread: the outermost saver under way
        self._content: dict[int, list[Entry]] = {}  # by thread: what it was given so far
        self._file: dict[int, str] = {}  # by thread: the file that it was given
        self.number = 0
        self.make: Callable[[str], Save] = Save
        """Makes the save that begins."""
        self.on_end: list[Callable[[Save, Any], None]] = []
        """Called at the end of a save, with what the saver returned."""

    def install(self) -> None:
        """Start to watch the savers and loaders, each once its module is imported."""
        for module, function, name, given in SAVERS:
            import_hook.when_imported(module, self._watcher(function, name, given))
        for module, function in LOADERS:
            import_hook.when_imported(
                module, native_readers.hooking_in(function, self._watch_loader)
            )

    def under_way(self) -> Save | None:
        """Return the save that is under way in the calling thread; None if there is none."""
        return self._saving.get(get_ident())

    @property
    def archives(self) -> Archives | None:
        """Return the writer of what files hold; None until a framework is imported."""
        boundary = getattr(self._recorder.deep, "boundary", None)
        return boundary and boundary.archives

    def _watcher(self, function: str, name: str, given: Given) -> import_hook.Callback:
        def begin(*args: Any, **named: Any) -> Callable[[Any], None] | None:
            return self._begin(name, given, args, named)

        def put(owner: Any, attribute: str) -> None:
            around(owner, attribute, "watching a saver", before=begin)

        return native_readers.hooking_in(function, put)

    def _begin(
        self, name: str, given: Given, args: tuple[Any, ...], named: dict[str, Any]
    ) -> Callable[[Any], None] | None:
        """Begin a save, and return the function to call at its end.

        A saver that another saver calls is a part of the outer save.

        name   name of the saver in a report
        given  position and name of the argument that is saved; None if no single argument is
        args   positional arguments of the saver
        named  keyword arguments of the saver
        """
        me = get_ident()
        is_part = me in self._saving
        if not is_part:
            self.number += 1
            self._saving[me], self._content[me] = self.make(name), []
            self._saving[me].number = self.number
            self._file[me] = self._named([*args, *named.values()])
        archives = self.archives
        if given is not None and archives is not None:
            value = args[given[0]] if len(args) > given[0] else named.get(given[1])
            self._content[me] += archives.contents(value)
        return None if is_part else self._end

    def _end(self, returned: Any) -> None:
        me = get_ident()
        save, content, file = self._saving.pop(me), self._content.pop(me), self._file.pop(me)
        save.holds = sorted({entry[1]["d"] for entry in content})
        archives = self.archives
        if archives is not None and threading.current_thread() is threading.main_thread():
            archives.saved(save, content, file)
        for callback in self.on_end:
            callback(save, returned)

    def _named(self, given: list[Any]) -> str:
        """Return the trace's name of the file that a saver is given; "" for no file."""
        paths = (
            getattr(argument, "name", argument)
            for argument in given
            if not isinstance(argument, dict)
        )
        path = next(
            (argument for argument in paths if isinstance(argument, (str, os.PathLike))), None
        )
        if path is None:
            return ""
        absolute, inside = os.path.abspath(path), user_files.folder_of(self._recorder)
        if inside and absolute.startswith(inside):
            return absolute[len(inside) :]
        return str(self._recorder.masked(absolute))

    def _watch_loader(self, owner: Any, attribute: str) -> None:
        def after(returned: Any, *_: Any, **__: Any) -> None:
            if self.archives is not None:
                self.archives.read(returned)

        around(owner, attribute, "watching a loader", after=after)


class Archives:
    """Write what files hold: `saved` and `load` facts, and `names`.

    One for all frameworks of a process. A fact `names` holds the script's expressions for the parts
    of its training.
    """

    def __init__(self, deep: Any, generators: Callable[[], dict[str, Any]]) -> None:
        self._deep = deep
        self.generators = generators
        """Returns the generators that the script made for itself, by their names."""
        self.parts: list[Callable[[], Iterable[tuple[str, Any]]]] = [self._modules]
        """Return the parts of a training that are alive, each with what it is called in a trace;
        adapters add theirs.
        """
        self.kinds: list[Callable[[Any], tuple[str, str] | None]] = []
        """Return what a value is: its kind, and of which part; adapters add theirs."""
        self._keys: dict[int, str] = {}  # id of something that was loaded -> its place in the file

    def saved(self, save: Save, content: list[Entry], file: str) -> None:
        """Record a save: the saver, its file, and the parts of the training that were saved.

        content  entries of the file, as `contents` returns them
        file     name of the file in the trace; "" if it is not known
        """
        keys = {"in": content[:MOST], "fr": self.frames(), **of_line(self._deep.source(1))}
        self._deep.seen("saved", file, call=False, k=save.by, **keys)

    @guarded("looking at what is saved", otherwise=[])
    def contents(self, value: Any) -> list[Entry]:
        """Return the parts of a value that is saved.

        Each is `[place, {"d": kind, "v": name or number}]`, where the place is such as `['model']`.
        """
        entries: list[Entry] = []
        self._describe("", value, entries, 0)
        return entries

    def _describe(self, place: str, value: Any, entries: list[Entry], depth: int) -> None:
        if len(entries) >= MOST:
            return
        kind, name = self._kind(value)
        is_list = type(value) in (list, tuple) and len(value) <= LONGEST
        if not kind and depth < DEPTH and (is_list or isinstance(value, dict)):
            for part, element in scope.parts(value if is_list else dict(value)):
                self._describe(place + part, element, entries, depth + 1)
            return
        if not kind and type(value) in _PLAIN and not isinstance(value, str):
            name = value
        entries.append([place, {"d": kind or type(value).__name__, "v": name}])

    def _kind(self, value: Any) -> tuple[str, Any]:
        if type(value) in _PLAIN:
            return "", ""
        state = _state_of_host(value)
        if state:
            return "generator", self._generator(state, value)
        for kind in self.kinds:
            known = kind(value)
            if known is not None:
                return known
        return "", ""

    def _generator(self, shared: str, value: Any) -> str:
        """Return which random generator has the state `value`: one of the script's, or `shared`.

        shared  `python` or `numpy`
        """
        from . import script_objects

        for name, generator in self.generators().items():
            state = script_objects.taken(generator)
            if isinstance(state, (dict, tuple)) and repr(state) == repr(value):
                return name
        return shared

    @guarded("looking at what was loaded")
    def read(self, value: Any) -> None:
        """Remember where in a file each loaded value stood, for its dictionary key later.

        The values are remembered by their `id`, without a reference: they may be large, and are
        freed when the script drops them.
        """
        self._keys.clear()
        self._remember("", value, 0)
        self._deep.seen(
            "names", "read", call=False, fr=self.frames(), **of_line(self._deep.source(1))
        )

    def _remember(self, place: str, value: Any, depth: int) -> None:
        if type(value) in _PLAIN or len(self._keys) > 10 * MOST:
            return
        self._keys.setdefault(id(value), place)
        if isinstance(value, (dict, list, tuple)) and depth < DEPTH:
            for part, element in scope.parts(dict(value) if isinstance(value, dict) else value):
                self._remember(place + part, element, depth + 1)

    def key_of(self, value: Any) -> str:
        """Return the dictionary key in the file, such as `['optimizer']`, of a loaded value.

        A dictionary that was not loaded itself has the key of the values that it was made of. The
        result is "" if the key is not known.
        """
        known = self._keys.get(id(value))
        if known is not None or not isinstance(value, dict):
            return known or ""
        first = (self._keys.get(id(part), "") for part in list(value.values())[:LONGEST])
        place = next(filter(None, first), "")
        return place[: place.rfind("[")] if place.count("[") > 1 else place

    def key_leaves(self, value: Any) -> list[Entry]:
        """Return the dictionary key of a loaded value as a leaf of a fact; [] if unknown."""
        key = self._deep.recorder.named(self.key_of(value))
        return [["key", {"v": key}]] if key else []

    def loaded(self, kind: str, part: str, value: Any) -> None:
        """Record that a part of the training is given a loaded value.

        kind   kind of the part, such as `optimizer`
        part   name of the part in the trace
        value  the loaded value
        """
        line = of_line(self._deep.source(2))
        self._deep.seen("load", part, call=False, k=kind, **{"in": self.key_leaves(value)}, **line)

    def frames(self) -> list[list[Any]]:
        """Return `[line, {part: expression}]` of the user's running functions, innermost first.

        The expressions are those by which the script itself reaches the parts of its training, such
        as `self.optimizer`.
        """
        wanted = {id(thing): name for part in self.parts for name, thing in part()}
        wanted.update((id(thing), name) for name, thing in self.generators().items())
        lines = []
        for frame, line in self._deep.frames(FRAMES):
            reached = scope.expressions(frame, wanted)
            shown = {name: self._deep.recorder.named(text) for name, text in reached.items()}
            lines.append([line, shown])
        return lines

    @staticmethod
    def _modules() -> Iterator[tuple[str, Any]]:
        """Yield the modules whose random generators all code shares, such as `random`."""
        for name, module in (("python", "random"), ("numpy", "numpy"), ("torch", "torch")):
            if module in sys.modules:
                yield name, sys.modules[module]


def _state_of_host(value: Any) -> str:
    """Return `python` or `numpy` if a value is the state of such a random generator; else ""."""
    if isinstance(value, dict):
        return "numpy" if "bit_generator" in value else ""
    if not isinstance(value, (tuple, list)) or len(value) < 3:
        return ""
    if isinstance(value[0], str):
        return "numpy" if value[0] == "MT19937" else ""
    words = value[1]
    return "python" if isinstance(words, (tuple, list)) and len(words) == 625 else ""
