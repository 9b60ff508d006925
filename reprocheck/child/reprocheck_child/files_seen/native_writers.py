"""Watches files that C++ code writes under names of which Python passes only the beginning.

Such a beginning is the prefix of a checkpoint, or the folder of a log. The matching files are
compared before and after the call that writes, or at the end of the process if the files are
written later. New and changed files were written.
"""

from __future__ import annotations

import os

from ..recorder import import_hook
from ..recorder.hooking import guarded, replace
from . import native_readers, opened_files

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable

    Begins = Callable[..., Any]
    Stood = dict[str, tuple[int, int, int]]


def install(recorder: Any) -> None:
    """Wrap the functions of each library once the library is imported."""
    for module, function, begins, later in SAVERS:
        import_hook.when_imported(module, _installer(recorder, function, begins, later))


def _installer(recorder: Any, function: str, begins: Begins, later: bool) -> import_hook.Callback:
    def make(real: Any) -> Any:
        return _looking(recorder, real, begins, later)

    return native_readers.hooking_in(function, lambda owner, name: replace(owner, name, make))


def _looking(recorder: Any, real: Any, begins: Begins, later: bool) -> Any:
    @guarded("watching what a saver writes")
    def look(*args: Any, **kwargs: Any) -> Family | None:
        named = begins(*args, **kwargs)
        if not named:
            return None
        return Family(recorder, named)

    def saving(*args: Any, **kwargs: Any) -> Any:
        family = look(*args, **kwargs)
        if family is None:
            return real(*args, **kwargs)
        if later:
            family.read()
            recorder.on_end.append(family.tell)
            return real(*args, **kwargs)
        try:
            return real(*args, **kwargs)
        finally:
            family.tell()

    return saving


class Family:
    """Hold the state of all files in one folder whose names begin alike."""

    def __init__(self, recorder: Any, begins: Any) -> None:
        self._recorder = recorder
        self._folder, self._start = os.path.split(os.path.abspath(os.fsdecode(begins)))
        for folder in native_readers.missing(self._folder):
            opened_files.wrote(folder, "change")
        self._before = self._stand()

    def read(self) -> None:
        """Record that all these files are read."""
        for path in self._before:
            opened_files.opened(path, "r")

    @guarded("looking at what a saver wrote")
    def tell(self) -> None:
        """Record which files were written since this object was made. Never raises."""
        for path, state in self._stand().items():
            if self._before.get(path) != state:
                opened_files.wrote(path, new=path not in self._before)

    def _stand(self) -> Stood:
        if not os.path.isdir(self._folder):
            return {}
        stamps = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.startswith(self._start) and entry.is_file():
                    state = entry.stat()
                    stamps[entry.path] = (state.st_ino, state.st_mtime_ns, state.st_size)
        return stamps


def _checkpoint(_: object, file_prefix: object, *__: object, **___: object) -> object:
    return native_readers.text_of(file_prefix)


def _old_checkpoint(_: object, __: object, save_path: object, *___: object, **____: object) -> Any:
    return native_readers.text_of(save_path)


def _event_log(_: object, logdir: object, *__: object, **___: object) -> object:
    folder = native_readers.text_of(logdir)
    if not folder:
        return None
    return os.path.join(os.fsdecode(folder), "events.out.tfevents.")


def _cache(_: object, __: object, filename: object, *___: object, **____: object) -> object:
    """Return the beginning of the names of a dataset's cache files; None for a cache in memory."""
    return native_readers.text_of(filename)


SAVERS: tuple[tuple[str, str, Begins, bool], ...] = (
    ("tensorflow.python.checkpoint.checkpoint", "TrackableSaver.save", _checkpoint, False),
    ("tensorflow.python.training.saver", "Saver.save", _old_checkpoint, False),
    ("tensorflow.python.ops.gen_summary_ops", "create_summary_file_writer", _event_log, False),
    ("tensorflow.python.data.ops.cache_op", "CacheDataset.__init__", _cache, True),
)
"""The module after whose import it is wrapped, the function, what its files' names begin with, and
whether it writes later."""
