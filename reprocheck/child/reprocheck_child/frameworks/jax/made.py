"""Where weights were made: the line of the script that gives a variable the value that a function
is called with.
"""

import ast
import linecache
from typing import Any, Dict, List, Optional, Tuple

_MOST = 400_000
_lines: Dict[Tuple[str, str], List[int]] = {}


def line_of(frame: Any, value: Any) -> Optional[int]:
    """The first line above the one that runs in `frame` that gives a value its name; None where
    that is not known.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return None
    scopes = (
        [frame.f_locals] if frame.f_locals is frame.f_globals else [frame.f_locals, frame.f_globals]
    )
    names = [
        name
        for scope in scopes
        for name, held in list(scope.items())
        if held is value and not name.startswith("__")
    ]
    found = [
        line
        for name in names
        for line in _assigned(frame.f_code.co_filename, name)
        if line < frame.f_lineno
    ]
    return min(found) if found else None


def _assigned(file: str, name: str) -> List[int]:
    """The lines of a file that give a variable a value."""
    if (file, name) not in _lines:
        _lines[(file, name)] = []
        text = "".join(linecache.getlines(file))
        for node in ast.walk(ast.parse(text if len(text) < _MOST else "")):
            targets = (
                node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            )
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and any(
                _names(target, name) for target in targets
            ):
                _lines[(file, name)].append(node.lineno)
    return _lines[(file, name)]


def _names(target: Any, name: str) -> bool:
    return target is not None and any(
        isinstance(node, ast.Name) and node.id == name for node in ast.walk(target)
    )
