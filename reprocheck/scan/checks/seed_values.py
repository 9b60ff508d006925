"""Seeds that are set, and are other numbers in each run, or none at all."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reprocheck.rules.catalogue import Severity
from reprocheck.scan.checks import entropy, streams, tables
from reprocheck.scan.checks.streams import at, every, given, is_none, short, title
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Store
from reprocheck.scan.values import Value

MAKERS = {
    "numpy.random.default_rng": "seed",
    "numpy.random.RandomState": "seed",
    "numpy.random.SeedSequence": "entropy",
    "numpy.random.PCG64": "seed",
    "numpy.random.MT19937": "seed",
    "numpy.random.Philox": "seed",
    "numpy.random.SFC64": "seed",
    "numpy.random.PCG64DXSM": "seed",
    "random.Random": "x",
    "jax.random.PRNGKey": "seed",
    "jax.random.key": "seed",
    "tensorflow.random.Generator.from_seed": "seed",
    "keras.random.SeedGenerator": "seed",
    "flax.nnx.Rngs": "default",
    "cupy.random.default_rng": "seed",
    "cupy.random.RandomState": "seed",
    "cupy.random.seed": "seed",
    "torch.Generator().manual_seed": "seed",
    "numpy.random.RandomState().seed": "seed",
    "random.Random().seed": "a",
}
"""Calls that are given the number of a generator of their own, and its keyword."""

_NUMBERS = ("random.", "numpy.random.", "torch.rand")
_KEYWORDS = ("seed", "random_state", "random_seed", "np_seed", "data_seed")
_ZERO = {
    "StandardNormal": (0, 1),
    "UniformReal": (0, 1),
    "UniformInt": (0, 1),
    "Gamma": (0, 1),
    "Poisson": (0, 1),
    "Multinomial": (0, 1),
    "StandardLaplace": (0, 1),
    "RandomPoisson": (0, 1),
    "RandomGamma": (0, 1),
    "TruncatedNormal": (0, 1),
    "ParameterizedTruncatedNormal": (0, 1),
    "RandomChoiceWithMask": (1, 2),
    "Dropout": (1, 2),
    "RandomShuffle": (0, 1),
}
"""MindSpore's random primitives that no global seed reaches, and where their two seeds stand."""


@check("RC402", "RC404", "RC503")
def changing_seed(module: Module, project: Project) -> Iterator[Hit]:
    """A seed from the clock, the process, the operating system, or an unseeded draw."""
    for order in module.orders:
        told: set[tuple[str, str]] = set()
        for call in every(order):
            for found in _seed(order, call):
                key = (found.evidence.get("source", str(id(found))), found.evidence.get("drawn_in", ""))
                if key not in told:
                    told.add(key)
                    yield found


@check("RC408")
def zero_seed(module: Module, project: Project) -> Iterator[Hit]:
    """A random primitive of MindSpore whose own seeds are 0: `set_seed` does not reach it."""
    for order in module.orders:
        for call in order.calls("mindspore.ops.*"):
            name = call.name.removeprefix("mindspore.ops.")
            if name == "bernoulli" and not given(call, "seed", 2):
                yield hit("RC408", call, "`mindspore.ops.bernoulli` without a seed of its own is not reached by `mindspore.set_seed`")
            elif name in _ZERO and not any(_is_number(call, place, words) for place, words in zip(_ZERO[name], _SEED_WORDS, strict=True)):
                yield hit(
                    "RC408", call, f"`mindspore.ops.{name}` with seed 0 takes a random one, and `mindspore.set_seed` does not reach it"
                )


@check("RC409")
def not_called(module: Module, project: Project) -> Iterator[Hit]:
    """`numpy.random.seed = 0`, and a seeding function that is named and not called."""
    table = tables.seeds()
    for order in module.orders:
        for store in order.stores():
            if store.name in table:
                message = f"this replaces the function `{store.name}` and seeds nothing; call it"
                yield hit("RC409", store, message, patchable=_is_simple(store))
    for node in module.nodes(ast.Expr):
        if isinstance(node.value, ast.Attribute | ast.Name):
            name = module.names.of(node.value)
            if name is not None and name in table and "." in name and not name.startswith("builtins"):
                message = f"`{name}` is named and not called: nothing is seeded"
                yield Hit(code="RC409", module=module, node=node.value, message=message, patchable=_takes_a_number(name, table.get(name)))


