"""IPython's shell for the cells of a notebook.

`get_ipython()` is what a notebook expects: extensions, aliases and magics work as in Jupyter, but
for these, in which two runs would differ or an interpreter without a screen would fail:

- Magics that run code (`%time`, `%timeit`, `%%capture`) run it once, under the name of its cell.
- Magics that draw or help do nothing.
- Installations are left out: an environment that changes between two runs proves nothing. The
  report lists what was left out.
"""

from __future__ import annotations

import re
import sys

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import parse_argstring
from IPython.core.magics.execution import ExecutionMagics
from IPython.core.profiledir import ProfileDir
from IPython.utils.capture import capture_output
from traitlets.config import Config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable

RUN_CODE = ("time", "timeit", "prun", "memit", "capture", "python", "python3")
"""Magics whose text is Python, run in the notebook's names."""
SILENT = re.compile(
    "matplotlib|autoreload|config|precision|pprint|colors|xmode|tensorboard|pinfo2?|psource|whos?"
    "|who_ls|history|lsmagic|html|HTML|javascript|js|latex|markdown|svg"
)
"""Magics that change nothing of a training: they do nothing, and are not listed."""
EXTENSIONS = frozenset(("load_ext", "reload_ext", "unload_ext"))
INSTALLERS = frozenset(("pip", "conda", "mamba", "micromamba", "uv"))
OPTIONS_WITH_VALUE = ("-n", "-r", "-p", "-l", "-s", "-T", "-D")
_INSTALLERS = re.compile(
    r"\s*(?:sudo\s+)?(?:\S*python[\d.]*\s+-m\s+)?(?:pip[\d.]*|conda|mamba|micromamba|uv|apt|apt-get|yum|dnf)\s"
)
_INSTALLING = re.compile(r"\b(?:install|uninstall|remove|update|upgrade|sync|add|create)\b")


class NotebookShell(InteractiveShell):
    """IPython's shell, without a terminal, a history, or files in the home folder.

    `program` runs code; `note(code, text)` lists what was left out.
    """

    program: Any
    note: Callable[[str, str], None]

    def init_ipython_dir(self, ipython_dir: object) -> None:
        """Do nothing: IPython would make `~/.ipython`, which the user may not have."""

    def init_profile_dir(self, profile_dir: object) -> None:
        """Take a profile without a folder: each run starts from the same settings."""
        self.profile_dir = ProfileDir()

    def init_virtualenv(self) -> None:
        """Do nothing, as Jupyter's kernel does: IPython would extend `sys.path`."""

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1) -> object:
        """Run `%name line`."""
        if magic_name in RUN_CODE:
            code = statement(line)
            return self.program.evaluate(code) if code else None
        if SILENT.fullmatch(magic_name):
            return None
        shown = "%" + magic_name + " " + line
        if not self._works("line", magic_name):
            self.leave_out(shown)
            return None
        run: Any = super().run_line_magic
        try:
            # One more frame lies between the magic and the names that `$name` is looked up in.
            return run(magic_name, line, _stack_depth=_stack_depth + 1)
        except ImportError:
            if magic_name not in EXTENSIONS:
                raise
            self.leave_out(shown)
            return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> object:
        """Run `%%name line`, and the cell below it."""
        if magic_name == "capture":
            parse: Any = parse_argstring
            wanted = parse(ExecutionMagics.capture, line)
            streams = (not wanted.no_stdout, not wanted.no_stderr, not wanted.no_display)
            with capture_output(*streams) as output:
                self._run_code(cell)
            if wanted.output:
                self.user_ns[wanted.output] = output
            return None
        if magic_name in RUN_CODE:
            if magic_name == "timeit" and statement(line):
                self.program.evaluate(statement(line))  # the setup
            self._run_code(cell)
            return None
        if SILENT.fullmatch(magic_name):
            return None
        if not self._works("cell", magic_name):
            self.leave_out("%%" + magic_name + " " + line)
            return None
        run: Any = super().run_cell_magic
        return run(magic_name, line, cell)

    def system(self, command: str) -> None:
        """Run `!command`, without the pseudo-terminal in which IPython would start it."""
        from subprocess import call

        if installs(command):
            self.leave_out("!" + command)
            return
        sys.stdout.flush()
        expand: Any = self.var_expand
        self.user_ns["_exit_code"] = call(expand(command, depth=1), shell=True)

    system_raw = system_piped = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> object:
        """Return the lines that a command prints: `name = !command`."""
        if installs(cmd):
            self.leave_out("!" + cmd)
            return []
        run: Any = super().getoutput
        return run(cmd, split=split, depth=depth + 1)

    def leave_out(self, text: str) -> None:
        """List a magic or a command in the report as left out."""
        shown = text.strip().split("\n")[0][:100]
        self.note("magic " + text, "`%s` of the notebook was left out." % shown)

    def _works(self, kind: str, name: str) -> bool:
        find: Any = self.find_magic
        return name not in INSTALLERS and find(name, magic_kind=kind) is not None

    def _run_code(self, cell: str) -> None:
        self.program.execute(cell, self.program.first + 1)


def start(program: Any, note: Callable[[str, str], None], module: ModuleType) -> NotebookShell:
    """Start the shell of this process, whose names are those of `module`."""
    config = Config()
    # Without a database in the profile's folder, and without its thread.
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "NoColor"
    shell = NotebookShell.instance(config=config, user_module=module)
    shell.program, shell.note = program, note
    shell.builtin_trap.activate()  # `get_ipython()` works in modules that the notebook imports
    # `exit()` of IPython asks a terminal or a kernel to stop, and there is neither.
    for name in ("exit", "quit"):
        shell.user_ns[name] = sys.exit
    return shell


def statement(line: str) -> str:
    """Return the code that `%time`, `%timeit` and the like run: the line without its options."""
    words = line.strip()
    while words.startswith("-"):
        option, _, words = words.partition(" ")
        if option in OPTIONS_WITH_VALUE:
            words = words.lstrip().partition(" ")[2]
        words = words.lstrip()
    return words


def installs(command: str) -> bool:
    """Return whether a command installs or removes packages."""
    begin = _INSTALLERS.match(command)
    return begin is not None and _INSTALLING.search(command, begin.end() - 1) is not None
