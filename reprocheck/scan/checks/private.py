"""Generators of one's own that nobody seeds: no global seed reaches them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from reprocheck.scan.checks import beside, entropy, hyper, seed_values
from reprocheck.scan.checks.streams import every, is_none, seeded_before
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module, Project
from reprocheck.scan.registry import Hit, check, hit
from reprocheck.scan.steps import Call, Step, Store
from reprocheck.scan.values import Constant, Value

_SEEDED = {
    "numpy.random.default_rng": "seed",
    "numpy.random.RandomState": "seed",
    "numpy.random.SeedSequence": "entropy",
    "numpy.random.PCG64": "seed",
    "numpy.random.MT19937": "seed",
    "numpy.random.Philox": "seed",
    "numpy.random.SFC64": "seed",
    "numpy.random.PCG64DXSM": "seed",
    "random.Random": "x",
    "cupy.random.default_rng": "seed",
    "cupy.random.RandomState": "seed",
}
_SYSTEM = frozenset(
    {
        "random.SystemRandom",
        "secrets.SystemRandom",
        "tensorflow.random.Generator.from_non_deterministic_state",
    }
)
_RESEEDS = ("manual_seed", "set_state", "seed", "setstate", "reset_from_seed", "reset")
_ORDERS = frozenset(
    {
        "shuffle",
        "permutation",
        "permuted",
        "randperm",
        "RandomSampler",
        "SubsetRandomSampler",
        "WeightedRandomSampler",
        "DataLoader",
        "random_split",
    }
)
_WEIGHTS = (
    "torch.nn.Parameter",
    "torch.nn.init.*",
    "mindspore.Parameter",
    "keras.Variable",
    "tensorflow.Variable",
)
_SAMPLES = frozenset(
    {"__getitem__", "__getitems__", "collate_fn", "collate", "augment", "transform"}
)
_LOADERS = ("DataLoader", "map", "GeneratorDataset")
_LAYERS = frozenset({"forward", "construct", "call", "__call__", "training_step", "loss"})
_LAYER_BASES = re.compile(r"Module|Layer|Cell|Loss|Model|Block|Net|Dropout")
_HOOKS = frozenset(
    {
        "register_hook",
        "register_full_backward_hook",
        "register_post_accumulate_grad_hook",
        "register_backward_hook",
    }
)
WORDS = {
    "RC502": "an order is drawn from it",
    "RC504": "samples are made with it",
    "RC601": "a layer draws from it",
    "RC705": "gradients are changed with it",
    "RC802": "gradients are changed with it",
    "RC304": "weights are drawn from it",
    "RC407": "",
}
_SCAN_DEPTH = 400
_BY_WEIGHT = ("RC705", "RC802", "RC502", "RC504", "RC601", "RC304")


@check("RC304", "RC407", "RC502", "RC504", "RC601", "RC705", "RC802")
def unseeded_generators(module: Module, project: Project) -> Iterator[Hit]:
    """A generator object that starts from the operating system, by what it is used for."""
    for order in module.orders:
        for call, value in _unseeded(order):
            if (
                (not order.whole and _takes_a_variable(call))
                or _is_fallback(order, call)
                or _is_reseeded(order, call, value)
                or _is_for_others(order, value)
                or _is_for_seeds(order, value)
            ):
                continue
            code = _purpose(order, call, value)
            said = WORDS[code]
            where = (
                "always draws from the operating system"
                if "System" in call.name
                else "starts from the operating system"
            )
            yield hit(code, call, f"`{_shown(call)}` {where}{', and ' + said if said else ''}")


@check("RC504")
def unseeded_libraries(module: Module, project: Project) -> Iterator[Hit]:
    """Augmentation pipelines with generators of their own."""
    for order in module.orders:
        if order.whole:
            for call in order.calls(
                "albumentations.Compose", "albumentations.core.composition.Compose"
            ):
                if (
                    is_none(call.argument(None, "seed"))
                    and not call.open
                    and next(order.methods("set_random_seed"), None) is None
                ):
                    message = (
                        "this pipeline has a generator of its own; recent versions of"
                        " albumentations take no global seed, only `seed=`"
                    )
                    said = "Give the pipeline a seed of its own: `Compose(…, seed=0)`."
                    yield hit(
                        "RC504",
                        call,
                        message,
                        severity="warning",
                        seed_keyword="seed",
                        by_hand=said,
                    )


def _unseeded(order: Order) -> Iterator[tuple[Call, Value]]:
    for call in every(order):
        if call.name in _SYSTEM or (
            call.name in _SEEDED
            and not call.open
            and is_none(call.argument(0, _SEEDED[call.name], "seed"))
        ):
            yield call, call.result
        elif (
            call.name in ("torch.Generator().seed", "torch.cuda.Generator().seed")
            and call.receiver is not None
        ):
            yield call, call.receiver
        elif (
            order.whole
            and call.name == "keras.random.SeedGenerator"
            and _starts_from_system(order, call)
        ):
            yield call, call.result


def _starts_from_system(order: Order, call: Call) -> bool:
    """A generator of Keras without a seed takes one from Python's generator."""
    return (
        is_none(call.argument(0, "seed"))
        and seeded_before(order, call, frozenset({"keras"})) is None
    )


