"""Finds which files are the user's, their names in a trace, and the program that trains."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Callable, Iterable

INSTALLED = ("/site-packages/", "/dist-packages/")
_MADE_FROM_TEXT = "<"
_IMPORTING = "<frozen importlib"
_abspath, _join = os.path.abspath, os.path.join


def foreign_folders() -> tuple[str, ...]:
    """Return the folders that are not the user's.

    They are those of the recorder, of the commands of this environment, and of the standard
    library: where it is and where its files say they come from.
    """
    import sysconfig

    folders = [
        os.path.dirname(os.path.dirname(os.path.dirname(_abspath(__file__)))),
        os.path.dirname(_abspath(os.__file__)),
    ]
    paths = map(sysconfig.get_path, ("stdlib", "platstdlib", "scripts"))
    folders += filter(None, paths)
    return tuple(_join(folder, "") for folder in dict.fromkeys(folders))


def folder_of(recorder: Any) -> str:
    """Return the working directory of the run with a slash at the end; "" if it is not known."""
    return _join(recorder.workdir, "") if recorder.workdir else ""


def name_of(file: str, inside: str, foreign: Iterable[str], masked: Callable[[str], str]) -> str:
    """Return the name of a user's file, "" for other files.

    It is relative to the working directory (`inside`, with a slash) where the file lies in it.
    """
    if file.startswith(_MADE_FROM_TEXT):
        return ""
    path = _abspath(file)
    if any(part in path for part in INSTALLED) or path.startswith(tuple(foreign)):
        return ""
    if inside and path.startswith(inside):
        return path[len(inside) :]
    return masked(path)


def innermost_line(
    frame: FrameType | None, inside: str, foreign: Iterable[str], masked: Callable[[str], str]
) -> str:
    """Return `file:line` of the innermost frame of the user's code; "" if there is none."""
    while frame is not None:
        name = name_of(frame.f_code.co_filename, inside, foreign, masked)
        if name:
            return "%s:%d" % (name, frame.f_lineno)
        frame = frame.f_back
    return ""


def imports_a_library(
    frame: FrameType | None, inside: str, foreign: Iterable[str], masked: Callable[[str], str]
) -> bool:
    """Return whether the line of the user's code that runs now is importing a library."""
    while frame is not None and not name_of(frame.f_code.co_filename, inside, foreign, masked):
        if frame.f_code.co_filename.startswith(_IMPORTING):
            return True
        frame = frame.f_back
    return False


def file_of(frame: FrameType) -> str:
    """Return the file whose code runs in a frame.

    Code that Python makes from text, such as the `__init__` of a dataclass, has none of its own: it
    counts as that of the module whose names it sees. Where no module says its file (`python -c`),
    it is `<string>` or the like.
    """
    file = frame.f_code.co_filename
    if not file.startswith(_MADE_FROM_TEXT):
        return file
    module_file = frame.f_globals.get("__file__")
    if not isinstance(module_file, str):
        return file
    return module_file


def has_line(frame: FrameType) -> bool:
    """Return whether the line number of a frame is that of a line in a file.

    Code that was made from text, such as the `__init__` of a dataclass, counts its own lines.
    """
    return file_of(frame) == frame.f_code.co_filename


def line_of(recorder: Any, error: BaseException) -> str:
    """Return `file:line` of the innermost user's line that an exception came from; "" for none.

    Code that cannot be parsed was never run: the exception itself names its line.
    """
    from traceback import walk_tb

    inside = folder_of(recorder)
    foreign = foreign_folders()

    def named(file: str, line: object) -> str:
        name = name_of(file, inside, foreign, recorder.masked)
        return "%s:%s" % (name, line) if name else ""

    frames = walk_tb(error.__traceback__)
    lines = [named(frame.f_code.co_filename, line) for frame, line in frames]
    if isinstance(error, SyntaxError) and error.filename:
        lines.append(named(error.filename, error.lineno))
    return next(filter(None, reversed(lines)), "")


def program(recorder: Any, frame: Any) -> str:
    """Return the user's script that this process executes; "" if it is not known.

    It is the file that runs as `__main__`. If a command such as `torchrun` calls the user's code in
    its own process, it is the file of the user's first function on the way to `frame`.
    """
    inside = folder_of(recorder)
    foreign = foreign_folders()

    def name(file: str) -> str:
        return name_of(file, inside, foreign, recorder.masked)

    main = sys.modules.get("__main__")
    file = getattr(main, "__dict__", {}).get("__file__")
    if isinstance(file, str) and name(file):
        return name(file)
    script = ""
    while frame is not None:
        script = name(frame.f_code.co_filename) or script
        frame = frame.f_back
    return script
