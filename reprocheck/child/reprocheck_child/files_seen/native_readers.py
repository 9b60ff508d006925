"""Watches files that C++ or Rust code opens, moves or removes by itself.

The interpreter has no audit event for these files; they are seen when Python passes their names to
the library.

All ways of a library to open such a file lead through one function, which is wrapped. A wrapper
reads the arguments or the returned list, and does not change them.
"""

from __future__ import annotations

import os

from ..recorder import import_hook
from ..recorder.hooking import around
from . import opened_files

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable

    Names = Iterable[tuple[object, str]]
    Tell = Callable[..., Names]

WHAT = "watching what a loader opens"
_ELSEWHERE = "://"
"""In the names of what lies in the cloud."""
_CHANGES = ("change", "rename", "tree")
"""What happens to a path besides its being opened; `tree`: also to all below it."""


def install() -> None:
    """Wrap the functions of each library once the library is imported."""
    for module, function, of_arguments, tell in LOADERS:
        import_hook.when_imported(module, _installer(function, of_arguments, tell))


def _installer(function: str, of_arguments: bool, tell: Tell) -> import_hook.Callback:
    def say(*args: Any, **kwargs: Any) -> None:
        for path, mode in tell(*args, **kwargs):
            if _ELSEWHERE in os.fsdecode(path):  # type: ignore[arg-type]
                continue
            if mode in _CHANGES:
                opened_files.wrote(path, mode)
            else:
                opened_files.opened(path, mode)

    def say_found(paths: Any, *_: Any, **__: Any) -> None:
        say(paths)

    if of_arguments:
        return hooking_in(function, lambda owner, name: around(owner, name, WHAT, before=say))
    return hooking_in(function, lambda owner, name: around(owner, name, WHAT, after=say_found))


def hooking_in(function: str, put: Callable[[Any, str], object]) -> import_hook.Callback:
    """Return a callback that finds a function or method in the module that was imported.

    put  called with the owner and the name of the function, to replace it
    """
    *path, name = function.split(".")

    def wrap(module: object) -> None:
        owner: Any = module
        try:
            for part in path:
                owner = getattr(owner, part)
            put(owner, name)
        except AttributeError:
            return  # a release that opens its files by another way

    return wrap


def text_of(name: object) -> Any:
    """Return a path as text or bytes; None if it is empty, in the cloud, or not yet known.

    A tensor of a graph is not known before the graph runs.
    """
    name = _value(name)
    if not isinstance(name, (str, bytes, os.PathLike)) or _ELSEWHERE in os.fsdecode(name):
        return None
    return os.fspath(name) or None


def _value(name: Any) -> Any:
    """Return the name in a string tensor of TensorFlow, as bytes or an array of bytes.

    Any other name is returned as it is.
    """
    if hasattr(name, "numpy") and getattr(name, "dtype", None) == "string":
        return name.numpy()
    return name


def missing(folder: object) -> Iterable[str]:
    """Yield a folder and its parent folders, as far as they do not exist yet."""
    path = os.path.abspath(os.fsdecode(folder))  # type: ignore[arg-type]
    while not os.path.lexists(path):
        yield path
        path = os.path.dirname(path)


def _read(filename: object, *_: object, **__: object) -> Names:
    yield filename, "r"


def _written(_: object, filename: object, *__: object, **___: object) -> Names:
    yield filename, "w"


_ON_DISK = (None, "sec2", "stdio", "mpio")
_H5PY = {"a": "r+", "r+": "r+"}


def _h5py(
    _: object, name: object, mode: str = "r", driver: object = None, *__: object, **___: object
) -> Names:
    """Yield the file that h5py opens; none for an open file object, or a file in memory."""
    if driver in _ON_DISK and isinstance(name, (str, bytes, os.PathLike)):
        yield name, _H5PY.get(mode, mode[:1])


def _tensorflow(_: object, name: object, mode: str, *__: object, **___: object) -> Names:
    """Yield the file that TensorFlow opens, with its mode."""
    yield name, mode.replace("b", "")


def _made_with_parents(path: object, *_: object, **__: object) -> Names:
    if text_of(path):
        yield from ((folder, "change") for folder in missing(path))


def _changed(path: object, *_: object, **__: object) -> Names:
    yield path, "change"


def _removed_with_all(path: object, *_: object, **__: object) -> Names:
    yield path, "tree"