def _shown(call: Call) -> str:
    return f"{call.name.replace('numpy.', 'np.')}()"


def _takes_a_variable(call: Call) -> bool:
    """`default_rng(seed)` where `seed` is None by default: in a library that is left to callers."""
    given = (
        [*call.node.args, *(keyword.value for keyword in call.node.keywords)]
        if isinstance(call.node, ast.Call)
        else []
    )
    return any(not isinstance(node, ast.Constant) for node in given)


def _is_reseeded(order: Order, call: Call, value: Value) -> bool:
    """Whether it gets a seed or a state after all."""
    if "System" in call.name:
        return False
    if _is_reseeded_in_text(call):
        return True
    later = any(
        (one.arguments or one.keywords) and order.is_before(call, one) and one is not call
        for one in order.on(value, *_RESEEDS)
    )
    return later or any(
        isinstance(step, Store) and step.name.endswith((".state", ".bit_generator.state"))
        for step in islice(order.uses(value), 50)
    )


def _is_reseeded_in_text(call: Call) -> bool:
    """`self._rng.seed(number)` in another method of the same module."""
    statement = call.module.statement_of(call.node)
    names = (
        {target.attr for target in statement.targets if isinstance(target, ast.Attribute)}
        if isinstance(statement, ast.Assign)
        else set()
    )
    for node in call.module.index.calls if names else ():
        if (
            node is not call.node
            and node.args
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _RESEEDS
        ):
            held = node.func.value
            if isinstance(held, ast.Attribute) and held.attr in names:
                return True
    return False


def _is_for_others(order: Order, value: Value) -> bool:
    """Whether all that is drawn from it is how long to wait, a port, a name, or what is shown."""
    draws = list(order.on(value))
    return bool(draws) and all(
        _is_pause(draw) or hyper.is_for_others(draw) or beside.is_for_show(draw) for draw in draws
    )


def _is_for_seeds(order: Order, value: Value) -> bool:
    """Whether all that is drawn from it become seeds that are found to come from the operating
    system.
    """
    draws = list(order.on(value))
    return bool(draws) and all(
        entropy.source(draw) is not None and seed_values.feeds_seed(order, draw) for draw in draws
    )


def _is_pause(draw: Call) -> bool:
    parent = draw.module.parent(draw.node)
    return isinstance(parent, ast.Call) and (draw.module.names.of(parent.func) or "") in (
        "time.sleep",
        "asyncio.sleep",
    )


def _is_fallback(order: Order, call: Call) -> bool:
    """Whether it is taken only where a caller passes none: `rng or default_rng()`, `if rng is
    None`.
    """
    if not order.whole and (
        any(_asks_for_none(condition.test) for condition in call.conditions)
        or _is_in_fallback(call)
    ):
        return True
    at: ast.AST | None = call.module.parent(call.node)
    child: ast.AST = call.node
    while at is not None and not isinstance(at, ast.stmt):
        if isinstance(at, ast.BoolOp) and at.values[0] is not child:
            return not (order.whole and _is_surely_none(order, at.values[0]))
        if isinstance(at, ast.IfExp) and at.test is not child:
            return not order.whole or bool(call.conditions)
        child, at = at, call.module.parent(at)
    return order.whole and any(_asks_for_none(condition.test) for condition in call.conditions)


