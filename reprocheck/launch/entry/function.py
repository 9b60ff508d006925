"""Take a function as an entry point.

What a fresh process needs to call it, and the mistakes that can be seen before one is started.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import pickle
import site
import sys
import sysconfig
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from reprocheck.child.reprocheck_child.shared.function_calls import HOME, REFUSED
from reprocheck.errors import EntryPointError
from reprocheck.launch.entry.entry_point import CALL, safe_name
from reprocheck.model import EntryPoint

NAME = "call.json"
"""In the report folder: what was called."""
PROTOCOL = 4
"""Of pickle: the newest that Python 3.9 to 3.13 have as their default."""
_RUN_LATER: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (inspect.isgeneratorfunction, "a generator function"),
    (inspect.iscoroutinefunction, "asynchronous"),
    (inspect.isasyncgenfunction, "asynchronous"),
)
"""Functions of which a call makes an object that runs later."""
_MODULE = (
    "Put the function into a module that can be imported, at its top level, and check it from"
    " there."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FunctionCall:
    """A function call that a fresh process can make.

    `file`: the file that defines the function, "" if unknown; `pickled`: the function and its
    arguments.
    """

    name: str
    module: str
    file: str
    pickled: bytes

    @property
    def folder_name(self) -> str:
        """Return the name to use for the report folder."""
        return safe_name(self.name)

    def entry(self, folder: Path, python: str, cwd: Path) -> EntryPoint:
        """Return the entry point that makes the call, described by a file in the report folder.

        `python`: the interpreter's path.
        """
        shown = _from(cwd, self.file) or self.module
        whole = python == sys.executable
        # the module that a fresh process does not import by its name
        main = sys.modules["__main__"]
        spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
        facts = {
            "name": f"{self.name} ({shown})",
            "module": {"__main__": ""}.get(self.module, self.module),
            "file": _from(cwd, self.file),
            "main_name": "" if spec is None else spec.name,
            "main_file": _from(cwd, _absolute(file)) if file else "",
            "argv": sys.argv,
            "whole": whole,
            "path": _search_path(cwd, whole=whole),
            "pickled": b64encode(self.pickled).decode("ascii"),
        }
        path = folder / NAME
        text = json.dumps(facts, indent=1)
        home = json.dumps(str(Path("~").expanduser()))[1:-1]
        if len(home) > 1:  # else `/`: every path would begin there
            text = text.replace(home, HOME)
        path.write_text(text + "\n", encoding="utf-8")
        return EntryPoint(
            command=(python, "-m", CALL, shown, self.name, _from(cwd, str(path))),
            kind="module",
            name=self.folder_name,
        )


def function_call(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object]
) -> FunctionCall:
    """Return the call `function(*args, **kwargs)`.

    Raises EntryPointError if a fresh process could not make the call.
    """
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    owner = inner
    if not hasattr(inner, "__qualname__"):  # an object that can be called
        owner = type(inner)
    name = str(owner.__qualname__)
    module = str(getattr(inner, "__module__", None) or owner.__module__)
    _refuse(inner, name, module)
    return FunctionCall(
        name=name,
        module=module,
        file=_file(inner, module),
        pickled=_pickled(function, args, kwargs, name),
    )


def refusal(trace: Path) -> EntryPointError | None:
    """Return why a run did not call the function; None if it did."""
    try:
        message = json.loads((trace / REFUSED).read_text(encoding="utf-8"))
        return EntryPointError(
            str(message["message"]),
            f"{message['fix']} The log of the run is {trace.parent / 'stderr.log'}.",
        )
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _refuse(inner: Any, name: str, module: str) -> None:
    """Raise EntryPointError for an object that cannot be imported by name, or called."""
    if "<lambda>" in name:
        raise EntryPointError(
            "A lambda has no name by which a fresh process could import it.", _MODULE
        )
    if "<locals>" in name:
        raise EntryPointError(
            f"{name.rpartition('.')[2]} is defined inside {name.partition('.')[0]}, so a fresh"
            " process cannot import it.",
            _MODULE,
        )
    for is_one, kind in _RUN_LATER:
        if is_one(inner):
            raise EntryPointError(
                f"{name} is {kind}: a call alone does not run it.",
                "Check a function that runs it to its end.",
            )
    if module != "__main__":
        return
    code = _code(inner)
    typed = code is not None and not Path(code.co_filename).is_file()
    main = sys.modules["__main__"]
    from_a_file = getattr(main, "__file__", None) or getattr(main, "__spec__", None)
    if typed or not from_a_file:
        raise EntryPointError(
            f"{name} is defined in a notebook or an interactive session, which a fresh process"
            " cannot import.",
            "Write it to a file (in a notebook `%%writefile train.py`), import it from there, and"
            " check that; or check the whole notebook with `reprocheck run NOTEBOOK.ipynb`.",
        )


def _pickled(
    function: Callable[..., object], args: Sequence[object], kwargs: Mapping[str, object], name: str
) -> bytes:
    try:
        pickle.dumps(function, PROTOCOL)
    except Exception as error:
        raise EntryPointError(
            f"{name} cannot be given to a fresh process: {error}.", _MODULE
        ) from None
    try:
        return pickle.dumps((function, tuple(args), dict(kwargs)), PROTOCOL)
    except Exception as error:
        fix = (
            "Give numbers, text, paths, arrays and the like, which `pickle` takes, and let the"
            " function build the rest."
        )
        raise EntryPointError(
            f"An argument of {name} cannot be given to a fresh process: {error}.", fix
        ) from None


def _file(inner: Any, module: str) -> str:
    file = getattr(sys.modules.get(module), "__file__", None)
    code = _code(inner)
    if not file and code is not None:
        file = code.co_filename
    if not file or not file.endswith(".py"):
        return ""
    return _absolute(file)


def _code(inner: Any) -> CodeType | None:
    """Return the code object of a function; None if it is not written in Python, or no function."""
    code: CodeType | None = getattr(inspect.unwrap(inner), "__code__", None)
    return code


def _search_path(cwd: Path, *, whole: bool) -> list[str]:
    """Return `sys.path` of this process, entries in the working directory relative to it.

    Without `whole`, the interpreter's own entries are left out.
    """
    own = {*site.getsitepackages(), site.getusersitepackages(), *sysconfig.get_paths().values()}
    ours = str(Path(__file__).resolve().parents[3])
    entries = []
    for entry in sys.path:
        path = _absolute(entry)
        installed = entry.endswith(".zip") or any(
            entry == folder or entry.startswith(folder + os.sep) for folder in own
        )
        if not whole and (installed or path == ours):
            continue
        if not installed:
            path = _from(cwd, path)
        entries.append(path)
    return entries


def _absolute(path: str) -> str:
    return os.path.normpath(Path(path).absolute())


def _from(cwd: Path, path: str) -> str:
    """Return a path in the working directory relative to it, so that a copy has it, too."""
    if not path:
        return ""
    for place in (path, os.path.realpath(path)):
        if Path(place).is_relative_to(cwd):
            return os.path.relpath(place, cwd)
    return path
