"""The line that makes a layer which draws from a generator that nothing seeded, where neither the
record nor the scan gives one.

The scan cannot tell on which device a layer draws: a seed for the CPU alone looks to it as if it
reached the layers of an accelerator.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from reprocheck.causes.usercode import UserCode
from reprocheck.model import Cause, Check, SourceLine
from reprocheck.model.evidence import class_of
from reprocheck.model.statements.causes import OnlyLine
from reprocheck.rules import entry

_NAME = "unseeded-layer"


def made_at(check: Check, folder: Path) -> tuple[Cause, ...]:
    """Return the causes of a check, an unseeded layer with the one line of the user's that makes a
    layer of its class.
    """
    rung = check.first_rung
    if rung is None or not any(map(_lacks_line, check.causes)):
        return check.causes
    kind = class_of(rung.evidence)
    if not kind:
        return check.causes
    code = UserCode(check, folder)
    lines = {(file, line) for file, tree in code.trees.items() for line in _calls(tree, kind)}
    if len(lines) != 1:
        return check.causes
    source = code.line(*lines.pop())
    made = OnlyLine(source=source.at, kind=kind)
    return tuple(_with_line(cause, source, made) for cause in check.causes)


def _with_line(cause: Cause, source: SourceLine, made: OnlyLine) -> Cause:
    """Return a cause with the line, where it is one that lacks it."""
    if not _lacks_line(cause):
        return cause
    return replace(cause, source=source, statements=(*cause.statements, made))


def _lacks_line(cause: Cause) -> bool:
    return cause.source is None and entry(cause.code).name == _NAME


def _calls(tree: ast.AST, name: str) -> list[int]:
    """Return the lines that call something of that name, whatever module it is of or is called
    there.
    """
    aliases = [node for node in ast.walk(tree) if isinstance(node, ast.alias)]
    # `Drop` -> `Dropout` for `from torch.nn import Dropout as Drop`; None: it keeps its name
    names = {one.asname: name for one in aliases if one.name == name}
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _called(node.func, names) == name
    ]


def _called(function: ast.expr, names: Mapping[str | None, str]) -> str:
    if isinstance(function, ast.Name):
        return names.get(function.id, function.id)
    # `nn.Dropout`, whatever `nn` is called
    return getattr(function, "attr", "")