def _is_in_fallback(call: Call) -> bool:
    """Whether it stands in an `if` that asks for None: what callers pass is not known."""
    at = call.module.parent(call.node)
    while at is not None and not isinstance(
        at, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module
    ):
        if isinstance(at, ast.If) and _asks_for_none(at.test):
            return True
        at = call.module.parent(at)
    return False


def _is_surely_none(order: Order, node: ast.AST) -> bool:
    value = order.value_of(node)
    return isinstance(value, Constant) and value.value is None


def _asks_for_none(test: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Constant) and part.value is None for part in ast.walk(test)
    ) or isinstance(test, ast.UnaryOp | ast.Name | ast.Attribute)


def _purpose(order: Order, call: Call, value: Value) -> str:
    """What it is used for, by the first use that tells."""
    codes = {code for step in order.uses(value) if (code := _use(step)) is not None}
    codes |= {code for code in _uses_in_text(call) if code is not None}
    if not codes:
        codes = {
            code
            for step in islice(order.flow(value), _SCAN_DEPTH)
            if (code := _late_use(step)) is not None
        }
    return next((code for code in _BY_WEIGHT if code in codes), "RC407")


def _use(step: Step) -> str | None:
    """The use of the generator itself: what is called on it or with it, and in which function."""
    if isinstance(step, Call) and step.method in _ORDERS:
        return "RC502"
    return _late_use(step)


def _late_use(step: Step) -> str | None:
    """The use of what was drawn from it."""
    if step.by is not None and step.by.method in _HOOKS:
        return "RC705"
    if (isinstance(step, Store) and step.name.endswith(".grad")) or _changes_gradient(step):
        return "RC802"
    if step.by is not None and step.by.method in _LOADERS:
        return "RC504"
    if (code := _by_function(step.module, step.node)) is not None:
        return code
    return "RC304" if isinstance(step, Call) and step.named(*_WEIGHTS) else None


def _by_function(module: Module, node: ast.AST) -> str | None:
    function = module.function_of(node)
    inside = function.name if function is not None else ""
    if inside == "backward":
        return "RC705"
    if inside in _SAMPLES:
        return "RC504"
    if inside == "__iter__":
        return "RC502" if "Sampler" in _bases(module, node) else "RC504"
    if inside == "__call__" and not _LAYER_BASES.search(_bases(module, node)):
        return None
    return "RC601" if inside in _LAYERS else None


def _bases(module: Module, node: ast.AST) -> str:
    """The bases of the class around a node, as text."""
    at = module.parent(node)
    while at is not None and not isinstance(at, ast.ClassDef):
        at = module.parent(at)
    return " ".join(ast.unparse(base) for base in at.bases) if isinstance(at, ast.ClassDef) else ""


def _uses_in_text(call: Call) -> Iterator[str | None]:
    """Uses in functions that a library calls: by the name of the variable or attribute that it is
    assigned to.
    """
    statement = call.module.statement_of(call.node)
    targets = (
        statement.targets
        if isinstance(statement, ast.Assign) and statement.value is call.node
        else []
    )
    if (
        call.name.endswith("().seed")
        and isinstance(call.node, ast.Call)
        and isinstance(call.node.func, ast.Attribute)
    ):
        targets = [call.node.func.value]
    names = {
        target.attr if isinstance(target, ast.Attribute) else target.id
        for target in targets
        if isinstance(target, ast.Attribute | ast.Name)
    }
    for function in call.module.index.functions if names else []:
        if function.name in _SAMPLES | _LAYERS | {"backward", "__iter__"}:
            for part in ast.walk(function):
                if (
                    isinstance(part, ast.Attribute | ast.Name)
                    and (part.attr if isinstance(part, ast.Attribute) else part.id) in names
                ):
                    yield _by_function(call.module, part)
                    break


def _changes_gradient(step: Step) -> bool:
    statement = step.module.statement_of(step.node)
    if isinstance(statement, ast.AugAssign):
        return _is_gradient(statement.target)
    return isinstance(statement, ast.Assign) and any(map(_is_gradient, statement.targets))


def _is_gradient(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == "grad"
