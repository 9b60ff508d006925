"""How things are seeded: generators of the process, generators of one's own, loaders and their
workers. Patches, causes, the search and the fix of a resume take it from here.

Which calls of which libraries seed is in `reprocheck.scan.vocabulary`: that is what the scan reads,
and this is what fixes write.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from reprocheck.model import SourceLine
from reprocheck.model.statement import Statement
from reprocheck.model.statements.fixes import KeepOrder, SeedCall
from reprocheck.scan.checks import tables
from reprocheck.scan.checks.seed_values import MAKERS
from reprocheck.scan.names import last_part
from reprocheck.scan.vocabulary import names


@dataclass(frozen=True, kw_only=True, slots=True)
class Stream:
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


STREAMS = (
    Stream(
        name="python",
        titles=("Python's random",),
        module="random",
        seed="seed",
        draws="random",
        read="getstate()",
        write="setstate({})",
    ),
    Stream(
        name="numpy",
        titles=("NumPy",),
        module="numpy",
        seed="random.seed",
        draws="numpy.random",
        read="random.get_state()",
        write="random.set_state({})",
    ),
    Stream(
        name="torch",
        titles=("torch",),
        module="torch",
        seed="manual_seed",
        draws="torch",
        read="get_rng_state()",
        write="set_rng_state({}{})",
    ),
    Stream(
        name="cuda",
        titles=("the accelerator's generator",),
        module="torch",
        seed="manual_seed",
        read="cuda.get_rng_state_all()",
        write="cuda.set_rng_state_all({})",
    ),
    Stream(
        name="mindspore",
        titles=("MindSpore", "MindSpore's data pipeline"),
        module="mindspore",
        seed="set_seed",
        number="1",  # it takes no 0
    ),
    Stream(name="tensorflow", titles=("TensorFlow",), module="tensorflow", seed="random.set_seed"),
    Stream(name="keras", titles=("Keras",), module="keras", seed="utils.set_random_seed"),
)
BY_NAME = {stream.name: stream for stream in STREAMS}
BY_TITLE = {title: stream for stream in STREAMS for title in stream.titles}
TF_KERAS = Stream(
    name="keras", titles=("Keras",), module="tensorflow", seed="keras.utils.set_random_seed"
)
"""Keras of a program that has it from TensorFlow, which may be another one than `keras`."""

STATES = {
    "torch.Generator": ("{}.get_state()", "{}.set_state({{}})"),
    "random.Random": ("{}.getstate()", "{}.setstate({{}})"),
    "numpy.random.Generator": ("{}.bit_generator.state", "{}.bit_generator.state = {{}}"),
    "numpy.random.default_rng": ("{}.bit_generator.state", "{}.bit_generator.state = {{}}"),
}
"""Generators of one's own: how their state is read and set, by class or maker."""
MAKERS_WITH_SEED = {
    last_part(name): MAKERS[name]
    for name in (*names("generators", "from_system"), "keras.random.SeedGenerator")
}
"""What makes a generator of one's own, and the keyword of its seed, which comes first."""
WITH_NUMBER = {
    "seed": "manual_seed",
    "seed_all": "manual_seed_all",
    "from_non_deterministic_state": "from_seed",
}
"""Functions and methods that take no seed, each with the one beside it that does."""
PRIMITIVES = {
    "Dropout": ("Seed0", 1),
    "RandomChoiceWithMask": ("seed", 1),
    "bernoulli": ("seed", 2),
}
"""MindSpore's random primitives whose seed is not called `seed`, or is not their first argument:
the keyword of it, and its place.
"""

TORCH_GENERATOR = "{torch}.Generator().manual_seed(0)"
"""A generator for a loader or a split."""
DRAWN_SEED = "{torch}.randint(2**32, ()).item()"
"""A seed from the stream of torch, which is another one in each data worker and each epoch."""
WORKER_SEED = "{torch}.initial_seed()"
"""The number that torch gives each data worker: another one in each, and the same in each run where
the loader's generator is seeded.
"""

TAKE_A_SEED = frozenset(
    {
        *("manual_seed", "manual_seed_all", "seed", "seed_all", "set_seed", "set_random_seed"),
        *("seed_everything", "default_rng", "RandomState", "SeedSequence", "Random", "from_seed"),
        "PRNGKey",
    }
)
"""What takes a number as a seed, by the last part of its name."""


def seeds_from_system(name: str) -> bool:
    """Return whether a function without a number seeds a generator of the process from the
    operating system: `torch.seed`.
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
    each_time = Advice(hint=SeedCall(kind="each time"))
    if seen is not None and word:
        if _runs_often(tree, line.line):
            return each_time
        others = [keyword for keyword in seen.keywords if keyword.arg != word]
        seed = ast.keyword(arg=word, value=ast.Constant(0))
        seeded = ast.Call(func=seen.func, args=seen.args, keywords=[*others, seed])
        return Advice(fix=ast.unparse(seeded))
    if seen is not None and isinstance(seen.func, ast.Attribute):
        owner = ast.unparse(seen.func.value)
        return Advice(fix=f"{owner}.seed(0)  # before {ast.unparse(seen.func)}()")
    # the method of an object, which got its generator where it was made
    attributes = [call.func for call in calls if isinstance(call.func, ast.Attribute)]
    roots = {one: ast.unparse(one).partition(".")[0] for one in attributes}
    methods = [one for one in attributes if roots[one].isidentifier() and roots[one] not in modules]
    if methods:
        method = methods[-1]
        owner, call = ast.unparse(method.value), ast.unparse(method)
        return Advice(hint=SeedCall(kind="where its owner is made", call=call, owner=owner))
    if _runs_often(tree, line.line):
        return each_time
    return Advice(hint=SeedCall(kind="by an argument", call=ast.unparse(calls[0].func)))


def _calls_of(text: str) -> list[ast.Call]:
    """Return the calls of a line that holds a whole statement, or the head of one: the outermost
    first.
    """
    statement = text.strip()
    for whole in (statement, f"{statement} pass"):
        with suppress(SyntaxError):
            nodes = ast.walk(ast.parse(whole))
            return [node for node in nodes if isinstance(node, ast.Call)]
    return []


def _runs_often(tree: ast.AST, line: int) -> bool:
    """Return whether a line stands in a loop, or in a function of which nothing shows that it is
    called once.
    """
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
