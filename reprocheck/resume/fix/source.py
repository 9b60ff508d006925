"""What a script saves and what it loads again, found in its source.

A script is understood that saves one dict by `torch.save` and assigns what `torch.load` returns;
of any other nothing is said. The dict may be made where the function is called that saves it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reprocheck.resume.fix.script import OWN, Made, Scope, Script
from reprocheck.scan.index import last_line

_SAVE, _LOAD, _PART = "torch.save", "torch.load", ".load_state_dict"
_MAKERS = (
    ("LR", "scheduler"),
    ("schedule", "scheduler"),
    ("Scheduler", "scheduler"),
    ("WarmRestarts", "scheduler"),
    ("GradScaler", "scaler"),
    ("optim", "optimizer"),
    ("torch.nn.functional.", ""),
    ("torch.nn.init.", ""),
    ("torch.nn.utils.", ""),
    ("Loss", ""),
    ("torch.nn.", "module"),
)
"""What stands in the name of the call that makes a part of a training; the first that fits holds:
schedulers of PyTorch are known by `torch.optim`, too, and losses hold nothing.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Source:
    """The places in a script.

    saved     the dict that is saved
    held      its values, by their keys
    loads     the assignments of what is loaded, all to the same name
    behind    the last statement that loads a part of it
    parts     names of modules, optimizers, schedulers and scalers, with their kind, in their order
    """

    script: Script
    saved: ast.Dict
    held: Mapping[str, ast.expr]
    loads: Sequence[Made]
    behind: ast.stmt
    parts: Mapping[str, str]

    @property
    def loaded(self) -> str:
        """The name of what was loaded."""
        return self.loads[0].name

    @property
    def is_moved(self) -> bool:
        """Whether tensors may be loaded to a device."""
        return any("map_location=" in ast.unparse(load.call) for load in self.loads)

    def saves(self, value: str) -> bool:
        """Whether a value is saved already."""
        return value in map(ast.unparse, self.held.values())

    def saved_as(self, value: str, otherwise: str) -> str:
        """The key under which a value is saved already; else one that is free."""
        texts = {ast.unparse(held): key for key, held in self.held.items()}
        return texts.get(value) or _free(otherwise, self.held)

    def fresh_name(self, wanted: str) -> str:
        """A name that the script does not use."""
        return _free(wanted, dict.fromkeys(self.script.words))


def _free(wanted: str, taken: Mapping[str, object]) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted


def read(text: str, line: int) -> Source | None:
    """The places in a script that saves its checkpoint on this line; None where it is another kind
    of script.
    """
    try:
        script = Script(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    saved = _saved(script, line)
    loads = [made for made in script.made if made.maker == _LOAD]
    names = {(made.name, script.scope(made.statement)) for made in loads}
    if saved is None or not saved.values or len(names) != 1:
        return None
    keys = [str(getattr(key, "value", "")) for key in saved.keys]
    return Source(
        script=script,
        saved=saved,
        held=dict(zip(keys, saved.values, strict=True)),
        loads=loads,
        behind=_behind(script, loads[-1]),
        parts=_parts(script),
    )


def _saved(script: Script, line: int) -> ast.Dict | None:
    """The dict that the call on a line saves."""
    for statement in script.index.statements_on(line):
        call = getattr(statement, "value", None)
        if isinstance(call, ast.Call) and script.name_of(call.func) == _SAVE:
            return _dict(script, call.args[0])
    return None


def _dict(script: Script, given: ast.expr | None) -> ast.Dict | None:
    """What an expression stands for, where that is a dict: written there, given to its name last
    above it, or handed to the function by the one call of it.
    """
    if isinstance(given, ast.Dict):
        return given
    if not isinstance(given, ast.Name):
        return None
    scope = script.scope(given)
    above = [
        one.value
        for one in script.index.of(ast.Assign)
        if last_line(one) < given.lineno and script.scope(one) is scope
        if ast.unparse(one.targets[0]) == given.id and isinstance(one.value, ast.Dict)
    ]
    if above:
        return above[-1]
    handed = script.calls_of(scope)
    if len(handed) != 1:
        return None
    return _dict(script, _argument(scope, handed[0], given.id))


def _argument(scope: Scope, call: ast.Call, name: str) -> ast.expr | None:
    """What a call gives to a parameter."""
    assert not isinstance(scope, ast.Module)
    names = [one.arg for one in scope.args.args if one.arg != "self"]
    by_place = dict(zip(names, call.args, strict=False))
    return by_place.get(name, next((one.value for one in call.keywords if one.arg == name), None))


def _behind(script: Script, load: Made) -> ast.stmt:
    """The last statement that loads a part from what was loaded, whatever way the loading took; the
    assignment where none does.
    """
    around = list(script.around(load.statement))
    beside = [one for one in script.index.of(ast.Expr) if script.holder(one) in around]
    texts = {ast.unparse(one): one for one in beside}
    loading = [one for text, one in texts.items() if _PART in text and f"{load.name}[" in text]
    return max(loading, key=last_line, default=load.statement)


def _parts(script: Script) -> dict[str, str]:
    """The last of the makers of a name that makes a part: `model = model.to(device)` is none."""
    bases = {
        f"{OWN}.{one.name}": " ".join(map(script.name_of, one.bases))
        for one in script.index.classes
    }
    kinds = [(made.name, _kind(bases.get(made.maker, made.maker))) for made in script.made]
    return {name: kind for name, kind in kinds if kind}


def _kind(maker: str) -> str:
    """The kind of part that a call makes; "" for anything else."""
    return next((kind for word, kind in _MAKERS if word in maker), "")
