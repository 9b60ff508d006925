"""The guard of a program: `if __name__ == "__main__":`."""

from __future__ import annotations

import ast

from reprocheck.scan.index import within


def is_guard(statement: ast.AST) -> bool:
    """Return whether a statement is `if __name__ == "__main__":`."""
    if not isinstance(statement, ast.If):
        return False
    names = {name.id for name in within(statement.test, ast.Name)}
    constants = {constant.value for constant in within(statement.test, ast.Constant)}
    return "__name__" in names and "__main__" in constants
