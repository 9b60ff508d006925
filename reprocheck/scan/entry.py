"""The guard of a program: `if __name__ == "__main__":`."""

from __future__ import annotations

import ast


def is_guard(statement: ast.AST) -> bool:
    """Whether a statement is `if __name__ == "__main__":`."""
    test = getattr(statement, "test", None)
    if not isinstance(statement, ast.If) or not isinstance(test, ast.AST):
        return False
    parts = list(ast.walk(test))
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in parts) and any(
        isinstance(part, ast.Constant) and part.value == "__main__" for part in parts
    )
