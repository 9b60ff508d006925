"""The text of a script that saves and loads what it had lost."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from reprocheck.resume.fix.source import Source, read
from reprocheck.resume.model import StateRungName

_KINDS: dict[StateRungName, tuple[str, ...]] = {
    "optimizer state": ("optimizer",),
    "hyper-parameters": ("scheduler", "scaler", "optimizer"),
}
"""What is saved for each rung."""


@dataclass(frozen=True, slots=True)
class _Generator:
    """How the state of a generator is read and set, by a module of the script."""

    module: str
    key: str
    get: str
    set: str


_GENERATORS = {
    "torch": _Generator("torch", "rng", "get_rng_state()", "set_rng_state"),
    "numpy": _Generator("numpy", "numpy_rng", "random.get_state()", "random.set_state"),
    "python": _Generator("random", "python_rng", "getstate()", "setstate"),
    "cuda": _Generator("torch", "cuda_rng", "cuda.get_rng_state_all()", "cuda.set_rng_state_all"),
}
_OBJECTS = ("numpy_rng",)
"""Keys of what `torch.load` reads only where it may read any object."""


@dataclass(frozen=True, slots=True)
class _Lost:
    """Something to save under a key, and the statement that loads it."""

    key: str
    value: str
    load: str


def patched(
    text: str, line: int, rungs: Collection[StateRungName], generators: Collection[str]
) -> str:
    """The text of a script that saves its checkpoint on a line, with what these rungs need saved
    and loaded; "" where that is not known, or all of it is there already.

    generators  those that are not what they were, such as `torch` or `cuda:0`
    """
    source = read(text, line)
    if source is None:
        return ""
    lost = [*_states(source, rungs)]
    if "RNG state" in rungs:
        lost += _random(source, generators)
    if not lost:
        return ""
    return _written(text, source, lost)


def _states(source: Source, rungs: Collection[StateRungName]) -> Iterator[_Lost]:
    kinds = {kind for rung in rungs for kind in _KINDS.get(rung, ())}
    for name, kind in source.parts.items():
        if kind in kinds and f"{name}.load_state_dict" not in source.called:
            key = _saved_as(source, f"{name}.state_dict()") or name.rpartition(".")[2]
            load = f'{name}.load_state_dict({source.loaded}["{key}"])'
            yield _Lost(key, f"{name}.state_dict()", load)


def _saved_as(source: Source, value: str) -> str:
    """The key under which something is saved already."""
    for key, held in zip(source.saved.keys, source.saved.values, strict=True):
        if isinstance(key, ast.Constant) and ast.unparse(held) == value:
            return str(key.value)
    return ""


def _random(source: Source, generators: Collection[str]) -> Iterator[_Lost]:
    wanted = dict.fromkeys(name.partition(":")[0] for name in generators)
    for one in (_GENERATORS[name] for name in wanted if name in _GENERATORS):
        module = source.modules.get(one.module)
        if module is not None and f"{module}.{one.set}" not in source.called:
            load = f'{module}.{one.set}({source.loaded}["{one.key}"])'
            yield _Lost(one.key, f"{module}.{one.get}", load)


# --------------------------------------------------------------------------------------- the text


@dataclass(frozen=True, slots=True)
class _Insertion:
    """Text that is put in behind a place: line from 1, bytes from its start."""

    line: int
    column: int
    text: str


def _written(text: str, source: Source, lost: Sequence[_Lost]) -> str:
    made = [_into_dict(text, source, lost), _behind_loads(text, source, lost)]
    if any(one.key in _OBJECTS for one in lost) and not _reads_objects(source.load):
        made.append(_behind_arguments(source.load))
    lines = text.splitlines(keepends=True)
    for one in sorted(made, key=lambda one: (one.line, one.column), reverse=True):
        data = lines[one.line - 1].encode()
        whole = data[: one.column] + one.text.encode() + data[one.column :]
        lines[one.line - 1] = whole.decode()
    return "".join(lines)


def _into_dict(text: str, source: Source, lost: Sequence[_Lost]) -> _Insertion:
    """Behind the last value, each on a line of its own where those are."""
    saved = source.saved
    last, key = saved.values[-1], saved.keys[-1]
    between = ", "
    if key is not None and key.lineno != saved.lineno:
        row = text.splitlines()[key.lineno - 1]
        between = ",\n" + row[: len(row) - len(row.lstrip())]
    new = [one for one in lost if not _saved_as(source, one.value)]
    said = "".join(f'{between}"{one.key}": {one.value}' for one in new)
    return _Insertion(last.end_lineno or 0, last.end_col_offset or 0, said)


def _behind_loads(text: str, source: Source, lost: Sequence[_Lost]) -> _Insertion:
    behind = source.behind
    indent = "\n" + " " * behind.col_offset
    said = "".join(f"{indent}{one.load}" for one in lost)
    line = behind.end_lineno or 0
    ended = text.splitlines()[line - 1]
    return _Insertion(line, len(ended.encode()), said)


def _reads_objects(load: ast.Call) -> bool:
    return any(keyword.arg == "weights_only" for keyword in load.keywords)


def _behind_arguments(load: ast.Call) -> _Insertion:
    given = [*load.args, *(keyword.value for keyword in load.keywords)][-1]
    return _Insertion(given.end_lineno or 0, given.end_col_offset or 0, ", weights_only=False")
