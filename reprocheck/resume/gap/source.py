"""What the source says of lines that no run tells of: where a number is counted, which keys of a
file are asked for, which loop trains.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from reprocheck.resume.gap.archive import words_of
from reprocheck.resume.gap.evidence import CounterGap
from reprocheck.resume.model import Archive, Frame
from reprocheck.scan.index import within
from reprocheck.scan.syntax import targets

Trees = Mapping[str, ast.Module]
"""Name of a file -> its tree."""
Place = tuple[str, int]
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def place_of(line: str) -> Place:
    """File and number of `file:line`."""
    file, _, number = line.rpartition(":")
    return file, int(number) if number.isdecimal() else 0


def counted_at(gap: CounterGap, archive: Archive, trees: Trees) -> str:
    """Return the line that counts a number, or gives it its first value; "" where none is known."""
    files = dict.fromkeys(place_of(one.line)[0] for one in (*archive.saving, *archive.training))
    names = [gap.name.rpartition(".")[2]]
    if gap.key:
        saved = (_value(trees[file], gap.key) for file in files if file in trees)
        names = [name for value in saved for name in _named(value)] or names
    for name in names:
        for file in files:
            for line in _assigned(trees[file], name) if file in trees else ():
                return f"{file}:{line}"
    return ""


def _value(tree: ast.Module, key: str) -> ast.expr | None:
    """Return what stands behind a key in a dict that is written there."""
    word = words_of(key)[-1]
    for node in within([tree], ast.Dict):
        for name, value in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == word:
                return value
    return None


def _named(value: ast.expr | Sequence[ast.expr] | None) -> Iterator[str]:
    """Yield the variables and attributes that an expression reads."""
    for node in within(value, ast.expr):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def _assigned(tree: ast.Module, name: str) -> list[int]:
    """Return the lines that give a variable a value, those of loops first."""
    loops = [(one.lineno, [one.target]) for one in within([tree], ast.For)]
    given = [(one.lineno, targets(one)) for one in within([tree], ast.Assign, ast.AnnAssign)]
    return [line for line, assigned in (*loops, *given) if name in _named(assigned)]


def asked_for(archive: Archive, trees: Trees) -> Iterator[tuple[str, str]]:
    """Yield the lines that ask a loaded file for a key that it does not hold, and the keys."""
    held = {words_of(entry.key)[0] for entry in archive.entries}
    for frame in archive.reading[:1]:
        file, line = place_of(frame.line)
        function = innermost(trees[file], line, _FUNCTIONS) if file in trees else None
        around = function or trees.get(file)
        loaded = (one for one in within(around, ast.Assign) if one.value.lineno == line)
        names = {ast.unparse(target) for one in loaded for target in one.targets}
        for node, key in sorted(keys_of(around, names), key=lambda one: one[0].lineno):
            if key not in held:
                yield f"{file}:{node.lineno}", key


def keys_of(around: ast.AST | None, names: set[str]) -> Iterator[tuple[ast.expr, str]]:
    """Yield the keys that variables are asked for: `state["a"]`, `state.get("a")`, `"a" in
    state`.
    """
    for node in within(around, ast.Subscript, ast.Compare, ast.Call):
        holder: ast.expr | None = None
        key: ast.expr | None = None
        if isinstance(node, ast.Subscript):
            holder, key = node.value, node.slice
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            holder, key = node.comparators[0], node.left
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            holder, key = node.func.value, node.args[0]
        if holder is None or ast.unparse(holder) not in names:
            continue
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield node, key.value


def innermost(tree: ast.AST, line: int, kinds: tuple[type[ast.AST], ...]) -> ast.AST | None:
    """Return the innermost of some statements that a line stands in."""
    found = [
        node
        for node in within([tree], *kinds)
        if getattr(node, "lineno", 0) <= line <= (getattr(node, "end_lineno", 0) or 0)
    ]
    return max(found, key=lambda node: getattr(node, "lineno", 0), default=None)


def loop_of(frames: Sequence[Frame], trees: Trees) -> str:
    """Return the line of the loop that trains: the innermost one around the functions under way."""
    for frame in frames:
        file, line = place_of(frame.line)
        loop = innermost(trees[file], line, _LOOPS) if file in trees else None
        if loop is not None:
            return f"{file}:{getattr(loop, 'lineno', 0)}"
    return ""
