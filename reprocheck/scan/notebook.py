"""The code of a notebook as one text: cells one after the other, magics and shell lines made
harmless without moving a line.
"""

from __future__ import annotations

import ast
import json
import re
import warnings

from reprocheck.scan.text import Cell, UnreadableError, split

_LINE_MAGIC = re.compile(r"^(\s*)(?:[%!?]|[^#]*\?{1,2}\s*$)")
_ASSIGNED_MAGIC = re.compile(r"^(\s*[\w.,\s\[\]\"']+=\s*)[%!].*$")
_TIMING = re.compile(r"^(\s*)%(?:time|timeit|prun|memit)\s+(?![-%!])(.*)$")
_CODE_CELLS = ("time", "timeit", "capture", "prun", "python", "python3")


def code_cells(data: bytes) -> tuple[str, tuple[Cell, ...]]:
    """The joined code cells, and where each begins.

    Raises UnreadableError where it is no notebook of Python.
    """
    notebook = _notebook(data)
    texts: list[str] = []
    cells: list[Cell] = []
    line = 1
    for number, cell in enumerate(_cells(notebook), start=1):
        source = cell.get("source", cell.get("input", "")) if isinstance(cell, dict) else ""
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        text = (
            "".join(part for part in source if isinstance(part, str))
            if isinstance(source, list)
            else str(source)
        )
        text = neutralised(text)
        texts.append(text)
        cells.append(Cell(number=number, first_line=line))
        line += len(split(text))
    return "\n".join(texts), tuple(cells)


def neutralised(text: str) -> str:
    """A cell without what only IPython reads.

    The number of lines stays, and columns of what stays.
    """
    lines = split(text)
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and first[2:].split(maxsplit=1)[:1] not in [
        [name] for name in _CODE_CELLS
    ]:
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
        timed = _TIMING.match(line)
        if timed:
            kept.append(timed[1] + timed[2])
        elif assigned := _ASSIGNED_MAGIC.match(line):
            kept.append(assigned[1] + "None")
            continued = line.endswith("\\")
        elif magic := _LINE_MAGIC.match(line):
            kept.append(magic[1] + "pass")
            continued = line.endswith("\\")
        else:
            kept.append(line)
    return "\n".join(kept)


def _parses(text: str) -> bool:
    """Whether a cell is Python as it stands: then a line that begins with `%` is the rest of an
    expression.
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
    metadata = notebook.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        part = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(part, dict) and isinstance(part.get(name), str):
            return str(part[name]).lower()
    return ""


def _cells(notebook: dict[str, object]) -> list[object]:
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return cells  # type: ignore[return-value]
    return [cell for sheet in sheets if isinstance(sheet, dict) for cell in sheet.get("cells", [])]
