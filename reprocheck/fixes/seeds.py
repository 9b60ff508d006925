"""List how things are seeded.

Generators of the process, generators of one's own, loaders and their workers. Patches, causes, the
search and the fix of a resume take it from here.

The table is `reprocheck.scan.vocabulary/seeds.toml`: the scan reads what calls seed, and fixes what
to write.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec

from reprocheck.model import SourceLine
from reprocheck.model.statement import Statement
from reprocheck.model.statements.fixes import KeepOrder, SeedCall
from reprocheck.scan.checks import tables
from reprocheck.scan.names import last_part
from reprocheck.scan.vocabulary import rows, words


class Stream(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A generator of the process.

    name         the name of the generator in the ladder
    titles       the names that findings of the scan give its streams
    module       the module to import
    seed         the function of the module that seeds
    number       the seed to use if the program has none
    draws        the module whose functions draw from the generator, if lines that draw are recorded
    read, write  what reads its state in the module, and what sets it, with `{}` for the value; a
                 second `{}` stands for the code that moves the value to the host
    """

    name: str
    titles: tuple[str, ...]
    module: str
    seed: str
    number: str = "0"
    draws: str = ""
    read: str = ""
    write: str = ""

    @property
    def call(self) -> str:
        """The call that seeds the generator: `numpy.random.seed(0)`."""
        return f"{self.module}.{self.seed}({self.number})"


class State(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the state of a generator of one's own is read and set, by its class or maker."""

    calls: str
    read: str
    write: str


STREAMS = tuple(rows("seeds", "stream", list[Stream]))
BY_NAME = {stream.name: stream for stream in STREAMS}
BY_TITLE = {title: stream for stream in STREAMS for title in stream.titles}
TF_KERAS = Stream(
    name="keras", titles=("Keras",), module="tensorflow", seed="keras.utils.set_random_seed"
)
"""Keras of a program that has it from TensorFlow, which may be another one than `keras`."""

STATES = {
    name: (row.read, row.write)
    for row in rows("seeds", "state", list[State])
    for name in row.calls.split()
}
"""Generators of one's own: how their state is read and set, by class or maker."""
MAKERS_WITH_SEED = {
    last_part(name): row.keyword
    for name, row in tables.makers().items()
    if row.without in ("system", "stream")
}
"""What makes a generator of one's own, and the keyword of its seed, which comes first."""
_SEEDING: tuple[tables.Seeds | tables.Maker, ...] = (
    *rows("seeds", "seed", list[tables.Seeds]),
    *tables.makers().values(),
)
WITH_NUMBER = {
    last_part(name): last_part(row.instead)
    for row in _SEEDING
    for name in row.calls.split()
    if row.instead
}
"""Functions and methods that take no seed, each with the one beside it that does."""
PRIMITIVES = {name: (row.keyword, row.position) for name, row in tables.primitives().items()}
"""MindSpore's random primitives: the keyword of their seed, and its place."""

TORCH_GENERATOR = "{torch}.Generator().manual_seed(0)"
"""A generator for a loader or a split."""
DRAWN_SEED = "{torch}.randint(2**32, ()).item()"
"""A seed from the stream of torch, which is another one in each data worker and each epoch."""
WORKER_SEED = "{torch}.initial_seed()"
"""The number that torch gives each data worker: another one in each, and the same in each run where
the loader's generator is seeded.
"""

TAKE_A_SEED = words("seeds", "take_a_seed")
"""What takes a number as a seed, by the last part of its name."""


def seeds_from_system(name: str) -> bool:
    """Return whether a function without a number seeds from the operating system: `torch.seed`.

    It seeds a generator of the process.
    """
    known = tables.seeds().get(name)
    return known is not None and known.without == "system"


_REPEATING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.For, ast.While),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Advice:
    """How a generator made on a line gets a seed; empty if the cause's own fix says it.

    fix   code to paste
    hint  what to look for, if nothing shows how a library takes a seed
    """

    fix: str = ""
    hint: Statement | None = None


NO_ADVICE = Advice()
_SEED_EACH_TIME = Advice(hint=SeedCall(kind="each time"))


def keep_order(argument: str) -> Advice:
    """Return what to do if a call returns its rows in another order each time."""
    return Advice(hint=KeepOrder(argument=argument))


def seeded_call(line: SourceLine, tree: ast.AST, takes: str, modules: Collection[str]) -> Advice:
    """Return how the call of a line gets a seed.

    tree     the syntax tree of the file
    takes    how a call of the line was seen to take a seed: `reset(seed)` by an argument,
             `sample.seed` by a method of the same object; "" if none was seen
    modules  names that imports bind in the file
    """
    calls = _calls_of(line.text)
    if not calls:
        return NO_ADVICE
    called, _, word = takes.rstrip(")").partition("(")
    # `default_rng` of `np.random.default_rng`
    by_name = {ast.unparse(call.func).rpartition(".")[2]: call for call in reversed(calls)}
    seen = by_name.get(called.partition(".")[0])
    if seen is not None and word:
        if _runs_often(tree, line.line):
            return _SEED_EACH_TIME
        others = [keyword for keyword in seen.keywords if keyword.arg != word]
        seed = ast.keyword(arg=word, value=ast.Constant(0))
        seeded = ast.Call(func=seen.func, args=seen.args, keywords=[*others, seed])
        return Advice(fix=ast.unparse(seeded))
    if seen is not None and isinstance(seen.func, ast.Attribute):
        owner = ast.unparse(seen.func.value)
        return Advice(fix=f"{owner}.seed(0)  # before {ast.unparse(seen.func)}()")
    # the method of an object, which got its generator where it was made
    for call in reversed(calls):
        method = ast.unparse(call.func)
        root = method.partition(".")[0]
        if isinstance(call.func, ast.Attribute) and root.isidentifier() and root not in modules:
            owner = ast.unparse(call.func.value)
            return Advice(hint=SeedCall(kind="where its owner is made", call=method, owner=owner))
    if _runs_often(tree, line.line):
        return _SEED_EACH_TIME
    return Advice(hint=SeedCall(kind="by an argument", call=ast.unparse(calls[0].func)))


def _calls_of(text: str) -> list[ast.Call]:
    """Return the calls of a line that holds a statement or its head, the outermost first."""
    statement = text.strip()
    for whole in (statement, f"{statement} pass"):
        with suppress(SyntaxError):
            nodes = ast.walk(ast.parse(whole))
            return [node for node in nodes if isinstance(node, ast.Call)]
    return []


def _runs_often(tree: ast.AST, line: int) -> bool:
    """Return whether a line stands in a loop, or in a function that may be called often."""
    nodes = list(ast.walk(tree))
    repeating = [node for node in nodes if isinstance(node, _REPEATING)]
    for node in repeating:
        is_around = node.lineno < line <= (node.end_lineno or 0)
        if is_around and not _is_called_once(node, nodes, repeating):
            return True
    return False


def _is_called_once(
    function: ast.stmt | ast.expr,
    nodes: Sequence[ast.AST],
    repeating: Sequence[ast.stmt | ast.expr],
) -> bool:
    """Return whether a function is called at one place only, outside of functions and loops."""
    name = getattr(function, "name", "")
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    calls = [node.func for node in nodes if isinstance(node, ast.Call) and node.func in uses]
    if len(uses) != 1 or calls != uses:
        return False
    line = uses[0].lineno
    return not any(node.lineno <= line <= (node.end_lineno or 0) for node in repeating)
