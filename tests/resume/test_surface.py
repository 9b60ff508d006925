"""What the check of a resume takes of a check."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from reprocheck import resume

MOST = 40
BESIDE = (
    "bundle", "child", "errors", "files", "interrupts", "language", "model", "redaction", "report",
    "resume", "rules", "settings", "trace.deep", "trace.events",
)  # fmt: skip
"""Data, options, utilities and what draws."""
OWN = ("fix", "report")
"""Folders that are clients of the scan and of the report alone."""


def taken(module: Path) -> Iterator[str]:
    """The names that a module imports from the package."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reprocheck"):
            for alias in node.names:
                yield f"{node.module}.{alias.name}".removeprefix("reprocheck.")


def test_few_names_are_taken_of_a_check() -> None:
    folder = Path(resume.__file__).parent
    modules = [path for path in folder.rglob("*.py") if path.parent.name not in OWN]
    names = {name for module in modules for name in taken(module)}
    core = {name for name in names if not f"{name}.".startswith(tuple(f"{b}." for b in BESIDE))}
    assert len(core) <= MOST, sorted(core)
