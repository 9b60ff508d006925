"""The text of a fix: code, a command, or a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from reprocheck.model.explanation import FixFrom as FixFrom


def language(code: str) -> str:
    """Return `python` for what Python can read, `sh` for commands."""
    try:
        ast.parse(code)
    except SyntaxError:
        return "sh"
    return "python"


def is_code(text: str) -> bool:
    """Return whether a fix is code or a command to paste; else it is a sentence."""
    return "\n" in text or "=" in text or not text.endswith((".", "。"))


def in_names_of(names: Mapping[str, str], fix: str) -> str:
    """Return a fix with the names under which a script imports modules: `np.random` for
    `numpy.random`. What the fix imports itself keeps its name.
    """
    for module, name in sorted(names.items(), reverse=True):
        imports = rf"(?m)^ *(?:import|from) {re.escape(module)}\b"
        if re.search(imports, fix) is None:
            fix = re.sub(rf"(?<![\w.\"']){re.escape(module)}\.(?=\w)", f"{name}.", fix)
    return fix
