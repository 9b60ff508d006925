"""Holds what all controls of a process share.

These are the controls that are on, whose code calls, fixed streams of numbers, and the count of
what was intercepted.
"""

from __future__ import annotations

import os
import sys
from itertools import count

from ..process import user_files
from ..recorder.hooking import guarded
from . import seeded_draws
from .entropy import stream

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from types import CodeType, FrameType
    from typing import Any, Mapping

RANKS = ("RANK", "RANK_ID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")
"""Variables in which launchers tell a process its rank."""
FACTORIES = ("types", "pydantic.main", "transformers.hf_argparser")
"""Modules that call the `default_factory` of a field for whoever describes or makes an object of
the class. `types` is what Python 3.11 and older name as the module of a class of
`dataclasses.make_dataclass`.
"""
SEEDERS = (
    "random",
    "secrets",
    "uuid",
    "tempfile",
    "numpy",
    "reprocheck_child.controls",
    *FACTORIES,
)
"""Modules that draw entropy for whoever calls them."""
CONFIGURATION = (
    "omegaconf",
    "antlr4",
    "hydra.core.utils",
    "hydra.utils",
    "hydra._internal.instantiate",
    *FACTORIES,
)
"""Modules that read a value when the user's code asks for it: `${now:%f}` in a configuration. What
else Hydra reads, for the name of its folder, is its own.
"""
IMPORTERS = (
    "importlib",
    "_frozen_importlib",
    "_frozen_importlib_external",
    "pkgutil",
    "site",
    "reprocheck_child",
)
"""Modules that list folders to find modules and packages."""
FILLS = {"fill-memory": "memory"}
"""Control -> the variation that does the same in one of the two runs."""
SEED_LIMIT = 1 << 32
"""Seeds are below it: numpy takes no larger ones."""
_MOST = 2000
_FIRST = 16
"""Times that a touch is written with its line: the first one may be a library's, as it is
imported.
"""
_TEXT = 300
_AS_IT_IS = (type(None), bool, int)
_MAIN = "MainProcess"
_INLINE = ("<string>", "<stdin>")
_join, _environ = os.path.join, os.environ


