"""Take a notebook as an entry point.

nbconvert makes Python of its code cells, which a process without Jupyter then runs in their order.
"""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from reprocheck.errors import EntryPointError

NAME = "notebook.json"
"""In the report folder: the cells as they run."""
SKIP, MAY_FAIL = "skip-execution", "raises-exception"
"""Tags of cells that Jupyter itself acts on."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeCell:
    """A code cell of a notebook.

    `number`: among all cells, from 1; `code`: its `source` as Python, from line `first` on (from
    0).
    """

    number: int
    source: str
    code: str
    first: int
    may_fail: bool


def is_notebook(script: str) -> bool:
    """Return whether the name of a script is that of a notebook."""
    return script.endswith(".ipynb")


def refuse(path: Path, shown: str, *, ours: bool) -> None:
    """Raise EntryPointError for a notebook that cannot be run.

    `ours`: whether the interpreter of reprocheck runs it, so that its syntax can be checked here.
    """
    for cell in _cells(path, shown, path.stat().st_mtime_ns):
        if ours and not cell.may_fail:
            _refuse_syntax(cell, shown)


def command(words: tuple[str, ...], original: Path, folder: Path) -> tuple[str, ...]:
    """Return the command for `python NOTEBOOK ARGS`: a runner of the cells.

    It is written to the report folder the first time.
    """
    python, script, *args = words
    file = folder / NAME
    if not file.exists():
        cells = [asdict(cell) for cell in _cells(original, script, original.stat().st_mtime_ns)]
        file.write_text(json.dumps(cells, indent=1) + "\n", encoding="utf-8")
    return (python, "-m", "reprocheck_child.notebook", str(file), script, *args)


@lru_cache(maxsize=4)
def _cells(path: Path, shown: str, changed: int) -> tuple[CodeCell, ...]:
    """Return the code cells of a notebook, in their order.

    Raises EntryPointError if there are none that Python can run.
    """
    try:
        import IPython  # noqa: F401 - without it nbconvert changes nothing
        import nbformat  # noqa: F401
        from nbconvert.filters.strings import ipython2python as to_python
    except ImportError:
        raise EntryPointError(
            f"{shown} is a notebook, which needs nbconvert and IPython.",
            "pip install nbconvert ipython",
        ) from None
    notebook = _read(path, shown)
    metadata = notebook.get("metadata", {})
    kernel = metadata.get("kernelspec", {})
    language = str(
        metadata.get("language_info", {}).get("name") or kernel.get("language") or "python"
    ).lower()
    if language not in ("python", "python3", "ipython"):
        raise EntryPointError(
            f"{shown} is a notebook of {language}, not of Python.",
            "Name a notebook with a Python kernel.",
        )
    cells = [
        _cell(number, str(cell.source), cell.get("metadata", {}).get("tags", ()), to_python)
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code"
        and str(cell.source).strip()
        and SKIP not in cell.get("metadata", {}).get("tags", ())
    ]
    if not cells:
        raise EntryPointError(f"{shown} has no code cells.", "Name a notebook that trains.")
    return tuple(cells)


def _cell(number: int, source: str, tags: Iterable[str], to_python: Any) -> CodeCell:
    lines = source.split("\n")
    first = next(index for index, line in enumerate(lines) if line.strip())
    return CodeCell(
        number=number,
        source=source,
        code=to_python("\n".join(lines[first:])),
        first=first,
        may_fail=MAY_FAIL in tags,
    )


def _read(path: Path, shown: str) -> Any:
    import nbformat

    read: Any = nbformat.read
    fix = "Name a notebook that Jupyter opens."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cells without an id, versions
            return read(path, as_version=4)
    except OSError as error:
        raise EntryPointError(f"{shown} cannot be read: {error.strerror}.", fix) from None
    except Exception as error:  # whatever nbformat makes of a broken file
        reason = str(error).strip().split("\n")[0][:200]
        raise EntryPointError(
            f"{shown} is not a notebook: {reason or type(error).__name__}.", fix
        ) from None


def _refuse_syntax(cell: CodeCell, shown: str) -> None:
    place = f"{shown}:cell {cell.number}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(
                "\n" * cell.first + cell.code,
                place,
                "exec",
                flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
                dont_inherit=True,
            )
    except SyntaxError as error:
        line = f"  {error.text.strip()}" if error.text else ""
        fix = "Correct the line, or name the interpreter that it is written for with --python."
        raise EntryPointError(f"{place}:{error.lineno}: {error.msg}.{line}", fix) from None
