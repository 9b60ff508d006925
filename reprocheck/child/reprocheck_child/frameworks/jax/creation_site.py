"""Finds where weights were made.

That is the script's line that assigned the variable whose value is passed to the function.
"""

import ast
import linecache
from itertools import chain
from typing import Any, Dict, List, Optional

_MOST = 400_000
"""Characters of a file up to which it is parsed."""

_lines: Dict[str, Dict[str, List[int]]] = {}
"""File -> variable -> lines."""


def line_of(frame: Any, value: Any) -> Optional[int]:
    """Return the first line above the running one in `frame` that assigns the variable of `value`.

    None if the line is not known.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return None
    # a value may have several names, and be given to one of them again later
    variables = [*frame.f_locals.items(), *frame.f_globals.items()]
    names = {
        name for name, variable in variables if variable is value and not name.startswith("__")
    }
    file = frame.f_code.co_filename
    if file not in _lines:
        _lines[file] = {}
        text = "".join(linecache.getlines(file))
        # a larger file is generated, and takes long
        if len(text) < _MOST:
            _lines[file] = _read(ast.parse(text))
    lines = _lines[file]
    assigned = chain.from_iterable(lines.get(name, ()) for name in names)
    return min((line for line in assigned if line < frame.f_lineno), default=None)


def _read(tree: ast.AST) -> Dict[str, List[int]]:
    lines: Dict[str, List[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        else:
            continue
        for part in chain.from_iterable(map(ast.walk, targets)):
            if isinstance(part, ast.Name):
                lines.setdefault(part.id, []).append(node.lineno)
    return lines
