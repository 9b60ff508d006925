"""Describes source code as text: its lines, the cells of a notebook, and why it cannot be read."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass


class UnreadableError(Exception):
    """Report a file that cannot be scanned: `reason` says why, `line` where, if known."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """Describe a code cell of a notebook: its number, and its first line in the joined text.

    The number counts all cells of the notebook from 1, those with text, too.
    """

    number: int
    first_line: int


def split(text: str) -> list[str]:
    """Return the lines of a text; a form feed or a Unicode separator ends none, as in Python."""
    return re.split(r"\r\n|\r|\n", text)


_LINE_MAGIC = re.compile(r"^(\s*)(?:[%!?]|[^#]*\?{1,2}\s*$)")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[\w.,\s\[\]\"']+=\s*)[%!].*$")
_TIMING = re.compile(r"^(\s*)%(?:time|timeit|prun|memit)\s+(?![-%!])(.*)$")
_MAGICS = (
    (_TIMING, r"\1\2", False),
    (_ASSIGNED_MAGIC, r"\1None", True),
    (_LINE_MAGIC, r"\1pass", True),
)
"""What only IPython reads, what Python reads in its place, and whether a backslash at the end of
the line continues it.
"""
_CELL_MAGIC = re.compile(r"%%\s*(\S*)")
_CODE_CELLS = ("time", "timeit", "capture", "prun", "python", "python3")


def code_cells(data: bytes) -> tuple[str, tuple[Cell, ...]]:
    """Return the joined code cells of a notebook, and the line at which each cell begins.

    Raises UnreadableError if the file is no notebook of Python.
    """
    notebook = _notebook(data)
    texts: list[str] = []
    cells: list[Cell] = []
    line = 1
    for number, cell in enumerate(_cells(notebook), start=1):
        match cell:
            case {"cell_type": "code", **fields}:
                text = neutralised(_source(fields))
                texts.append(text)
                cells.append(Cell(number=number, first_line=line))
                line += len(split(text))
    return "\n".join(texts), tuple(cells)


def _source(cell: Mapping[object, object]) -> str:
    """Return the text of a cell; it may be a list of lines, or under the old key `input`."""
    source = cell.get("source", cell.get("input", ""))
    if not isinstance(source, list):
        return str(source)
    return "".join(part for part in source if isinstance(part, str))


def neutralised(text: str) -> str:
    """Return the code of a cell with all that only IPython reads made harmless.

    The number of lines stays the same, and so do the columns of the remaining code.
    """
    lines = split(text)
    first = next((line for line in lines if line.strip()), "")
    magic = _CELL_MAGIC.match(first)
    if magic and magic[1] not in _CODE_CELLS:
        return "\n".join("#" + line for line in lines)
    if _parses(text):
        return "\n".join(lines)
    kept: list[str] = []
    continued = False
    for line in lines:
        if continued:
            kept.append("")
            continued = line.endswith("\\")
            continue
        plain, continued = _without_magic(line)
        kept.append(plain)
    return "\n".join(kept)


def _without_magic(line: str) -> tuple[str, bool]:
    """Return a line as Python, and whether the next line continues a removed magic."""
    for pattern, replacement, may_continue in _MAGICS:
        magic = pattern.match(line)
        if magic:
            return magic.expand(replacement), may_continue and line.endswith("\\")
    return line, False


def _parses(text: str) -> bool:
    """Return whether a cell is Python as it stands.

    If so, a line that begins with `%` continues an expression and is no magic.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _notebook(data: bytes) -> dict[str, object]:
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UnreadableError("not a notebook: it is not UTF-8") from None
    except RecursionError:
        raise UnreadableError("not a notebook: nested too deeply") from None
    except ValueError as error:
        line = getattr(error, "lineno", None)
        raise UnreadableError(f"not a notebook: {getattr(error, 'msg', error)}", line) from None
    if not isinstance(notebook, dict) or not isinstance(_cells(notebook), list):
        raise UnreadableError("not a notebook: it holds no cells")
    language = _language(notebook)
    if language not in ("", "python", "python3", "ipython"):
        raise UnreadableError(f"a notebook of {language}, not of Python")
    return notebook


def _language(notebook: dict[str, object]) -> str:
    match notebook.get("metadata"):
        case {"language_info": {"name": str() as language}}:
            return language.lower()
        case {"kernelspec": {"language": str() as language}}:
            return language.lower()
    return ""


def _cells(notebook: dict[str, object]) -> list[object]:
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return cells  # type: ignore[return-value]
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells", [])]
