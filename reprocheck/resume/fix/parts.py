"""Parts of a training that a script does not save, or does not load: modules, optimizers,
schedulers and scalers.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from reprocheck.resume.fix import edits
from reprocheck.resume.fix.draft import Draft
from reprocheck.resume.model import StateRungName

_KINDS: dict[StateRungName, tuple[str, ...]] = {
    "weights": ("module",),
    "optimizer state": ("optimizer",),
    "hyper-parameters": ("scheduler", "scaler", "optimizer"),
}
"""What is saved for each rung."""
_WHOLE, _LOAD = ".state_dict()", ".load_state_dict"


def add(draft: Draft, rungs: Collection[StateRungName]) -> None:
    """Saves and loads what a script lacks of these rungs."""
    source = draft.source
    kinds = {kind for rung in rungs for kind in _KINDS.get(rung, ())}
    for name, kind in source.parts.items():
        if kind not in kinds:
            continue
        if name + _LOAD not in source.script.called:
            _save_and_load(draft, name)
        elif kind == "module":
            _save_all_of(draft, name)


def _save_and_load(draft: Draft, name: str) -> None:
    source = draft.source
    key = source.saved_as(name + _WHOLE, name.rpartition(".")[2])
    draft.save(key, name + _WHOLE)
    draft.load(f'{name}{_LOAD}({source.loaded}["{key}"])')


def _save_all_of(draft: Draft, name: str) -> None:
    """All of a module in place of what the script chooses of it."""
    loads = [
        one for one in draft.source.script.index.calls if ast.unparse(one.func) == name + _LOAD
    ]
    given = {ast.unparse(one.args[0]) for one in loads if one.args}
    for key, value in draft.source.held.items():
        is_loaded = f"{draft.source.loaded}[{key!r}]" in given
        if is_loaded and not ast.unparse(value).endswith(_WHOLE):
            draft.edits.append(edits.instead(value, name + _WHOLE))
