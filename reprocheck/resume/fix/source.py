"""What a script saves and what it loads again, found in its source.

A script is understood that saves one dict by `torch.save` and assigns what `torch.load` returns;
of any other nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

_SAVE, _LOAD, _PART = "torch.save", "torch.load", ".load_state_dict"
_MAKERS = (("lr_scheduler", "scheduler"), ("GradScaler", "scaler"), ("optim", "optimizer"))
"""What stands in the name of the call that makes a part of a training; the first that fits holds:
schedulers lie in `torch.optim`, too.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The places in a script.

    saved     the dict that is saved
    loaded    the name that holds what was loaded
    load      the call that loads it
    behind    the last statement beside it that loads a part
    called    the functions that are called anywhere, as they are written
    parts     names of optimizers, schedulers and scalers, with their kind, in their order
    modules   the name that each module has in the script
    """

    saved: ast.Dict
    loaded: str
    load: ast.Call
    behind: ast.stmt
    called: frozenset[str]
    parts: Mapping[str, str]
    modules: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Made:
    """What a call returns is assigned to a name: `function` is the one that is called."""

    name: str
    function: str
    call: ast.Call
    statement: ast.Assign


class _Script(ast.NodeVisitor):
    """The calls, the assignments and the imports of a script, in their order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ast.Call]] = []
        self.made: list[_Made] = []
        self.dicts: list[tuple[str, ast.Dict]] = []
        self.imported: dict[str, str] = {}
        self.modules: dict[str, str] = {}
        self.holders: dict[ast.AST, ast.AST] = {}
        """The node that each statement stands in."""
        self.statements: list[ast.Expr] = []

    def generic_visit(self, node: ast.AST) -> None:
        """Every node below this one."""
        for child in ast.iter_child_nodes(node):
            self.holders[child] = node
            self.visit(child)

    def visit_Call(self, node: ast.Call) -> None:
        """A call."""
        self.calls.append((ast.unparse(node.func), node))
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """A statement that is a call, mostly."""
        self.statements.append(node)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Something gets a name."""
        name = ast.unparse(node.targets[0])
        if isinstance(node.value, ast.Call):
            self.made.append(_Made(name, ast.unparse(node.value.func), node.value, node))
        if isinstance(node.value, ast.Dict):
            self.dicts.append((name, node.value))
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        """A module gets a name."""
        for one in node.names:
            self.modules[one.name] = one.asname or one.name

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """Something of a module gets a name."""
        for one in node.names:
            self.imported[one.asname or one.name] = f"{node.module}.{one.name}"


def read(text: str, line: int) -> Source | None:
    """The places in a script that saves its checkpoint on this line; None where it is another kind
    of script.
    """
    script = _Script()
    try:
        script.visit(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return None
    saved = _saved(script, line)
    loads = [made for made in script.made if made.function == _LOAD]
    if saved is None or len(loads) != 1:
        return None
    return Source(
        saved=saved,
        loaded=loads[0].name,
        load=loads[0].call,
        behind=_behind(script, loads[0]),
        called=frozenset(dict(script.calls)),
        parts=_parts(script),
        modules=script.modules,
    )


def _saved(script: _Script, line: int) -> ast.Dict | None:
    """The dict that the call on a line saves, or that its name was given last above it."""
    saves = [call for function, call in script.calls if function == _SAVE]
    save = next((one for one in saves if one.lineno <= line <= (one.end_lineno or 0)), None)
    if save is None:
        return None
    given = next(iter(save.args), None)
    if isinstance(given, ast.Name):
        above = (held for name, held in script.dicts if name == given.id and held.lineno < line)
        given = max(above, key=lambda held: held.lineno, default=None)
    if not isinstance(given, ast.Dict) or not given.values:
        return None
    return given


def _behind(script: _Script, load: _Made) -> ast.stmt:
    """The last statement of the same block that loads a part from what was loaded; the assignment
    where none does.
    """
    block = script.holders[load.statement]
    beside = (one for one in script.statements if script.holders[one] is block)
    written = {ast.unparse(one): one for one in beside}
    loading = [one for text, one in written.items() if _PART in text and f"{load.name}[" in text]
    return max(loading, key=lambda one: one.lineno, default=load.statement)


def _parts(script: _Script) -> dict[str, str]:
    found = {}
    for made in script.made:
        head, _, rest = made.function.partition(".")
        whole = f"{script.imported.get(head, head)}.{rest}"
        kind = next((kind for word, kind in _MAKERS if word in whole), "")
        if kind:
            found[made.name] = kind
    return found