class Active:
    """The controls that are on in this process.

    names     of the controls           seed      the number that fixed seeds are derived from
    varied    names of the variations
    point     the number from which variations take their values; 0 stands for the first values
    fill      which of eight patterns memory is filled with
    override  whether a value of the user's that contradicts a control is replaced; otherwise it
              stands
    spared    control, `@` and a place where it is not to act, each: a `file:line`, or the generator
              of a library
    In all methods `skip` counts frames above the caller: 1, the default, is the code that called
    the function that calls the method.
    """

    def __init__(self, recorder: Any, settings: Mapping[str, Any]) -> None:
        self.recorder = recorder
        self.names = frozenset(settings.get("controls") or ())
        self.varied = frozenset(settings.get("varied") or ())
        self.seed = int(settings.get("seed") or 0)
        self.point = int(settings.get("point") or 0)
        self.fill = (self.seed + self.point) % 8
        self.override = bool(settings.get("override"))
        self._spared = frozenset(settings.get("spared") or ())
        self.settings = settings
        self._forks: tuple[int, ...] = ()
        self._forked = 0
        self._counts: dict[tuple[str, str], Any] = {}
        self._touches: dict[tuple[str, str], list[int]] = {}  # [times, times written]
        self._said: set[tuple[Any, ...]] = set()
        self._starter = _starter()
        self._inside = _join(recorder.workdir, "") if recorder.workdir else ""
        self._foreign = user_files.foreign_folders()
        # file of a code object -> its name in the trace, "" where it is not the user's
        self._files: dict[str, str] = {}
        recorder.on_end.append(self.account)
        os.register_at_fork(before=self._forking, after_in_child=self._in_child)

    def on(self, name: str) -> bool:
        """Return whether the code of a control or of a variation is to act."""
        return name in self.names or name in self.varied or FILLS.get(name) in self.varied

    def varies(self, name: str) -> bool:
        """Return whether a variation is on, and no control of that name."""
        return name in self.varied and name not in self.names

    def spares(self, control: str, place: str = "", skip: int = 1) -> bool:
        """Return whether a control is not to act at a place.

        Without a place, it is the user's line that is running.
        """
        if not self._spared:
            return False
        return "%s@%s" % (control, place or self.line(skip + 1)) in self._spared

    def number(self, control: str, what: str) -> int:
        """Return the next number of a reproducible stream of 64-bit numbers.

        The stream is the same from run to run, and differs between ranks, workers, controls and
        values of `what`.
        """
        return int.from_bytes(self.bytes(control, what, 8), "little")

    def bytes(self, control: str, what: str, size: int) -> bytes:
        """Return the next `size` bytes of the reproducible stream of a control and `what`."""
        counter = self._counts.get((control, what))
        if counter is None:
            counter = self._counts.setdefault((control, what), count())
        return stream(
            repr((self.seed, self.identity(), control, what, next(counter))).encode(), size
        )

    def constant(self, control: str, what: str) -> int:
        """Return a 64-bit number for a control and `what` that is the same at each call."""
        return int.from_bytes(
            stream(repr((self.seed, self.identity(), control, what)).encode(), 8), "little"
        )

    def identity(self) -> tuple[Any, ...]:
        """Return which process of the run this is, such as its rank, the same in every run.

        It is () for a process that is alone.
        """
        identity: tuple[Any, ...] = ()
        rank = self.rank()
        if rank:
            identity += ("rank", rank)
        if self._forks:
            return (*identity, self._starter or "fork", *self._forks)
        # not imported here: a process that it started has it, and knows its name
        processes: Any = sys.modules.get("multiprocessing.process")
        name = _MAIN
        if hasattr(processes, "current_process"):
            name = processes.current_process().name
        if name == _MAIN:
            return identity
        return (*identity, "process", name)

    def rank(self) -> int:
        """Return the rank of this process as its launcher says; 0 if there is no launcher."""
        known = self.recorder.world[0]
        if known is not None:
            return int(known)
        return next((int(_environ[name]) for name in RANKS if _environ.get(name, "").isdigit()), 0)

    def process_seed(self) -> int:
        """Return the seed of the default generators in this process.

        It is `seed` in a process that is alone, `seed` + rank in a rank, and another number in each
        worker.
        """
        own = self.identity()
        if not own or (len(own) == 2 and own[0] == "rank"):
            return (self.seed + self.rank()) % SEED_LIMIT
        return int.from_bytes(stream(repr((self.seed, own, "seed")).encode(), 4), "little")

    def users_module(self, skip: int = 1) -> bool:
        """Return whether the calling frame belongs to the user's own modules."""
        frame = _caller(skip)
        return frame is not None and bool(self._users(frame))

    def asked_by_user(self, skip: int = 1, through: tuple[str, ...] = SEEDERS) -> bool:
        """Return whether the user's modules call, directly or through the modules `through`."""
        frame = _caller(skip)
        while frame is not None and _within(str(frame.f_globals.get("__name__")), through):
            frame = frame.f_back
        return frame is not None and bool(self._users(frame))

    def read_by_user(self, skip: int = 1) -> bool:
        """Return whether the user's modules call, directly or through a lazy configuration.

        A lazy configuration computes a value when the script asks for it.
        """
        return self.asked_by_user(skip + 1, CONFIGURATION)

    def line(self, skip: int = 1) -> str:
        """Return `file:line` of the innermost frame of the user's code; "" if there is none."""
        return self._line(_above(skip))[0]

    def line_at(self, frame: FrameType) -> str:
        """Return `file:line` of a frame; "" if it is not the user's, or has no line in a file."""
        name = self._users(frame)
        return "%s:%d" % (name, frame.f_lineno) if name and user_files.has_line(frame) else ""

    def line_of_code(self, code: CodeType) -> str:
        """Return `file:line` where a function of the user's is defined; "" for other code."""
        name = user_files.name_of(
            code.co_filename, self._inside, self._foreign, self.recorder.masked
        )
        return "%s:%d" % (name, code.co_firstlineno) if name else ""

    def _line(self, frame: FrameType | None) -> tuple[str, str]:
        """Return (`file:line` of the user, how the library could take a seed) from a frame on.

        See `seed_arguments`.
        """
        library: list[FrameType] = []
        while frame is not None:
            name = self._users(frame)
            if name and user_files.has_line(frame):
                return "%s:%d" % (name, frame.f_lineno), seeded_draws.left_out(library)
            if not name:
                library.append(frame)
            frame = frame.f_back
        return "", ""

    def for_imports(self, skip: int = 1) -> bool:
        """Return whether the caller is the import system or the recorder, and not the script."""
        frame = _above(skip)
        while frame is not None and not self._users(frame):
            if _within(str(frame.f_globals.get("__name__")), IMPORTERS):
                return True
            frame = frame.f_back
        return False

    def _users(self, frame: FrameType) -> str:
        """Return the name of the user's file whose code runs in a frame; "" for other code."""
        file = user_files.file_of(frame)
        name = self._files.get(file)
        if name is None:
            name = self._files[file] = user_files.name_of(
                file, self._inside, self._foreign, self.recorder.masked
            )
        if name or file not in _INLINE or self._starter:
            return name
        # `python -c` and standard input
        if frame.f_globals.get("__name__") == "__main__":
            return file
        return ""

    def touched(
        self,
        control: str,
        what: str,
        value: object = None,
        skip: int = 1,
        setting: bool = False,
        draws: bool = False,
    ) -> None:
        """Note that a control intercepted or set something.

        Cheap enough for each call.

        `what` is a call, a variable or an attribute. `setting`: it was set, and another call says
        whether that changed anything. `draws`: what the control acted on draws random numbers.
        """
        if FILLS.get(control) in self.varied:
            control = FILLS[control]
        times = self._touches.get((control, what))
        if times is None:
            if len(self._touches) >= _MOST:
                return
            times = self._touches[(control, what)] = [0, 0]
        number = times[0] = times[0] + 1
        # a process that is killed has told at least half
        if number > _FIRST and number & (number - 1):
            return
        times[1] = number
        event = {"e": "control", "c": control, "w": what, "n": number}
        if number > _FIRST:
            self.recorder.emit(event)
            return
        if number > 1:
            value, setting = None, False
        if setting:
            event["set"] = True
        if draws:
            event["d"] = True
        self._emit(event, {"v": value}, skip + 1)

    def overridden(self, control: str, what: str, old: object, new: object, skip: int = 1) -> None:
        """Write, once for each place, that a control replaced a value of the user's."""
        if self._first("override", control, what, repr(old), repr(new)):
            self._emit(
                {"e": "override", "c": control, "w": what}, {"old": old, "new": new}, skip + 1
            )

    def conflict(
        self, control: str, what: str, value: object, wanted: object, skip: int = 1
    ) -> None:
        """Write, once each, that a user's value is kept although it contradicts a control."""
        if self._first("conflict", control, what, repr(value)):
            self._emit(
                {"e": "conflict", "c": control, "w": what}, {"v": value, "wanted": wanted}, skip + 1
            )

    def unavailable(self, control: str, why: str) -> None:
        """Write, once for each reason, that a control cannot act here."""
        if self._first("unavailable", control, why):
            self.recorder.emit(
                {"e": "unavailable", "c": control, "why": self.recorder.redacted(why)[:_TEXT]}
            )

    def trying(self, control: str, where: str) -> guarded:
        """Return a context in which an error means that the control cannot act.

        The error is recorded and not raised.
        """

        def tell(where: str, error: Exception) -> None:
            self.unavailable(control, "%s: %r" % (where, error))

        return guarded(where, tell=tell)

    def account(self) -> None:
        """Write how often each call or value was intercepted, as the process ends."""
        for (control, what), times in list(self._touches.items()):
            if times[0] != times[1]:
                times[1] = times[0]
                self.recorder.emit({"e": "control", "c": control, "w": what, "n": times[0]})

    def _first(self, *key: object) -> bool:
        if key in self._said or len(self._said) >= _MOST:
            return False
        self._said.add(key)
        return True

    def _emit(self, event: dict[str, Any], values: dict[str, object], skip: int) -> None:
        try:
            event.update(
                (name, self._plain(value))
                for name, value in values.items()
                if value is not None or name != "v"
            )
            line, seed_argument = self._line(_above(skip))
            if line:
                event["l"] = line
            if seed_argument:
                event["s"] = seed_argument
            self.recorder.emit(event)
        except Exception as error:
            self.recorder.problem("the account of a control", error)

    def _plain(self, value: object) -> object:
        if type(value) in _AS_IT_IS:
            return value
        if type(value) is float and value - value == 0.0:
            return value  # JSON has no number for the others
        text = value if type(value) is str else repr(value)
        return self.recorder.plain(text[:_TEXT])

    def _forking(self) -> None:
        self._forked += 1

    def _in_child(self) -> None:
        self._forks, self._forked = (*self._forks, self._forked), 0
        self._touches.clear()
        self._said.clear()


def _starter() -> str:
    """Return `spawn` or `forkserver` if multiprocessing started this process that way, else ""."""
    code = " ".join(getattr(sys, "orig_argv", sys.argv)[:20])
    return next(
        (
            name
            for name in ("spawn", "forkserver")
            if "from multiprocessing.%s import" % name in code
        ),
        "",
    )


_OWN = __name__.rpartition(".")[0] + "."


def _caller(skip: int) -> FrameType | None:
    """Return the frame as `_above` does, without those of controls.

    Where two controls wrap one function, the outer one calls the inner one.
    """
    frame = _above(skip + 1)
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(_OWN):
        frame = frame.f_back
    return frame


def _above(skip: int) -> FrameType | None:
    """Return the frame `skip` above the caller of the method that asks.

    It is None if the stack is not so deep, as in a call from native code.
    """
    try:
        return sys._getframe(skip + 2)
    except ValueError:
        return None


def _within(name: str, modules: tuple[str, ...]) -> bool:
    return any(name == module or name.startswith(module + ".") for module in modules)
