"""Environments of reinforcement learning: their state and their spaces have generators of their
own, which no global seed reaches.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import filterfalse, islice

from reprocheck.language import tr
from reprocheck.scan import syntax
from reprocheck.scan.checks import display_draws, reach, streams
from reprocheck.scan.names import last_word
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit, check_programs, hit
from reprocheck.scan.steps import Call
from reprocheck.scan.values import UNKNOWN, is_none

_MAKERS = (
    r"(?:gymnasium|gym)\.(?:make|make_vec|vector\.make|vector\.SyncVectorEnv"
    r"|vector\.AsyncVectorEnv|wrappers\.[\w.]+)\(\)"
)
_RESET = re.compile(_MAKERS + r"\.reset")
_SAMPLE = re.compile(_MAKERS + r"(?:\.unwrapped|\.env)?\.(?:single_)?action_space\.sample")
_SPACE = re.compile(r"(?:^|_)space$")
_LEARNER = re.compile(
    r"(?:stable_baselines3|sb3_contrib)\.(?:[A-Z][A-Z0-9]+|RecurrentPPO|MaskablePPO)"
)
_PACKAGES = ("gymnasium", "gym", "stable_baselines3", "sb3_contrib")


def _trains_no_agent(order: Order) -> bool:
    """Return whether a program has no environments, or no training in which they could matter."""
    trains = streams.trains(order) or any(order.methods("learn", "train"))
    return not trains or not any(order.imports(*_PACKAGES))


@check_programs("RC407", unless=(_trains_no_agent,))
def unseeded_environments(order: Order) -> Iterator[Hit]:
    """Environments that are reset without a seed, and actions that are drawn from a space without
    one.
    """
    yield from _resets(order)
    yield from _samples(order)
    yield from _learners(order)


def _resets(order: Order) -> Iterator[Hit]:
    """Yield the first reset, where none is given a seed."""
    resets = list(_named(order.methods("reset"), _RESET))
    if not all(map(_is_unseeded, resets)):
        return
    reset = next(filterfalse(partial(reach.is_in_evaluation, order), resets), None)
    if reset is None or _has_seed(order, reset):
        return
    message = "the environment has its own generator, which the operating system seeds"
    yield hit(
        "RC407",
        reset,
        message,
        patchable=not reset.loops,
        seed_keyword="seed",
        by_hand=_fix_of_reset(reset),
    )


def _learners(order: Order) -> Iterator[Hit]:
    """Learners that seed their environment, their networks and the space of actions where they are
    given a seed, and only there.
    """
    learner = next(filter(_is_unseeded, _named(streams.every(order), _LEARNER)), None)
    if learner is None:
        return
    if _seeds_environment(order) and streams.seeded_anywhere(order, frozenset({"torch"})):
        return
    name = learner.method
    message = f"`{name}` seeds its environment and its networks only where it is given a `seed`"
    yield hit(
        "RC407",
        learner,
        message,
        patchable=True,
        seed_keyword="seed",
        by_hand=tr("Give `{name}` a seed: `{name}(…, seed=0)`.", name=name),
    )


def _named(calls: Iterable[Call], pattern: re.Pattern[str]) -> Iterator[Call]:
    """Return the calls with such names."""
    return (call for call in calls if pattern.fullmatch(call.name))


def _is_unseeded(call: Call) -> bool:
    """Return whether a call is surely given no seed by its keyword."""
    return is_none(call.argument(None, "seed"))


def _seeds_environment(order: Order) -> bool:
    """Return whether the program seeds an environment itself."""
    if not all(map(_is_unseeded, order.methods("reset", "make_vec_env"))):
        return True
    return any(call.arguments or "seed" in call.keywords for call in order.methods("seed"))


def _fix_of_reset(reset: Call) -> str:
    owner = _owner(reset)
    if not owner:
        return tr("Give the first `reset` a `seed`.")
    if reset.loops:
        return tr("Call `{owner}.reset(seed=0)` once before the loop.", owner=owner)
    return tr("Give the first `reset` a seed: `{owner}.reset(seed=0)`.", owner=owner)


def _has_seed(order: Order, reset: Call) -> bool:
    """Return whether an environment is seeded, or one that it wraps."""
    wrapped = islice((reset.receiver or UNKNOWN).origin(), _MOST_WRAPPED)
    return any(any(order.on(one, "seed")) for one in wrapped)


_MOST_WRAPPED = 20


def _samples(order: Order) -> Iterator[Hit]:
    """Yield the first action that is drawn, where no space is seeded."""
    samples = _named(order.methods("sample"), _SAMPLE)
    sample = next((one for one in samples if not display_draws.is_for_show(order, one)), None)
    if sample is None or any(map(_seeds_space, streams.closure(order))):
        return
    owner = _owner(sample) or "env.action_space"
    message = (
        "the space has its own generator, which the operating system seeds:"
        " `reset(seed=…)` does not reach it"
    )
    yield hit(
        "RC407",
        sample,
        message,
        patchable=False,
        fix=tr("Call `{owner}.seed(0)` once, before the first `sample`.", owner=owner),
    )


def _seeds_space(module: Module) -> bool:
    """`env.action_space.seed(…)` anywhere in the text of a module: a function that a library calls
    may hold it.
    """
    for call in module.index.calls:
        match call.func:
            case ast.Attribute(attr="seed", value=space) if _SPACE.search(last_word(space)):
                return True
    return False


def _owner(call: Call) -> str:
    """Return what a method is called on, as it is written; "" where that is no plain name."""
    owner = syntax.owner(call.node)
    if owner is None or not all(isinstance(part, _OF_NAMES) for part in ast.walk(owner)):
        return ""
    return ast.unparse(owner)


_OF_NAMES = (ast.Attribute, ast.Name, ast.expr_context)
