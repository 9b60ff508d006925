"""What IPython adds to Python in a notebook, as far as a training needs it: `get_ipython()` where
the interpreter that runs the notebook has no IPython. Where it has, `ipython_shell` asks for the
magics here that must not do what they do in Jupyter.

Magics that run code run it once; those that draw, measure or help do nothing. Shell commands run as
they stand, but for installations: an environment that changes between two runs proves nothing. What
was left out is listed in the report.
"""

from __future__ import annotations

import os
import re
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

RUN_CODE = ("time", "timeit", "prun", "memit", "capture", "python", "python3")
"""Magics whose text is Python, run in the notebook's names."""
SHELLS = ("bash", "sh", "script", "zsh")
SILENT = {
    *(
        "matplotlib",
        "load_ext",
        "reload_ext",
        "unload_ext",
        "autoreload",
        "config",
        "precision",
        "pprint",
        "colors",
        "xmode",
        "tensorboard",
    ),
    *(
        "pinfo",
        "pinfo2",
        "psource",
        "who",
        "whos",
        "who_ls",
        "history",
        "lsmagic",
        "html",
        "HTML",
        "javascript",
        "js",
        "latex",
        "markdown",
        "svg",
    ),
}
"""Magics that change nothing of a training: not even listed."""
OPTIONS_WITH_VALUE = ("-n", "-r", "-p", "-l", "-s", "-T", "-D")
_INSTALLERS = re.compile(
    r"\s*(?:sudo\s+)?(?:\S*python[\d.]*\s+-m\s+)?(?:pip[\d.]*|conda|mamba|micromamba|uv|apt|apt-get|yum|dnf)\s"
)
_INSTALLING = re.compile(r"\b(?:install|uninstall|remove|update|upgrade|sync|add|create)\b")
_EXPANDED = re.compile(r"\{\{|\}\}|\$\$|\{([^{}]+)\}|\$([A-Za-z_]\w*)")


class Shell:
    """What `get_ipython()` returns.

    `program` runs code; `note(code, text)` lists what was left out.
    """

    def __init__(self, program: Any, note: Callable[[str, str], None]) -> None:
        self._program = program
        self._note = note
        self._line: dict[str, Callable[[str], object]] = {
            "cd": self._cd,
            "env": self._env,
            "set_env": self._env,
            "run": self._run,
            "system": self.system,
            "sx": self.getoutput,
            "pwd": lambda text: os.getcwd(),
        }

    @property
    def user_ns(self) -> dict[str, Any]:
        """The names of the notebook."""
        names: dict[str, Any] = self._program.names
        return names

    def run_line_magic(self, name: str, line: str, *more: object) -> object:
        """`%name line`."""
        if name in RUN_CODE:
            code = statement(line)
            return self._program.evaluate(code) if code else None
        if name in self._line:
            return self._line[name](line)
        self.leave_out("%" + name + " " + line, silent=name in SILENT)
        return None

    magic = run_line_magic

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """`%%name line`, and the cell below it."""
        if name in RUN_CODE:
            if name == "timeit" and statement(line):
                self._program.evaluate(statement(line))  # the setup
            self._program.execute(cell, self._program.first + 1)
        elif name in SHELLS:
            self._call(cell)
        elif name in ("writefile", "file"):
            _write(self._expanded(line), cell)
        else:
            self.leave_out("%%" + name + " " + line, silent=name in SILENT)

    def system(self, command: str) -> None:
        """`!command`."""
        if not self.refuses(command):
            self._call(self._expanded(command))

    system_raw = system_piped = system

    def getoutput(self, command: str, *more: object) -> list[str]:
        """`!!command`, `name = !command`: the lines that it prints."""
        from subprocess import PIPE, STDOUT, run

        if self.refuses(command):
            return []
        return run(
            self._expanded(command), shell=True, stdout=PIPE, stderr=STDOUT, text=True
        ).stdout.splitlines()

    def refuses(self, command: str) -> bool:
        """Whether a command installs something: it is left out then."""
        if not installs(command):
            return False
        self.leave_out("!" + command)
        return True

    def _call(self, command: str) -> None:
        from subprocess import call

        sys.stdout.flush()
        self.user_ns["_exit_code"] = call(command, shell=True)

    def leave_out(self, what: str, *, silent: bool = False) -> None:
        """Lists a magic or a command in the report as left out."""
        if not silent:
            self._note(
                "magic " + what,
                "`%s` of the notebook was left out." % what.strip().split("\n")[0][:100],
            )

    def _cd(self, line: str) -> None:
        os.chdir(os.path.expanduser(self._expanded(line).strip("\"'") or "~"))

    def _env(self, line: str) -> object:
        name, _, value = line.strip().partition("=" if "=" in line else " ")
        if not value:
            return os.environ.get(name) if name else dict(os.environ)
        os.environ[name.strip()] = self._expanded(value).strip()
        return None

    def _run(self, line: str) -> None:
        """`%run script.py words`: as `__main__`, and its names become the notebook's."""
        import runpy
        import shlex

        words = shlex.split(self._expanded(line))
        while words and words[0].startswith("-"):
            words.pop(0)
        before, sys.argv = sys.argv, words
        try:
            names = runpy.run_path(words[0], run_name="__main__")
        finally:
            sys.argv = before
        self.user_ns.update(
            (name, value) for name, value in names.items() if not name.startswith("__")
        )

    def _expanded(self, text: str) -> str:
        """A command with the values of `{expression}` and `$name` of the notebook; what has none
        stays.
        """

        def value(found: re.Match[str]) -> str:
            if found[0] in ("{{", "}}", "$$"):
                return found[0][0]
            try:
                return str(eval(found[1] or found[2], self.user_ns))
            except Exception:
                return found[0]

        return _EXPANDED.sub(value, text)


def statement(line: str) -> str:
    """What `%time`, `%timeit` and the like are to run: the line without its options."""
    words = line.strip()
    while words.startswith("-"):
        option, _, words = words.partition(" ")
        if option in OPTIONS_WITH_VALUE:
            words = words.lstrip().partition(" ")[2]
        words = words.lstrip()
    return words


def installs(command: str) -> bool:
    """Whether a command changes what is installed."""
    found = _INSTALLERS.match(command)
    return found is not None and _INSTALLING.search(command, found.end() - 1) is not None


def _write(line: str, text: str) -> None:
    """`%%writefile [-a] FILE`."""
    words = line.split()
    append = words[:1] in (["-a"], ["--append"])
    with open(
        os.path.expanduser(words[1] if append else words[0]),
        "a" if append else "w",
        encoding="utf-8",
    ) as file:
        file.write(text)
