"""Gives Python the patched text of a user's file, which stays as it is on disk.

Whatever reads the file to run it, or to show what ran, gets the new text under the old name:

- an import, and `python -m`: `FileLoader.get_data`. Bytecode is neither read nor written:
  `SourceFileLoader.path_stats` finds no file;
- what runs a path (`runpy`, and by it the main script in processes that multiprocessing spawns;
  `pdb`, `cProfile`): `io.open_code`;
- `inspect` and tracebacks: `linecache.updatecache`;
- the script itself, which the interpreter reads without asking anybody: before that it looks
  whether the path is a folder or an archive with a `__main__`, and an importer of ours says so. The
  script then begins as it does without us.

That a process was given the new text is written to its trace: a patch that nobody was given was not
tried.
"""

from __future__ import annotations

import io
import os
import sys

from ..recorder import import_hook

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_Spec = type(__spec__)
_NO_SCRIPT = ("", "-", "-c", "-m")
"""What stands in the place of a script's name where there is none."""
_START = "__import__('sys').modules[%r].CURRENT.run_script(globals())" % __name__

CURRENT: Patched | None = None


def start(recorder: Any, files: Mapping[str, str]) -> None:
    """Read files (real paths) from their patched copies from here on.

    Raises OSError where one of the copies cannot be read.
    """
    global CURRENT
    texts = {}
    for path, new in files.items():
        with open(new, "rb") as file:
            texts[path] = file.read()
    CURRENT = Patched(recorder, texts)
    CURRENT.put_in_place()


class Patched:
    """Hold the patched texts by the real paths of the files that they replace."""

    def __init__(self, recorder: Any, texts: Mapping[str, bytes]) -> None:
        self._recorder = recorder
        self._texts = texts
        self._told: set[str] = set()
        self._script = ""

    def text(self, path: object) -> bytes | None:
        """Return the patched text of a file; None for a file without one."""
        if not isinstance(path, str) or path.startswith("<") or path.endswith(".pyc"):
            return None
        return self._texts.get(os.path.realpath(path))

    def given(self, path: object) -> bytes | None:
        """Return the same as `text`, and record that it is about to be run."""
        text = self.text(path)
        if text is not None and path not in self._told:
            self._told.add(str(path))
            self._recorder.emit({"e": "patched", "p": self._recorder.masked(str(path))})
        return text

    def put_in_place(self) -> None:
        """Set hooks on everything that reads source files."""
        self._for_imports()
        self._for_paths()
        import_hook.when_imported("linecache", self._for_lines)
        script = getattr(sys, "argv", [""])[0]
        if script not in _NO_SCRIPT and self.text(script) is not None:
            sys.path_hooks.insert(0, self._importer)

    def _for_imports(self) -> None:
        import _frozen_importlib_external as external

        get_data, path_stats = external.FileLoader.get_data, external.SourceFileLoader.path_stats

        def new_data(loader: Any, path: str) -> bytes:
            text = self.given(path)
            return get_data(loader, path) if text is None else text

        def new_stats(loader: Any, path: str) -> Any:
            if self.text(path) is not None:
                raise OSError("the file of bytecode is that of another text")
            return path_stats(loader, path)

        external.FileLoader.get_data = new_data  # type: ignore[assignment]
        external.SourceFileLoader.path_stats = new_stats  # type: ignore[assignment, method-assign]

    def _for_paths(self) -> None:
        open_code = io.open_code

        def new_code(path: str) -> Any:
            text = self.given(path)
            return open_code(path) if text is None else io.BytesIO(text)

        io.open_code = new_code

    def _for_lines(self, linecache: Any) -> None:
        updatecache = linecache.updatecache

        def new_lines(filename: str, module_globals: Any = None) -> list[str]:
            text = self.text(filename)
            if text is None:
                cached: list[str] = updatecache(filename, module_globals)
                return cached
            from importlib.util import decode_source

            lines = decode_source(text).splitlines(True)
            if lines and not lines[-1].endswith("\n"):
                lines[-1] += "\n"
            # without a time: never read again
            linecache.cache[filename] = (len(text), None, lines, filename)
            return lines

        linecache.updatecache = new_lines

    def _importer(self, path: str) -> _Main:
        """Return a hook of `sys.path_hooks`, until the interpreter has asked for its script."""
        if self.text(path) is None:
            raise ImportError(path)
        sys.path_hooks.remove(self._importer)
        self._script = path
        return _Main(path)

    def run_script(self, names: dict[str, Any]) -> None:
        """Run the patched text of the script as the interpreter would begin it.

        `names` are the variables of `__main__`.
        """
        from importlib.machinery import SourceFileLoader

        path, text = self._script, self.given(self._script)
        sys.path_importer_cache[path] = None  # as it is after that look
        if path in sys.path:
            sys.path.remove(path)
        if not getattr(sys.flags, "safe_path", False):
            sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
        names.update(
            __file__=path,
            __loader__=SourceFileLoader("__main__", path),
            __package__=None,
            __spec__=None,
            __cached__=None,
        )
        exec(compile(text or b"", path, "exec", dont_inherit=True), names)


class _Main:
    """The finder and loader of the module `__main__` of a script, as if it were a folder."""

    def __init__(self, path: str) -> None:
        self._path = path

    def find_spec(self, name: str, target: object = None) -> Any:
        if name != "__main__":
            return None
        return _Spec(name, self, origin=self._path)  # type: ignore[arg-type]

    def get_code(self, name: str) -> Any:
        return compile(_START, self._path, "exec", dont_inherit=True)
