"""IPython's own shell for the cells of a notebook, where the interpreter that runs them has it.

`get_ipython()` is then what a notebook expects: extensions, aliases and magics of the user work,
and so does everything that IPython ships. What `magics.py` does on purpose stays: code that a magic
measures runs once and under the name of its cell, nothing is drawn, nothing is installed.
"""

from __future__ import annotations

import sys

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import parse_argstring
from IPython.core.magics.execution import ExecutionMagics
from IPython.core.profiledir import ProfileDir
from IPython.utils.capture import capture_output
from traitlets.config import Config

from .magics import RUN_CODE, SILENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .magics import Shell

EXTENSIONS = frozenset(("load_ext", "reload_ext", "unload_ext"))
"""Magics that do nothing without IPython, and work here."""
INSTALLERS = frozenset(("pip", "conda", "mamba", "micromamba", "uv"))
LEFT_TO_OURS = (frozenset(RUN_CODE) | SILENT | INSTALLERS) - EXTENSIONS


class NotebookShell(InteractiveShell):
    """IPython's shell, without a terminal, a history, or files in the home folder."""

    ours: Shell

    def init_ipython_dir(self, ipython_dir: object) -> None:
        """Does nothing: IPython would make `~/.ipython`, which the user may not have."""

    def init_profile_dir(self, profile_dir: object) -> None:
        """A profile without a folder: each run starts from the same settings."""
        self.profile_dir = ProfileDir()

    def init_virtualenv(self) -> None:
        """Does nothing, as in Jupyter's kernel: IPython would extend `sys.path`."""

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> object:
        """`%name line`."""
        if magic_name in LEFT_TO_OURS:
            return self.ours.run_line_magic(magic_name, line)
        shown = "%" + magic_name + " " + line
        if not self._knows("line", magic_name):
            self.ours.leave_out(shown)
            return None
        run: Any = super().run_line_magic
        try:
            # One more frame lies between the magic and the names that `$name` is looked up in.
            return run(magic_name, line, _stack_depth=_stack_depth + 1)
        except ImportError:
            if magic_name not in EXTENSIONS:
                raise
            self.ours.leave_out(shown)
            return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> object:
        """`%%name line`, and the cell below it."""
        if magic_name == "capture":
            self._capture(line, cell)
            return None
        if magic_name in LEFT_TO_OURS:
            self.ours.run_cell_magic(magic_name, line, cell)
            return None
        if not self._knows("cell", magic_name):
            self.ours.leave_out("%%" + magic_name + " " + line)
            return None
        run: Any = super().run_cell_magic
        return run(magic_name, line, cell)

    def system(self, command: str) -> None:
        """`!command`, without the pseudo-terminal in which IPython would start it."""
        self.ours.system(command)

    system_raw = system_piped = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> object:
        """`name = !command`: the lines that it prints."""
        if self.ours.refuses(cmd):
            return []
        run: Any = super().getoutput
        return run(cmd, split=split, depth=depth + 1)

    def _knows(self, kind: str, name: str) -> bool:
        find: Any = self.find_magic
        return find(name, magic_kind=kind) is not None

    def _capture(self, line: str, cell: str) -> None:
        """`%%capture [name]`: as IPython does it, but under the name of the cell."""
        parse: Any = parse_argstring
        wanted = parse(ExecutionMagics.capture, line)
        streams = (not wanted.no_stdout, not wanted.no_stderr, not wanted.no_display)
        with capture_output(*streams) as output:
            self.ours.run_cell_magic("capture", line, cell)
        if wanted.output:
            self.user_ns[wanted.output] = output


def start(ours: Shell, module: ModuleType) -> NotebookShell:
    """The shell of this process. Its names are those of `module`."""
    config = Config()
    # Without a database in the profile's folder, and without its thread.
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    shell = NotebookShell.instance(config=config, user_module=module)
    shell.ours = ours
    shell.builtin_trap.activate()  # `get_ipython()` works in modules that the notebook imports
    # `exit()` of IPython asks a terminal or a kernel to stop, and there is neither.
    for name in ("exit", "quit"):
        shell.user_ns[name] = sys.exit
    return shell
