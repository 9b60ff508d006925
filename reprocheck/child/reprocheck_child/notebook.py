"""Runs the code cells of a notebook in their order, in one process and without Jupyter.

Started as `python -m reprocheck_child.notebook CELLS NOTEBOOK [ARGS]...`, where CELLS is the file
that `launch/entry/notebook.py` writes. The working directory is the notebook's folder and stands
first on `sys.path`, `__main__` has no file: as in Jupyter. A cell is compiled under the name
`NOTEBOOK:cell N`, so that tracebacks and places in the report name it.
"""

from __future__ import annotations

import os
import sys

from .recorder import current_recorder, json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType, TracebackType
    from typing import Any, Mapping

ORDER = (
    "The code cells of the notebook ran once each, in their order, in one process without Jupyter;"
    " nothing is drawn."
)
AWAIT, COROUTINE = 0x2000, 0x80
"""`ast.PyCF_ALLOW_TOP_LEVEL_AWAIT`, `inspect.CO_COROUTINE`."""
NO_IPYTHON = (
    "A notebook needs IPython, which cannot be imported here (%s): %s -m pip install ipython"
)


class Program:
    """Run a notebook.

    place  path of the notebook
    names  variables that its cells share
    """

    def __init__(self, place: str, names: dict[str, Any]) -> None:
        self.place = place
        self.names = names
        self.file = place
        self.first = 0

    def run(self, cell: Mapping[str, Any]) -> None:
        """Run a cell."""
        self.file = "%s:cell %d" % (self.place, cell["number"])
        self.first = cell["first"]
        remember(self.file, cell["source"])
        self.execute(cell["code"], self.first)

    def execute(self, code: str, skipped: int) -> None:
        """Run code of the current cell that begins after so many lines of the cell."""
        compiled = compile("\n" * skipped + code, self.file, "exec", flags=AWAIT, dont_inherit=True)
        if compiled.co_flags & COROUTINE:
            import asyncio

            asyncio.run(eval(compiled, self.names))
        else:
            exec(compiled, self.names)

    def evaluate(self, code: str) -> object:
        """Run one statement that was given to a magic; return the value of an expression."""
        try:
            compiled = compile(code, self.file, "eval", dont_inherit=True)
        except SyntaxError:
            self.execute(code, self.first)
            return None
        return eval(compiled, self.names)


def remember(file: str, source: str) -> None:
    """Let tracebacks and `inspect` see the source of a cell."""
    import linecache

    linecache.cache[file] = (len(source), None, [line + "\n" for line in source.split("\n")], file)


def main() -> None:
    """Run the notebook that the command line names."""
    from types import ModuleType

    file, notebook, *arguments = sys.argv[1:]
    with open(file, encoding="utf-8") as stream:
        cells = json_text.loads(stream.read())
    place = os.path.abspath(notebook)
    if sys.path[0] in ("", os.getcwd()):  # -m put it there
        del sys.path[0]
    os.chdir(os.path.dirname(place))
    sys.argv[:] = [notebook, *arguments]
    sys.path.insert(0, "")
    os.environ.setdefault("MPLBACKEND", "agg")
    module = sys.modules["__main__"] = ModuleType("__main__")
    program = Program(place, module.__dict__)
    give_shell(program, module)
    note("notebook", ORDER)
    sys.excepthook = show
    for cell in cells:
        try:
            program.run(cell)
        except Exception as error:
            if not cell["may_fail"]:
                raise
            show(type(error), error, error.__traceback__)


def give_shell(program: Program, module: ModuleType) -> None:
    """Give the notebook the `get_ipython()` and `display` of IPython."""
    program.names["__builtins__"] = __builtins__
    try:
        from . import ipython_shell
    except Exception as error:
        sys.exit(NO_IPYTHON % (error, sys.executable))
    ipython_shell.start(program, note, module)


def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback that begins in a cell, with the source of the cells.

    The interpreter itself would look for the source in files.
    """
    import traceback

    folder = os.path.dirname(__file__)
    own = (__file__, os.path.join(folder, "ipython_shell.py"))
    while (
        trace is not None
        and trace.tb_next is not None
        and (_file(trace) in own or _file(trace).startswith("<frozen"))
    ):
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def _file(trace: TracebackType) -> str:
    return trace.tb_frame.f_code.co_filename


def note(code: str, text: str) -> None:
    """List a change in the report under *changed to observe*."""
    if current_recorder.RECORDER is not None:
        current_recorder.RECORDER.note(code, text)


if __name__ == "__main__":
    main()
