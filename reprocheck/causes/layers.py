"""Find the line that makes an unseeded layer if neither the record nor the scan gives a line.

The scan cannot tell on which device a layer draws: it takes a seed for the CPU to reach layers on
an accelerator, too.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

from reprocheck.causes.usercode import UserCode
from reprocheck.model import Cause, Check
from reprocheck.model.evidence import class_of
from reprocheck.model.statements.causes import OnlyLine
from reprocheck.rules import entry
from reprocheck.scan.index import within

_NAME = "unseeded-layer"


def made_at(check: Check, folder: Path) -> tuple[Cause, ...]:
    """Return the causes of a check, with the line that makes an unseeded layer.

    It is known if only one line of the user's makes a layer of that class.
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
    causes = []
    for cause in check.causes:
        if _lacks_line(cause):
            cause = replace(cause, source=source, statements=(*cause.statements, made))
        causes.append(cause)
    return tuple(causes)


def _lacks_line(cause: Cause) -> bool:
    return cause.source is None and entry(cause.code).name == _NAME


def _calls(tree: ast.AST, name: str) -> list[int]:
    """Return the lines that call something of a name, in any module and under any alias."""
    # `Drop` -> `Dropout` for `from torch.nn import Dropout as Drop`
    names = {one.asname: name for one in within(tree, ast.alias) if one.name == name}
    lines = []
    for call in within(tree, ast.Call):
        function = call.func
        if isinstance(function, ast.Name):
            called = names.get(function.id, function.id)
        else:
            # `nn.Dropout`, whatever `nn` is called
            called = getattr(function, "attr", "")
        if called == name:
            lines.append(call.lineno)
    return lines