_SEED_WORDS = (("seed", "seed0", "Seed0"), ("seed2", "seed1", "Seed1"))


def _is_number(call: Call, place: int, words: tuple[str, ...]) -> bool:
    value = call.argument(place, *words)
    return value is not None and streams.spelt(value) not in ("0", "None")


def _takes_a_number(name: str, known: tables.Seeds | None) -> bool:
    return known is not None and bool(known.keyword) and "state" not in name.rpartition(".")[2] and "state" not in known.keyword


def _is_simple(store: Store) -> bool:
    """Whether the statement gives one function one whole number."""
    statement = store.module.statement_of(store.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or not isinstance(statement.value, ast.Constant):
        return False
    return isinstance(statement.value.value, int) and not isinstance(statement.value.value, bool)


def _seed(order: Order, call: Call) -> Iterator[Hit]:
    known = tables.seeds().get(call.name)
    if known is not None and known.without == "system" and is_none(call.argument(0, known.keyword or "seed")):
        if not _restores(call):
            yield _from_system(call)
        return
    for number in _numbers(call, known):
        found = entropy.inside(number)
        if found is not None and entropy.source(found) != "load":
            yield _from_entropy(call, number, found)
            return
        draw = _unseeded_draw(order, number)
        if draw is not None:
            name = title(frozenset({draw.draws.stream}))
            drawn = f"{short(draw.call.name)} ({at(draw.call, call.module)})"
            severity: Severity | None = "warning" if entropy.is_one_of_several(number) else None
            yield hit("RC402", call, f"the seed is drawn by {drawn}, and nothing seeds {name} before", severity=severity, source=drawn)
            return


def feeds_seed(order: Order, draw: Call) -> bool:
    """Whether a draw becomes a seed: then the seed is what is wrong."""
    return any(
        draw is made for call in every(order) for number in _numbers(call, tables.seeds().get(call.name)) for made in entropy.mixed(number)
    )


def _numbers(call: Call, known: tables.Seeds | None) -> Iterator[Value]:
    keyword = known.keyword if known is not None else MAKERS.get(call.name)
    if keyword:
        value = call.argument(0, keyword, "seed")
        if value is not None:
            yield value
        return
    if not call.own:
        yield from (call.keywords[word] for word in _KEYWORDS if word in call.keywords)


def _from_system(call: Call) -> Hit:
    if _by_loader(call):
        return hit("RC503", call, f"`{call.name}()` seeds each data worker from the operating system")
    without = "`None`" if call.arguments or call.keywords else "no number"
    return hit("RC402", call, f"`{call.name}` with {without} seeds from the operating system" if "seed" in call.name else call.name)


def _from_entropy(call: Call, number: Value, found: Call) -> Hit:
    kind = entropy.source(found)
    if _by_loader(call):
        return hit("RC503", call, f"each data worker is seeded from {entropy.described(found)}")
    severity: Severity | None = "warning" if entropy.is_one_of_several(number) else None
    code = "RC404" if kind == "process" else "RC402"
    return hit(
        code, call, f"the seed comes from {entropy.described(found)}", severity=severity, source=found.name, drawn_in=str(found.line)
    )


def _by_loader(call: Call) -> bool:
    return (
        call.by is not None
        and call.by.method.endswith("DataLoader")
        and "worker_init_fn" in call.by.keywords
        and "__getitem__" not in _function(call)
    )


def _function(call: Call) -> str:
    function = call.module.function_of(call.node)
    return function.name if function is not None else ""


def _restores(call: Call) -> bool:
    """A test or context manager that puts a generator back."""
    return _function(call).startswith(("test_", "tearDown", "__exit__"))


def _unseeded_draw(order: Order, number: Value) -> streams.Drawing | None:
    if not order.whole:
        return None
    made = {id(call) for call in entropy.mixed(number)}
    for drawing in streams.drawings(order):
        if (
            id(drawing.call) in made
            and drawing.call.name.startswith(_NUMBERS)
            and streams.seeded_before(order, drawing.call, drawing.streams) is None
        ):
            return drawing
    return None
