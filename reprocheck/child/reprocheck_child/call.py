"""Calls a function in a process of its own, once for each run of `reprocheck.check(function)`.

Started as `python -m reprocheck_child.call FILE NAME CALL`. FILE and NAME say to a reader what is
called; CALL is a file with all that is needed (`launch/entry/function.py` writes it). As with
multiprocessing's spawn, `sys.path` and `sys.argv` are those of the process that asked, and its main
script is imported under the name `__mp_main__`, so that what stands below `if __name__ ==
"__main__"` does not run again. What keeps the function from being called is written to `REFUSED` in
the trace folder, for that process to raise.
"""

from __future__ import annotations

import os
import sys

from .recorder import json_text
from .shared.function_calls import GUARD, HOME, INSIDE, REFUSED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

MAIN = "__mp_main__"
_IMPORTABLE = (
    "See that it can be imported from the working directory in a fresh interpreter, without the"
    " process that calls check."
)
_PICKLE_MAIN = b"__main__"


def main() -> None:
    """Call the function that the command line names."""
    with open(sys.argv[3], encoding="utf-8") as file:
        call = json_text.loads(with_home(file.read()))
    sys.argv[:] = call["argv"]
    sys.path[:] = paths(call["path"], sys.path, whole=call["whole"])
    try:
        function, args, kwargs = prepared(call)
    except (Exception, SystemExit) as error:
        refuse(call, error)
        raise
    function(*args, **kwargs)


def with_home(text: str) -> str:
    """Return the text of CALL as it was before the home folder in it was masked."""
    return text.replace(HOME, json_text.dumps(os.path.expanduser("~"))[1:-1])


def paths(wanted: list[str], own: list[str], *, whole: bool) -> list[str]:
    """Return `sys.path` for the call: that of the process that asked for the call.

    The recorder's folder comes second, as in every run.

    whole  whether the interpreter is that of the asking process; if not, the own entries of this
           interpreter follow
    """
    recorder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    entries = [
        entry if os.path.isabs(entry) else os.path.normpath(os.path.join(os.getcwd(), entry))
        for entry in wanted
    ]
    entries[1:1] = [recorder]
    if not whole:
        entries += own[1:]  # the first one was put there by -m
    return list(dict.fromkeys(entries))


def prepared(
    call: Mapping[str, Any],
) -> tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]:
    """Return the function and its arguments, once everything that they need is imported."""
    from base64 import b64decode
    from pickle import loads

    pickled = b64decode(call["pickled"])
    if _PICKLE_MAIN in pickled and (call["main_name"] or call["main_file"]):
        import_main(call["main_name"], call["main_file"])
    load_module(call["module"], call["file"])
    function_and_arguments: tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]] = loads(
        pickled
    )
    return function_and_arguments


def import_main(name: str, file: str) -> None:
    """Import the main script of the process that asked, as module `__main__`.

    It is imported by the name of its module where it was started with -m.
    """
    import runpy
    from types import ModuleType

    module = ModuleType(MAIN)
    content = (
        runpy.run_module(name, run_name=MAIN, alter_sys=True)
        if name
        else runpy.run_path(os.path.abspath(file), run_name=MAIN)
    )
    module.__dict__.update(content)
    sys.modules["__main__"] = sys.modules[MAIN] = module


def load_module(name: str, file: str) -> None:
    """Import a module by its name, or from its file if the name cannot be imported.

    Test files need the latter if pytest does not change `sys.path`.
    """
    from importlib import import_module, util
    from types import ModuleType

    if not name or name in sys.modules:
        return
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if not file or not (name == missing or name.startswith(missing + ".")):
            raise
        spec = util.spec_from_file_location(name, os.path.abspath(file))
        if spec is None or spec.loader is None:
            raise
        module = util.module_from_spec(spec)
        parent = name.rpartition(".")[0]
        while parent:
            sys.modules.setdefault(parent, ModuleType(parent))
            parent = parent.rpartition(".")[0]
        sys.modules[name] = module
        spec.loader.exec_module(module)


class CalledInsideError(Exception):
    """A script called `reprocheck.check` inside a run."""

    message, fix = INSIDE, GUARD


def check(*args: Any, **options: Any) -> None:
    """Raise CalledInsideError: this stands in for `reprocheck.check` inside a run."""
    raise CalledInsideError(INSIDE + " " + GUARD)


def refuse(call: Mapping[str, Any], error: BaseException) -> None:
    """Write the reason why the function was not called to a file, for the asking process."""
    message, fix = getattr(error, "message", None), getattr(error, "fix", None)
    if not isinstance(message, str) or not isinstance(fix, str):
        reason = (type(error).__name__ + ": " + str(error)).rstrip(": ")
        message, fix = (
            "%s cannot be imported in a fresh process: %s." % (call["name"], reason.rstrip(".")),
            _IMPORTABLE,
        )
    with open(os.path.join(os.environ["REPROCHECK_CHILD"], REFUSED), "w", encoding="utf-8") as file:
        file.write(json_text.dumps({"message": message, "fix": fix}))


if __name__ == "__main__":
    main()