def _copied(source: object, target: object, *_: object, **__: object) -> Names:
    yield source, "r"
    yield target, "w"


def _moved(source: object, target: object, *_: object, **__: object) -> Names:
    yield source, "rename"
    yield target, "rename"


def _saved_dataset(_: object, path: object, *__: object, **___: object) -> Names:
    """Yield the folder of a dataset that is saved, in which each save makes a new folder."""
    name = text_of(path)
    if name:
        yield from _with_folders(name, "tree")


def _snapshot(_: object, path: object, *__: object, **___: object) -> Names:
    """Yield the files of an earlier run below a snapshot's folder, which replace the dataset."""
    yield from _saved_dataset(None, path)
    folder = os.fsdecode(text_of(path) or b"")
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            yield os.path.join(folder, name, "snapshot.metadata"), "r"


def _filled(filename: object, *_: object, **__: object) -> Names:
    name = text_of(filename)
    if name:
        yield from _with_folders(name, "w")


def _with_folders(name: Any, how: str) -> Names:
    """Yield a path, and those parent folders that will be made for the path.

    how  how the path changes, such as `w`
    """
    yield from _made_with_parents(os.path.dirname(os.path.abspath(os.fsdecode(name))))
    yield name, how


def _checkpoint(prefix: object) -> Names:
    """Yield the files of a TensorFlow checkpoint: its index, and the files with its values."""
    from glob import escape, glob  # here alone: it is no module that each process would import

    name = os.fsdecode(prefix)  # type: ignore[arg-type]
    yield name + ".index", "r"
    for path in sorted(glob(escape(name) + ".data-*")):
        yield path, "r"


def _saved_checkpoint(_: object, file_prefix: object, *__: object, **___: object) -> Names:
    """Yield the index file of a TensorFlow checkpoint that is about to be written."""
    name = text_of(file_prefix)
    if name:
        yield os.fsdecode(name) + ".index", "w"


def _records(filenames: Any, *_: object, **__: object) -> Names:
    """Yield each file name of one or several; none for a tensor without a value yet."""
    filenames = _value(filenames)
    if hasattr(filenames, "ravel"):  # of a tensor with several names
        filenames = filenames.ravel().tolist()
    if not isinstance(filenames, (list, tuple)):
        filenames = (filenames,)
    for path in filenames:
        if isinstance(path, (str, bytes, os.PathLike)):
            yield path, "r"


def _listed(names: object) -> Names:
    """Yield a name, or the names in a list."""
    yield from _records(names)


_FILE_IO = "tensorflow.python.lib.io._pywrap_file_io"

LOADERS: tuple[tuple[str, str, bool, Tell], ...] = (
    ("safetensors._safetensors_rust", "safe_open", True, _read),
    ("safetensors._safetensors_rust", "serialize_file", True, _written),
    ("h5py._hl.files", "File.__init__", True, _h5py),
    ("tensorflow.python.lib.io.file_io", "FileIO.__init__", True, _tensorflow),
    (_FILE_IO, "CreateDir", True, _changed),
    (_FILE_IO, "RecursivelyCreateDir", True, _made_with_parents),
    (_FILE_IO, "CopyFile", True, _copied),
    (_FILE_IO, "RenameFile", True, _moved),
    (_FILE_IO, "DeleteFile", True, _changed),
    (_FILE_IO, "DeleteRecursively", True, _removed_with_all),
    ("tensorflow.python.lib.io.tf_record", "TFRecordWriter.__init__", True, _written),
    ("tensorflow.python.ops.gen_io_ops", "write_file", True, _filled),
    ("tensorflow.python.checkpoint.checkpoint", "TrackableSaver.save", True, _saved_checkpoint),
    ("tensorflow.python.data.ops.save_op", "_save", True, _saved_dataset),
    ("tensorflow.python.data.ops.snapshot_op", "_snapshot", True, _snapshot),
    ("tensorflow.python.training.py_checkpoint_reader", "NewCheckpointReader", True, _checkpoint),
    ("tensorflow.python.data.ops.readers", "_create_or_validate_filenames_dataset", True, _records),
    ("mindspore.dataset.engine.datasets", "SourceDataset._find_files", False, _listed),
    (
        "mindspore.dataset.engine.datasets_standard_format",
        "MindDataset._normalize_dataset_files",
        False,
        _listed,
    ),
)
"""The module after whose import it is wrapped, the function, whether its arguments name the files
(else what it returns), and which.
"""
