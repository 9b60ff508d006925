"""Find generators that the program does not seed, and that no global seed reaches.

Objects, and environments of reinforcement learning.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import filterfalse, islice, pairwise

from reprocheck.language import tr
from reprocheck.scan import syntax
from reprocheck.scan.checks import (
    entropy,
    hyper,
    other_programs,
    seed_values,
    streams,
    tables,
    training,
)
from reprocheck.scan.checks.streams import every, seeded_before
from reprocheck.scan.index import within
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit, check_orders, check_programs, hit
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import UNKNOWN, Value, is_none
from reprocheck.scan.vocabulary import names, pattern, words

_STATES = (".state", ".bit_generator.state")
_PIPELINES = ("albumentations.Compose", "albumentations.core.composition.Compose")
_RESEEDS = names("generators", "reseeds")
_ORDERS = words("generators", "orders")
_WEIGHTS = names("generators", "weights")
SAMPLES = words("generators", "samples")
_LOADERS = names("generators", "loaders")
_LAYERS = words("generators", "layers")
_LAYER_BASES = re.compile(r"Module|Layer|Cell|Loss|Model|Block|Net|Dropout")
HOOKS = words("generators", "hooks")
WORDS = {
    "RC502": "an order is drawn from it",
    "RC504": "samples are made with it",
    "RC601": "a layer draws from it",
    "RC705": "gradients are changed with it",
    "RC802": "gradients are changed with it",
    "RC304": "weights are drawn from it",
    "RC407": "",
}
_BY_FUNCTION = {
    "backward": "RC705",
    "__iter__": "RC504",
    **dict.fromkeys(SAMPLES, "RC504"),
    **dict.fromkeys(_LAYERS, "RC601"),
}
"""What a generator is for that is used in a function of such a name."""
_SCAN_DEPTH = 400
_BY_WEIGHT = names("generators", "by_weight")


@dataclass(frozen=True, slots=True)
class _Generator:
    """A generator object that a call makes without a seed, so that OS entropy seeds it."""

    order: Order
    call: Call
    value: Value

    @property
    def is_system(self) -> bool:
        """Return whether every number is OS entropy, as of `random.SystemRandom`."""
        return "System" in self.call.name

    @property
    def shown(self) -> str:
        """Return the call as messages show it: `np.random.default_rng()`."""
        return f"{self.call.name.replace('numpy.', 'np.')}()"


@check_orders("RC304", "RC407", "RC502", "RC504", "RC601", "RC705", "RC802")
def unseeded_generators(order: Order) -> Iterator[Hit]:
    """Find generator objects that OS entropy seeds; their use decides the rule that they break."""
    for made in _unseeded(order):
        if any(excuses(made) for excuses in _EXCUSES):
            continue
        # by the first use that tells: of the generator itself, else of what was drawn from it
        uses = list(order.uses(made.value))
        codes = {"RC502" for use in uses if use.method in _ORDERS}
        others = [use for use in uses if use.method not in _ORDERS]
        purposes = {*codes, *map(_late_use, others), *_uses_in_text(made.call)}
        if purposes <= {None}:
            purposes = set(map(_late_use, islice(order.flow(made.value), _SCAN_DEPTH)))
        code = next(filter(purposes.__contains__, _BY_WEIGHT), "RC407")
        message = _STARTS[made.is_system].format(name=made.shown)
        if WORDS[code]:
            message = f"{message}, and {WORDS[code]}"
        yield hit(code, made.call, message)


_STARTS = {
    True: "`{name}` always draws from the operating system",
    False: "`{name}` starts from the operating system",
}


_OF_CHECKS = pattern("generators", "of_checks")


def seeds_pipelines(order: Order) -> bool:
    """Return whether a pipeline of augmentations is seeded by its `set_random_seed`.

    Functions of frameworks with this name do not count.
    """
    calls = order.methods("set_random_seed")
    return any(tables.seeds().get(call.name) is None for call in calls)


@check_programs("RC504", unless=(seeds_pipelines,))
def unseeded_libraries(order: Order) -> Iterator[Hit]:
    """Find augmentation pipelines (albumentations) with a generator of their own and no seed."""
    for call in order.calls(*_PIPELINES):
        if is_none(call.argument(None, "seed")) and not _OF_CHECKS.search(call.function_name):
            message = (
                "this pipeline has its own generator; recent versions of albumentations take"
                " no global seed, only `seed=`"
            )
            yield hit(
                "RC504",
                call,
                message,
                severity="warning",
                seed_keyword="seed",
                by_hand=tr("Give the pipeline its own seed: `Compose(…, seed=0)`."),
            )


def unseeded(order: Order) -> Iterator[tuple[Call, Value]]:
    """Yield each call by which OS entropy seeds a generator, with the generator.

    Calls to which the callers of a library may pass a seed are left out.
    """
    for made in _unseeded(order):
        if not _is_left_to_callers(made):
            yield made.call, made.value


def _unseeded(order: Order) -> Iterator[_Generator]:
    for call in every(order):
        maker = tables.makers().get(call.name)
        if maker is None or not _starts_from_system(order, call, maker):
            continue
        generator: Value | None = call.result
        if call.name.endswith("().seed"):
            generator = call.receiver
        if generator is not None:
            yield _Generator(order, call, generator)


def _starts_from_system(order: Order, call: Call, maker: tables.Maker) -> bool:
    if maker.without == "always":
        return True
    if maker.without == "required" or not is_none(call.argument(0, maker.keyword, "seed")):
        return False
    if maker.without == "system":
        return True
    return order.whole and seeded_before(order, call, frozenset({maker.stream})) is None


def _is_left_to_callers(made: _Generator) -> bool:
    """Return whether a library leaves the seed to its callers, with `seed=None` as default.

    An example is `default_rng(seed)`.
    """
    given = syntax.given(made.call.node)
    is_fixed = all(isinstance(node, ast.Constant) for node in given)
    return not is_fixed and not made.order.whole


def is_reseeded(made: _Generator) -> bool:
    """Return whether a generator gets a seed or a state later on."""
    if made.is_system:
        return False
    call = made.call
    names = syntax.attributes(syntax.targets(call.statement))
    for node in call.module.index.calls if names else ():
        match node:
            # `self._rng.seed(number)` in another method of the same module
            case ast.Call(
                func=ast.Attribute(attr=method, value=ast.Attribute(attr=attribute)), args=[_, *_]
            ) if node is not call.node:
                if attribute in names and method in _RESEEDS:
                    return True
    calls = made.order.on(made.value, *_RESEEDS)
    later = [one for one in calls if made.order.is_before(made.call, one)]
    if any((*one.arguments, *one.keywords) for one in later):
        return True
    uses = islice(made.order.uses(made.value), 50)
    return any(step.stored.endswith(_STATES) for step in uses)


def is_for_others(made: _Generator) -> bool:
    """Return whether all draws of a generator only decide a wait, a port, a name, or a show."""

    def changes_no_training(draw: Call) -> bool:
        is_beside = hyper.is_pause(draw) or hyper.is_for_others(draw)
        return is_beside or other_programs.is_for_show(made.order, draw)

    return syntax.are_all(made.order.on(made.value), changes_no_training)


def is_for_seeds(made: _Generator) -> bool:
    """Return whether all draws of a generator become seeds, which another rule reports."""

    def feeds(draw: Call) -> bool:
        is_entropy = entropy.source(draw) is not None
        return is_entropy and seed_values.feeds_seed(made.order, draw)

    return syntax.are_all(made.order.on(made.value), feeds)


def is_fallback(made: _Generator) -> bool:
    """Return whether a generator is only made if a caller passes none.

    `rng or default_rng()`, `if rng is None`
    """
    order, call = made.order, made.call
    # It may be made where it is first asked for: nothing but None is ever assigned to the
    # attribute of the object beside it.
    names = syntax.attributes(_holders(call))
    assigns = within(call.module.class_of(call.node), ast.Assign)
    others = [one for one in assigns if names & syntax.attributes(one.targets)]
    values = [one.value for one in others if one is not call.statement]
    if names and all(isinstance(one, ast.Constant) and one.value is None for one in values):
        return False
    # the nearest expression around it that takes it only where something else decides so
    choice: ast.AST | None = None
    for child, outer in pairwise([call.node, *call.module.expressions_around(call.node)]):
        match outer:
            case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first) if first is not child:
                choice = outer
                break
    is_asked = any(_asks_for_none(condition.test) for condition in call.conditions)
    if not order.whole:
        return choice is not None or is_asked or is_in_fallback(call)
    match choice:
        case ast.BoolOp(values=[first, *_]):
            return not is_none(order.value_of(first))
        case ast.IfExp():
            return bool(call.conditions)
    return is_asked


def is_in_fallback(call: Call) -> bool:
    """Return whether a call stands in an `if` that asks for None: callers may pass a value."""
    for node in call.module.around(call.node):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            break
        if isinstance(node, ast.If) and _asks_for_none(node.test):
            return True
    return False


def _asks_for_none(test: ast.AST) -> bool:
    is_truth = isinstance(test, ast.UnaryOp | ast.Name | ast.Attribute)
    return is_truth or syntax.holds_none(test)


_EXCUSES = (_is_left_to_callers, is_fallback, is_reseeded, is_for_others, is_for_seeds)
"""Why a generator that starts from the operating system changes nothing."""


def _late_use(step: Step) -> str | None:
    """Return the code of the rule that a use of a generator breaks, as RC504 for samples.

    None if no rule is known.
    """
    if step.driver in HOOKS:
        return "RC705"
    if step.stored.endswith(".grad") or "grad" in syntax.attributes(syntax.changed(step.statement)):
        return "RC802"
    if step.driver in _LOADERS:
        return "RC504"
    code = _by_function(step.module, step.node)
    if code is None and step.named(*_WEIGHTS):
        return "RC304"
    return code


def _by_function(module: Module, node: ast.AST) -> str | None:
    """Return the code of the rule that a use of a generator breaks.

    The function and the class around the use decide.
    """
    name = getattr(module.function_of(node), "name", "")
    if name == "__iter__" and "Sampler" in _bases(module, node):
        return "RC502"
    if name == "__call__" and not _LAYER_BASES.search(_bases(module, node)):
        return None
    return _BY_FUNCTION.get(name)


def _bases(module: Module, node: ast.AST) -> str:
    """Return the base classes of the class around a node, as text."""
    bases = getattr(module.class_of(node), "bases", ())
    return " ".join(map(ast.unparse, bases))


def _uses_in_text(call: Call) -> Iterator[str | None]:
    """Yield rule codes of uses of a generator in functions that a library calls.

    An example is `__getitem__`.

    Such a use mentions the variable or attribute that the generator is assigned to.
    """
    names = set(map(last_word, _holders(call))) - {""}
    for function in call.module.index.functions:
        if function.name in _BY_FUNCTION:
            uses = (part for part in ast.walk(function) if last_word(part) in names)
            yield from (_by_function(call.module, part) for part in islice(uses, 1))


def is_drawn_in_samples(call: Call) -> bool:
    """Return whether a function that makes samples mentions the generator of a call.

    An example is `__getitem__`; local variables of other functions do not count.
    """
    is_inside = call.module.function_of(call.node) is not None
    if is_inside and not syntax.attributes(_holders(call)):
        return False
    return "RC504" in _uses_in_text(call)


def _holders(call: Call) -> list[ast.expr]:
    """Return the variables and attributes to which the text assigns a generator."""
    generator = syntax.owner(call.node)
    if generator is not None and call.name.endswith("().seed"):
        return [generator]
    match call.statement:
        case ast.Assign(targets=targets, value=value) if value is call.node:
            return targets
    return []


_MAKERS = (
    r"(?:gymnasium|gym)\.(?:make|make_vec|vector\.make|vector\.SyncVectorEnv"
    r"|vector\.AsyncVectorEnv|wrappers\.[\w.]+)\(\)"
)
_RESET = re.compile(_MAKERS + r"\.reset")
_SAMPLE = re.compile(_MAKERS + r"(?:\.unwrapped|\.env)?\.(?:single_)?action_space\.sample")
_SPACE = re.compile(r"(?:^|_)space$")
_LEARNER = pattern("generators", "learner")
_PACKAGES = names("generators", "packages")


def trains_no_agent(order: Order) -> bool:
    """Return whether a program has no environments, or no training in which they could matter."""
    trains = streams.trains(order) or any(order.methods("learn", "train"))
    return not trains or not any(order.imports(*_PACKAGES))


@check_programs("RC407", unless=(trains_no_agent,))
def unseeded_environments(order: Order) -> Iterator[Hit]:
    """Find environments that are reset without a seed, and actions drawn without one.

    Actions are drawn from a space.
    """
    resets = list(_named(order.methods("reset"), _RESET))
    reset = next(filterfalse(partial(training.is_in_evaluation, order), resets), None)
    if reset is not None and all(map(_is_unseeded, resets)):
        # an environment, or one that it wraps, may be seeded
        wrapped = islice((reset.receiver or UNKNOWN).origin(), _MOST_WRAPPED)
        if not any(any(order.on(environment, "seed")) for environment in wrapped):
            yield _reset_hit(reset)
    samples = _named(order.methods("sample"), _SAMPLE)
    sample = next((one for one in samples if not other_programs.is_for_show(order, one)), None)
    if sample is not None and not any(map(_seeds_space, streams.closure(order))):
        owner = _owner(sample) or "env.action_space"
        message = (
            "the space has its own generator, which the operating system seeds:"
            " `reset(seed=…)` does not reach it"
        )
        fix = tr("Call `{owner}.seed(0)` once, before the first `sample`.", owner=owner)
        yield hit("RC407", sample, message, patchable=False, fix=fix)


@check_programs("RC407", unless=(trains_no_agent,))
def unseeded_learners(order: Order) -> Iterator[Hit]:
    """Find learners (as `PPO`) without a seed.

    With `seed=`, a learner seeds its environment, its networks and its action space.
    """
    learner = next(filter(_is_unseeded, _named(streams.every(order), _LEARNER)), None)
    if learner is None:
        return
    seeds_environment = not all(map(_is_unseeded, order.methods("reset", "make_vec_env"))) or any(
        call.arguments or "seed" in call.keywords for call in order.methods("seed")
    )
    if seeds_environment and streams.seeded_anywhere(order, frozenset({"torch"})):
        return
    name = learner.method
    message = f"`{name}` seeds its environment and its networks only where it is given a `seed`"
    by_hand = tr("Give `{name}` a seed: `{name}(…, seed=0)`.", name=name)
    yield hit("RC407", learner, message, patchable=True, seed_keyword="seed", by_hand=by_hand)


def _reset_hit(reset: Call) -> Hit:
    message = "the environment has its own generator, which the operating system seeds"
    owner = _owner(reset)
    if not owner:
        by_hand = tr("Give the first `reset` a `seed`.")
    elif reset.loops:
        by_hand = tr("Call `{owner}.reset(seed=0)` once before the loop.", owner=owner)
    else:
        by_hand = tr("Give the first `reset` a seed: `{owner}.reset(seed=0)`.", owner=owner)
    patchable = not reset.loops
    return hit("RC407", reset, message, patchable=patchable, seed_keyword="seed", by_hand=by_hand)


def _named(calls: Iterable[Call], pattern: re.Pattern[str]) -> Iterator[Call]:
    """Return the calls whose full name matches a pattern."""
    return (call for call in calls if pattern.fullmatch(call.name))


def _is_unseeded(call: Call) -> bool:
    """Return whether a call surely gets no keyword `seed`, or `seed=None`."""
    return is_none(call.argument(None, "seed"))


_MOST_WRAPPED = 20


def _seeds_space(module: Module) -> bool:
    """Return whether a module has `env.action_space.seed(…)` anywhere.

    A function that a library calls may hold this line.
    """
    for call in module.index.calls:
        match call.func:
            case ast.Attribute(attr="seed", value=space) if _SPACE.search(last_word(space)):
                return True
    return False


def _owner(call: Call) -> str:
    """Return the object on which a method is called, as written (`env` of `env.reset()`).

    "" if this is no plain name.
    """
    owner = syntax.owner(call.node)
    if owner is None or not all(isinstance(part, _OF_NAMES) for part in ast.walk(owner)):
        return ""
    return ast.unparse(owner)


_OF_NAMES = (ast.Attribute, ast.Name, ast.expr_context)
