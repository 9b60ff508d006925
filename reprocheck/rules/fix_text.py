"""Handle the text of a fix: code, a command, or a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from reprocheck.model.explanation import FixFrom as FixFrom


def language(code: str) -> str:
    """Return `python` if a text is Python code, else `sh`."""
    try:
        ast.parse(code)
    except SyntaxError:
        return "sh"
    return "python"


def is_code(text: str) -> bool:
    """Return whether a fix is code or a command to paste, and not a sentence."""
    return "\n" in text or "=" in text or not text.endswith((".", "。"))


def in_names_of(names: Mapping[str, str], fix: str) -> str:
    """Return a fix with the names that a script uses for modules: `np.random` for `numpy.random`.

    A module that the fix imports itself keeps its name. `names` maps modules to the script's names.
    """
    for module, name in sorted(names.items(), reverse=True):
        imports = rf"(?m)^ *(?:import|from) {re.escape(module)}\b"
        if re.search(imports, fix) is None:
            fix = re.sub(rf"(?<![\w.\"']){re.escape(module)}\.(?=\w)", f"{name}.", fix)
    return fix
