"""Find in the source what no run tells.

Where a number is counted, which keys of a file are asked for, which loop trains.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from reprocheck.resume.checkpoint_contents import Archive, Frame
from reprocheck.resume.gap.archive import Provenance, words_of
from reprocheck.resume.gap.evidence import BatchGap, CounterGap, Gap, GeneratorGap
from reprocheck.resume.model import Role
from reprocheck.scan.index import within
from reprocheck.scan.syntax import targets

Trees = Mapping[str, ast.Module]
"""Name of a file -> its tree."""
Place = tuple[str, int]
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def place_of(line: str) -> Place:
    """Return file and number of `file:line`."""
    file, _, number = line.rpartition(":")
    return file, int(number) if number.isdecimal() else 0


def counted_at(gap: CounterGap, archive: Archive, trees: Trees) -> str:
    """Return the line that counts a number, or gives it its first value; "" if unknown."""
    frames = (*archive.saving, *archive.training)
    files = dict.fromkeys(place_of(frame.line)[0] for frame in frames)
    known = {file: trees[file] for file in files if file in trees}
    names = [gap.name.rpartition(".")[2]]
    if gap.key:  # what is saved under that key, in a dict that is written there
        values = (_value(tree, words_of(gap.key)[-1]) for tree in known.values())
        names = list(chain.from_iterable(map(_named, values))) or names
    for name in names:
        for file, tree in known.items():
            for line, assigned in _assigned(tree):
                if name in _named(assigned):
                    return f"{file}:{line}"
    return ""


def _assigned(tree: ast.Module) -> Iterator[tuple[int, Sequence[ast.expr]]]:
    """Yield line and targets of the loops, then of the assignments."""
    for loop in within([tree], ast.For):
        yield loop.lineno, [loop.target]
    for assignment in within([tree], ast.Assign, ast.AnnAssign):
        yield assignment.lineno, targets(assignment)


def _value(tree: ast.Module, word: str) -> ast.expr | None:
    """Return the value of a key in a dict literal."""
    for node in within([tree], ast.Dict):
        for name, value in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == word:
                return value
    return None


def _named(value: ast.expr | Sequence[ast.expr] | None) -> list[str]:
    """Return the variables and attributes that an expression reads."""
    names = (getattr(node, "attr", getattr(node, "id", "")) for node in within(value, ast.expr))
    return [name for name in names if name]


def asked_for(archive: Archive, trees: Trees) -> Iterator[str]:
    """Yield the lines that ask a loaded checkpoint for a key that it does not hold."""
    held = {words_of(entry.key)[0] for entry in archive.entries}
    for frame in archive.reading[:1]:
        file, line = place_of(frame.line)
        function = innermost(trees[file], line, _FUNCTIONS) if file in trees else None
        around = function or trees.get(file)
        loads = [one for one in within(around, ast.Assign) if one.value.lineno == line]
        names = {ast.unparse(target) for one in loads for target in one.targets}
        missing = [node.lineno for node, key in keys_of(around, names) if key not in held]
        yield from (f"{file}:{line}" for line in sorted(missing))


def keys_of(around: ast.AST | None, names: set[str]) -> Iterator[tuple[ast.expr, str]]:
    """Yield the keys that variables are asked for.

    As in `state["a"]`, `state.get("a")` and `"a" in state`.
    """
    for node in within(around, ast.Subscript, ast.Compare, ast.Call):
        match node:
            case ast.Subscript(value=holder, slice=ast.Constant(value=str(key))):
                pass
            case ast.Compare(ast.Constant(str(key)), [ast.In(), *_], [holder, *_]):
                pass
            case ast.Call(ast.Attribute(value=holder), [ast.Constant(str(key)), *_]):
                pass
            case _:
                continue
        if ast.unparse(holder) in names:
            yield node, key


def innermost(tree: ast.AST, line: int, kinds: tuple[type[ast.stmt], ...]) -> ast.stmt | None:
    """Return the innermost of some statements that a line stands in."""
    around = [one for one in within([tree], *kinds) if one.lineno <= line <= (one.end_lineno or 0)]
    return max(around, key=lambda one: one.lineno, default=None)


def loop_of(frames: Sequence[Frame], trees: Trees) -> str:
    """Return the line of the loop that trains: the innermost one around the executing functions."""
    for frame in frames:
        file, line = place_of(frame.line)
        loop = innermost(trees[file], line, _LOOPS) if file in trees else None
        if loop is not None:
            return f"{file}:{loop.lineno}"
    return ""


Line = tuple[Role, str]


def lines_of(
    gap: Gap, origin: Provenance, archive: Archive, saved_at: str, trees: Trees
) -> list[Line]:
    """Return the lines of the script that a lost state is about, the most telling first.

    saved_at  the line that saved the checkpoint, if the content of the checkpoint is unknown
    trees     the syntax trees of the files of the script
    """
    reading = archive.reading[0].line if archive.reading else ""
    saves: Line = ("saves", archive.saving[0].line if archive.saving else saved_at)
    reads: Line = ("reads", archive.opened.get(origin.file, reading))
    generator = gap.generator if isinstance(gap, BatchGap) else gap
    lines: list[Line] = []
    # in front of those that save and read the checkpoint
    if isinstance(generator, GeneratorGap):
        lines += _restoring(generator)
    elif isinstance(gap, BatchGap):
        lines += () if gap.is_passed_over_wrongly else [saves]
        lines.append(("passes", gap.line or loop_of(archive.training, trees)))
    elif origin.custody == "loaded":
        lines.append(("loads", origin.line))
    lines += (reads, saves) if origin.custody == "not loaded" else (saves, reads)
    if isinstance(generator, GeneratorGap) and generator.seed is not None:
        lines.append(("seeds", generator.seed.line))
    if isinstance(gap, CounterGap):
        lines.append(("counts", counted_at(gap, archive, trees)))
    if origin.custody == "not loaded":
        lines += (("asks for", line) for line in asked_for(archive, trees))
    roles: dict[str, Role] = {}
    for role, line in lines:
        if line:
            roles.setdefault(line, role)
    return [(role, line) for line, role in roles.items()]


def _restoring(generator: GeneratorGap) -> Iterator[Line]:
    """Yield the lines that put a generator back, and that seeded it again after that."""
    if not generator.restored:
        return
    if generator.reseeded is not None:
        yield "seeds", generator.reseeded.line
    yield "puts back", generator.line
