"""Where the seed of a training comes from: its command, its parser, or the first call that seeds.

Pure functions of the command, of what a run recorded, and of the user's sources.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from reprocheck.model import EntryPoint, SourceLine
from reprocheck.model.seeds import SeedingCall, SeedOrigin
from reprocheck.settings.must_differ import FIRST_SEED, OTHER_SEED, PLACEHOLDER, is_seed, with_seed

Text = Callable[[str], str | None]
"""Returns the text of a user's file by its name; None where it is not known."""


def origin_of(
    entry: EntryPoint, calls: Sequence[SeedingCall], text: Text
) -> tuple[SeedOrigin, EntryPoint] | None:
    """Return the origin of the seed, and the entry point that has another one in its command.

    None if nothing was found.

    calls  that seeded generators in run 1, and what a parser read
    """
    command = entry.command
    if any(PLACEHOLDER in word for word in command):
        origin = SeedOrigin(
            kind="placeholder", name=PLACEHOLDER, value=FIRST_SEED, other=OTHER_SEED
        )
        return origin, replace(entry, command=with_seed(command, OTHER_SEED))
    for place, name, value in _arguments(command):
        other = str(int(value) + 1)
        words = list(command)
        words[place] = f"{words[place].removesuffix(value)}{other}"
        origin = SeedOrigin(kind="argument", name=name, value=value, other=other)
        return origin, replace(entry, command=tuple(words))
    origins = (_parsed(calls), _first_call(calls, text))
    return next(((origin, entry) for origin in origins if origin is not None), None)


def _arguments(command: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the arguments that give a seed: the place of the value, the name, the value.

    The shortest name comes first: `seed` before `trainer.seed`.
    """
    found = []
    for place, word in enumerate(command[1:], 1):
        name, equals, value = word.partition("=")
        at = place
        if not equals and word.startswith("-") and place + 1 < len(command):
            at, value = place + 1, command[place + 1]
        if is_seed(name) and value.isdecimal():
            found.append((at, name, value))
    yield from sorted(found, key=lambda one: one[1].count("."))


def _parsed(calls: Sequence[SeedingCall]) -> SeedOrigin | None:
    parsed = next((call for call in calls if not call.number), None)
    if parsed is None:
        return None
    return SeedOrigin(
        kind="parsed",
        name=parsed.what,
        value=parsed.value,
        other=_next(parsed.value),
        source=parsed.source,
    )


def _first_call(calls: Sequence[SeedingCall], text: Text) -> SeedOrigin | None:
    """Return the first call that seeds, with all calls that are given the same seed.

    A call for a generator that nothing has seeded before, with the same number, belongs to it; so
    does one that is given the same variable. Later calls for the same generator do not.
    """
    seeding = [call for call in calls if call.number]
    if not seeding:
        return None
    first = seeding[0]
    names = _variables(first, text)
    seeded = set(first.generators)
    together = [first.number]
    for call in seeding[1:]:
        same_line = call.source is not None and call.source == first.source
        is_new = seeded.isdisjoint(call.generators) and call.value == first.value
        if same_line or is_new or names & _variables(call, text):
            together.append(call.number)
        seeded.update(call.generators)
    return SeedOrigin(
        kind="call",
        name=first.what,
        value=first.value,
        other=_next(first.value),
        source=first.source,
        calls=tuple(together),
    )


def _next(value: str) -> str:
    """Return what the recorder makes of a seed."""
    return str(int(value) + 1) if value.lstrip("-").isdecimal() else f"{value}1"


def _variables(call: SeedingCall, text: Text) -> set[tuple[str, str]]:
    """Return the variables that stand in the arguments of a call: its file, and `args.seed`."""
    found: set[tuple[str, str]] = set()
    for line in filter(None, {call.source, call.inner}):
        for node in _calls_at(line, text):
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                found.update((line.file, name) for name in _names(argument))
    return found


def _names(expression: ast.expr) -> Iterator[str]:
    """Yield the variables of an expression, whole: `args.seed`, and not `args`."""
    if isinstance(expression, ast.Attribute | ast.Name | ast.Subscript):
        yield ast.unparse(expression)
        return
    if isinstance(expression, ast.Call):
        expressions = [*expression.args, *(keyword.value for keyword in expression.keywords)]
    else:
        expressions = [one for one in ast.iter_child_nodes(expression) if isinstance(one, ast.expr)]
    for one in expressions:
        yield from _names(one)


def _calls_at(line: SourceLine, text: Text) -> Iterator[ast.Call]:
    """Yield the calls that stand on a line."""
    for node in ast.walk(_tree(line.file, text)):
        if isinstance(node, ast.Call) and node.lineno <= line.line <= (node.end_lineno or 0):
            yield node


def _tree(file: str, text: Text) -> ast.AST:
    try:
        return ast.parse(text(file) or "")
    except (SyntaxError, ValueError):
        return ast.Module(body=[], type_ignores=[])


def set_at(call: SeedingCall, text: Text) -> SourceLine | None:
    """Return the line that gives a setting the seed as a number: `data_seed=42` in a call.

    None if there is no such line in the file of the call.
    """
    name = call.setting.rpartition(".")[2]
    if not name or call.source is None:
        return None
    for node in ast.walk(_tree(call.source.file, text)):
        if not isinstance(node, ast.keyword) or node.arg != name:
            continue
        if isinstance(node.value, ast.Constant) and str(node.value.value) == call.value:
            return SourceLine(file=call.source.file, line=node.lineno)
    return None
