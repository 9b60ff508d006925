"""Writes what is seen at the deeper levels, one line a fact, in the order of execution.

The states of the random generators stand beside the facts.

Loaded only where a run is recorded at level `module` or `op`. It draws no random number: states are
read, never advanced.
"""

from __future__ import annotations

import sys
from _thread import get_ident

from ..process import user_files
from ..recorder import import_hook, json_text
from ..recorder.hooking import Removable, guarded
from . import hashing, leaves
from .executed_functions import Reached
from .generator_states import NumpyState, PythonState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    Leaves = list[list[Any]]
    Reading = Callable[[bool], dict[str, Any] | None]

_VALUES = ("in", "out")
_LOSS = '{"e":"loss"'
_BEHIND_THE_LOSS = ("outgrad", "gradient", "reduced", "update", "op")
"""Facts of a backward pass, and of an update by hand.

Without an optimizer, the loss before them has closed their iteration.
"""
_GATHERED = 256
"""Facts that are written together at most."""
_MOST_PATHS = 10_000
_ASKING = frozenset(("batch", "root", "hyper", "op"))
"""Facts at which is asked each time which of the user's code has run."""
_SPECIAL = frozenset(("batch", "seed"))
_NUMBERS = frozenset((int, type(None)))
"""Types of indices of samples, as a rule."""


