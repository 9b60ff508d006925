"""The list of what rungs show, in `docs/reference/ladder.md`: written from the classes of
`reprocheck.model.evidence` and the docstrings of their fields.

`python -m reprocheck.ladder.page` writes it; a test compares it.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from reprocheck.model import evidence

PAGE = Path("docs/reference/ladder.md")
HEADING = "## What a rung shows\n"
_INTRODUCTION = """\
`evidence` of a rung of `check.ladder` in Python is one of these classes of
`reprocheck.model.evidence`, by the kind of the difference. It is None where the sentence says it
all. `measured`, `operator` and `generators` of the rung are in the second table.
"""
_PARTS = (
    evidence.Measured,
    evidence.OperatorDiffers,
    evidence.Generators,
    evidence.Generator,
    evidence.SeededLater,
    evidence.Loaded,
)


def section() -> str:
    """The section of the page."""
    kinds = "\n".join(_rows(get_args(evidence.Evidence)))
    parts = "\n".join(_rows(_PARTS))
    head = "| class | field | |\n|---|---|---|"
    return f"{HEADING}{_INTRODUCTION}\n{head}\n{kinds}\n\n{head}\n{parts}\n"


def _rows(classes: tuple[type, ...]) -> Iterator[str]:
    for one in classes:
        yield f"| `{one.__name__}` | | {_line(inspect.getdoc(one) or '')} |"
        for name, text in _fields(one):
            yield f"| | `{name}` | {_line(text)} |"


def _fields(of: type) -> Iterator[tuple[str, str]]:
    """The fields of a class with their docstrings, which Python itself does not keep."""
    (body,) = ast.parse(inspect.getsource(of)).body
    assert isinstance(body, ast.ClassDef)
    for field, doc in zip(body.body, body.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        assert isinstance(doc, ast.Expr), f"{of.__name__}.{field.target.id} has no docstring"
        assert isinstance(doc.value, ast.Constant)
        yield field.target.id, str(doc.value.value)


def _line(text: str) -> str:
    """A docstring on one line of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def page(text: str) -> str:
    """The page with its last section as the classes say it."""
    return text.partition(HEADING)[0] + section()


if __name__ == "__main__":
    shown = Path(sys.argv[1]) if sys.argv[1:] else PAGE
    shown.write_text(page(shown.read_text(encoding="utf-8")), encoding="utf-8")
