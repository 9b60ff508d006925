"""The text of a fix: code, a command, or a sentence."""

from __future__ import annotations

import ast


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