class Deep:
    """Write the `seen` events of one process, and follow the states of its random generators.

    One for all frameworks of a process: see `of`.

    Facts are gathered and written together, before any other line: at the latest with the loss or
    update that follows. In `in` and `out`, a leaf may be a function `read(wait)` instead of a
    fingerprint, if the fingerprint still lies on a device. It returns the fingerprint, or None if
    that has not arrived and `wait` is False. The line keeps its place in the order.
    """

    thread = 0
    """The thread that trains: the first that calls a module or starts a backward pass.

    What other threads do has no order.
    """
    seeds = 0
    """Seeds that were set so far: each has its number, and what is made says how many were set
    before it.
    """
    loss_first = False
    """Whether a loss is written before the gradients that follow from it.

    Set by the adapter.
    """
    loaders = False
    """Whether a loader has handed out a batch: then the inputs of a module are not taken for
    one.
    """
    fingerprints: Any = None
    """The fingerprints of the framework's tensors: one cache for all who record them.

    Set by the adapter.
    """
    boundary: Any = None
    """What a resume is judged by, where that is asked for."""
    mirrors: Any = None
    """Records what should not be the same twice in one run; set by the adapter."""

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder
        self.grouping = recorder.grouping
        self.hooks = Removable()
        """What can be taken away again when level `auto` leaves the deeper one."""
        self.rests = recorder.begin > 1
        """Whether the iterations under way are not to be recorded yet.

        Seeds, orders of loaders and where weights were made are: what follows is told by them. In a
        check of a resume, batches and what the outermost modules are given are, too.
        """
        if self.rests:
            recorder.on_event.append(self._wake)
        self.generators: dict[str, Callable[[], bytes]] = {
            "python": PythonState(),
            "numpy": NumpyState(),
        }
        """State of each default generator as bytes, b"" while there is none.

        Adapters add theirs.
        """
        self.foreign = [*user_files.foreign_folders()]
        """Folders whose code is not the user's. Adapters add the folder of their framework."""
        self.finish: Callable[[], None] = _nothing
        """Completes the fingerprints that were given so far; set by the adapter."""
        self.named: Callable[[Any, str], str] = lambda holder, attribute: ""
        """The name that the framework on top of this one has for a module, or for the tensor that
        it holds as an attribute.
        """
        self.module_path: Callable[[], str] = str
        """Path of the module whose forward runs in this thread, "" outside; set by the adapter."""
        self.marks: dict[str, bytes] = {}
        """Generator -> its state when it was seeded, or a weight was made, last: who has moved
        since has drawn since.
        """
        self._inside = user_files.folder_of(recorder)
        # file of a code object -> its name in the trace, "" where it is not the user's
        self._names: dict[str, str] = {}
        self._counts: dict[tuple[str, str], int] = {}
        self._places: set[tuple[str, str]] = set()  # kinds and places that had a fact
        self._iteration = 0
        self._unrecorded: set[tuple[str, str]] = set()
        self._plain_paths: set[str] = set()  # paths of leaves of which nothing is masked
        # of each generator, the state that was hashed last
        self._digests: dict[str, tuple[str, bytes]] = {}
        self._gathered: list[dict[str, Any] | str] = []
        self._last_seeds: dict[str, dict[str, Any]] = {}  # generator -> the fact of its last seed
        if recorder.boundaries is not None:
            from ..resume.boundary import Boundary

            self.boundary = Boundary(self)
        self._reached: Reached | None = None
        if self.boundary is None:  # no rung of a resume asks which code has run
            self._reached = Reached(self._name_of, self._names)
        recorder.before_line = self.before_line
        recorder.on_fork.append(self.forked)
        recorder.on_end.append(self._reach_end)
        import_hook.when_imported("numpy.random", self._found)

    def seen(
        self, r: str, place: str, *, call: bool = True, read: Reading | None = None, **keys: Any
    ) -> None:
        """Write one fact, such as the output of a module.

        Give the key `in` as `**{"in": leaves}`.

        r      kind of the fact, such as `batch` or `seed`
        place  where in the training the fact was seen, such as the name of a module
        call   whether calls at this place are counted within the iteration
        read   of further keys that still lie on a device: called as `read(wait)`, it returns them,
               or None if they have not arrived
        keys   further keys of the event
        """
        if self.hooks.gone:
            return
        try:
            grouping = self.grouping
            iteration = len(grouping.ends) + 1
            # Facts of a backward pass belong to the iteration of its loss, even if the loss has
            # already closed the iteration, as it does without an optimizer.
            if grouping.closed_by_loss and self.loss_first and r in _BEHIND_THE_LOSS:
                iteration -= iteration > 1 and (r != "op" or "bw" in keys)
            key = (r, place)
            # Asked at a few facts of a step, and at each that comes for the first time: to look at
            # the stack takes longer than all the rest of a fact.
            if r in _ASKING or key not in self._places:
                self._reach(r, iteration)
                if len(self._places) < _MOST_PATHS:
                    self._places.add(key)
            if iteration != self._iteration:
                self._counts.clear()
                self._iteration = iteration
            event = {"e": "seen", "r": r, "i": iteration, "p": place}
            if call:
                index = self._counts.get(key, 0)
                self._counts[key] = index + 1
                if index:
                    event["c"] = index
            event.update(keys)
            if r in _SPECIAL:
                self._prepare(r, place, event)
            waits = read is not None
            for name in _VALUES:
                for _, value in keys.get(name, ()):
                    waits |= type(value) is not dict  # it is still to be read off a device
            if waits:
                self._defer(event, read)
                return
            self._gathered.append(event)
            if len(self._gathered) > _GATHERED:
                self.flush()
        except Exception as error:
            self.recorder.problem("recording " + r, error)

    def _prepare(self, r: str, place: str, event: dict[str, Any]) -> None:
        """Note that there is a loader, and give a seed its number."""
        if r == "batch" and not place.startswith("inputs of "):
            self.loaders = True
        elif r == "seed":
            event["sn"] = self.seeds
            self.seeds += 1
            self._last_seeds[place] = event

    def _mask_texts(self, events: list[dict[str, Any] | str]) -> None:
        """Mask the script's names and secrets in the facts that hold a text or a path."""
        plain_paths = self._plain_paths
        for event in events:
            if isinstance(event, str):  # the line of a loss
                continue
            if "idx" in event and not _NUMBERS.issuperset(map(type, event["idx"] or ())):
                event["idx"] = self._indices(event["idx"])
            for path, value in (*event.get("in", ()), *event.get("out", ())):
                if (path and path not in plain_paths) or type(value.get("v")) is str:
                    self._mask(event)
                    break

    def _mask(self, event: dict[str, Any]) -> None:
        """Mask the script's names and secrets in the leaves of a fact."""
        for name in _VALUES:
            if name in event:
                event[name] = [
                    [self._path(path), self._leaf(path, value)] for path, value in event[name]
                ]

    def _path(self, path: str) -> str:
        if path in self._plain_paths:
            return path
        shown: str = self.recorder.named(path)
        if shown == path and len(self._plain_paths) < _MOST_PATHS:
            self._plain_paths.add(path)
        return shown

    def _leaf(self, path: str, value: Any) -> Any:
        """Return a leaf with the hash of its text, if the text or its path may be a secret.

        Equal texts still have equal hashes.
        """
        text = value.get("v") if type(value) is dict else None
        if type(text) is not str or "d" in value:  # what is of a kind is named by the recorder
            return value
        pair = "%s=%r" % (path.rpartition(".")[2], text)
        if self.recorder.plain(text) == text and self.recorder.plain(pair) == pair:
            return value
        return leaves.hashed_text(text)

    def _indices(self, value: Any) -> Any:
        """Return the indices of samples, masked because they may be names of files."""
        if isinstance(value, list):
            return list(map(self._indices, value))
        return self.recorder.named(value) if type(value) is str else value

    def seen_again(self, r: str, known: list[tuple[str, Any]], **keys: Any) -> None:
        """Write one line for all places whose values are those of their last fact `gradient`.

        known  (place, value) of each, for the case that each needs a line of its own
        """
        places = [place for place, _ in known]
        counted = [(r, place) for place in places]
        if self._counts.keys().isdisjoint(counted):
            self.seen(r, "", call=False, e="again", p=places, **keys)
            self._counts.update(dict.fromkeys(counted, 1))
            return
        for place, value in known:
            self.seen(r, place, out=[["", value]], **keys)

    def before_line(self, line: str) -> bool:
        """Write the gathered facts before a line.

        A loss is gathered, too: then return True, and the loss is written together with the facts.
        """
        if self._gathered:
            if line.startswith(_LOSS):
                self._gathered.append(line)
                return True
            self.flush()
        return False

    def flush(self) -> None:
        """Write the facts that were gathered."""
        if self._gathered:
            self.recorder.lines(self._take)

    def _take(self) -> str:
        # without a lock: what another thread adds meanwhile stays for the next time
        events = self._gathered[:]
        del self._gathered[: len(events)]
        self.finish()
        try:
            self._mask_texts(events)
            return json_text.lines(events)
        except Exception:
            return "".join(map(self._text, events))

    def _text(self, event: dict[str, Any] | str) -> str:
        """Return the line of an event, or a line that says why there is none."""
        try:
            self._mask_texts([event])
            return json_text.lines([event])
        except Exception as error:
            where = "recording " + (event.get("r", "") if isinstance(event, dict) else "")
            problem = {"e": "problem", "where": where, "error": repr(error)[:2000]}
            return json_text.lines([problem])

    def unrecorded(self, where: str, why: str) -> None:
        """Write, once for each place and reason, that something could not be recorded."""
        known = (where, why) in self._unrecorded or len(self._unrecorded) >= 1000
        if not known and not self.hooks.gone:
            self._unrecorded.add((where, why))
            self.recorder.emit(
                {"e": "unrecorded", "where": where, "why": self.recorder.masked(why[:500])}
            )

    def _wake(self) -> None:
        self.rests = len(self.grouping.ends) < self.recorder.begin - 1

    def leave(self) -> None:
        """Remove the deeper hooks, and stop to follow which of the user's code has run."""
        self.hooks.remove()
        self._reached = None

    def elsewhere(self) -> bool:
        """Return whether the calling thread is not the one that trains; the first caller is."""
        me = get_ident()
        if not self.thread:
            self.thread = me
        elif self.thread != me:
            self.unrecorded(
                "thread",
                "modules and backward passes in threads of the script, beside the one that trains",
            )
            return True
        return False

    def goes_on(self, framework: str) -> bool:
        """Begin a step of the training; return whether a resume check records its values here.

        Frameworks call this.
        """
        return self.boundary is not None and self.boundary.reached(framework)

    def forked(self) -> None:
        """Count the iterations of a forked process from the start."""
        self.thread = 0
        self.grouping = self.recorder.grouping
        self._counts.clear()
        self._unrecorded.clear()
        # its generators stand where those of its parent stood: what seeded them belongs to its
        # trace, too
        self._gathered[:] = [{**event, "i": 1} for event in self._last_seeds.values()]

    def _reach(self, r: str, iteration: int) -> None:
        """Record which of the user's code has run since the last fact."""
        reached = self._reached
        if reached is None:
            return
        try:
            news = reached.news(r, sys._getframe(1))
        except Exception as error:
            self._reached = None
            self.recorder.problem("seeing what code has run", error)
            return
        if news:
            self._gathered.append({"e": "ran", "i": iteration, **news})

    def _reach_end(self) -> None:
        self._reach("end", len(self.grouping.ends) + 1)

    def _defer(self, event: dict[str, Any], read: Reading | None) -> None:
        waiting: Leaves = []
        for name in _VALUES:
            if name in event:
                event[name] = copies = [list(leaf) for leaf in event[name]]
                waiting += [leaf for leaf in copies if callable(leaf[1])]

        def line(wait: bool) -> str | None:
            while waiting:
                value = waiting[-1][1](wait)
                if value is None:
                    return None
                waiting.pop()[1] = value
            keys = {} if read is None else read(wait)
            if keys is None:
                return None
            self.finish()
            whole = {**event, **keys}
            self._mask_texts([whole])
            return json_text.lines([whole])

        self.recorder.later_line(line)

    def states(self) -> dict[str, bytes]:
        """Return the states of all existing default random generators, as bytes.

        Cheap enough for each call of a module.
        """
        states = {}
        for name, read in list(self.generators.items()):
            try:
                state = read()
            except Exception as error:
                del self.generators[name]
                self.unrecorded("generator " + name, "its state could not be read: " + repr(error))
                continue
            if state:
                states[name] = state
        return states

    @guarded("finding the generator of numpy")
    def _found(self, _: Any) -> None:
        """Record the state of `numpy.random` at its import, before the script draws.

        The state of Python's generator is not recorded, because libraries draw from it, too.
        """
        state = self.generators["numpy"]()
        if state:
            self.seen("found", "numpy", call=False, g={"numpy": hashing.digest(state)})

    def rng(self) -> dict[str, str]:
        """Return the hash of the state of each default generator."""
        known, digests = self._digests, {}
        for name, state in self.states().items():
            if known.get(name, ("", b""))[1] is not state:
                known[name] = (hashing.digest(state), state)
            digests[name] = known[name][0]
        return digests

    def moved(self, before: dict[str, bytes]) -> dict[str, dict[str, str]]:
        """Return the hashes of the generators that drew since `before`; {} if none did.

        The key `g` holds the hashes before, `g2` those after.

        before  generator -> its state as bytes
        """
        now = self.states()
        if now == before:
            return {}
        names = [name for name, state in now.items() if before.get(name, state) != state]
        if not names:
            return {}
        digest = hashing.digest
        return {
            "g": {name: digest(before[name]) for name in names},
            "g2": {name: digest(now[name]) for name in names},
        }

    @staticmethod
    def hash_bytes(data: Any) -> str:
        """Return the hash of bytes, in the algorithm of this process."""
        return hashing.digest(data)

    def source(self, skip: int = 0) -> str:
        """Return `file:line` of the innermost frame of the user's code; "" where there is none.

        `skip` frames above the caller are passed over.
        """
        frame = self.frame(skip + 1)
        if frame is None:
            return ""
        return "%s:%d" % (self._names[frame.f_code.co_filename], frame.f_lineno)

    def frame(self, skip: int = 0) -> Any:
        """Return the innermost frame of the user's code; None if there is none.

        Drop the frame soon, because it keeps values alive.

        skip  frames above the caller to pass over
        """
        names = self._names
        frame: Any = sys._getframe(skip + 1)
        while frame is not None:
            file = frame.f_code.co_filename
            name = names.get(file)
            if name is None:
                name = self._name_of(file)
            if name:
                return frame
            frame = frame.f_back
        return None

    def frames(self, most: int) -> Iterator[tuple[Any, str]]:
        """Yield the running frames of the user's code and their lines, from the innermost out."""
        frame = self.frame(1)
        while frame is not None and most:
            name = self._name_of(frame.f_code.co_filename)
            if name:
                most -= 1
                yield frame, "%s:%d" % (name, frame.f_lineno)
            frame = frame.f_back

    def is_own(self, frame: Any) -> bool:
        """Return whether a frame runs the user's code."""
        return bool(self._name_of(user_files.file_of(frame)))

    def is_of_user(self, file: str) -> bool:
        """Return whether a file is the user's."""
        return bool(self._name_of(file))

    def name_of(self, file: str) -> str:
        """Return the name of a file in the trace; "" where it is not the user's."""
        return self._name_of(file)

    def library(self, frame: Any, own: str) -> str:
        """Return the package whose code called the package `own`; "" if the user's code did."""
        while frame is not None:
            package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
            if package != own:
                return "" if self.is_own(frame) else package
            frame = frame.f_back
        return ""

    def _name_of(self, file: str) -> str:
        """Return the name of a file in the trace, "" where it is not the user's."""
        name = self._names.get(file)
        if name is None:
            name = self._names[file] = self._user_file(file)
        return name

    def _user_file(self, file: str) -> str:
        return user_files.name_of(file, self._inside, self.foreign, self.recorder.masked)


def of(recorder: Any) -> Deep:
    """Return the one `Deep` of a recorder."""
    if recorder.deep is None:
        recorder.deep = Deep(recorder)
    deep: Deep = recorder.deep
    return deep


def _nothing() -> None:
    """Do nothing: there is nothing to complete."""
