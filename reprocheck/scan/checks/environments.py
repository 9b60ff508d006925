"""Find unseeded reinforcement learning environments: no global seed reaches their generators."""

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


def trains_no_agent(order: Order) -> bool:
    """Return whether a program has no environments, or no training in which they could matter."""
    trains = streams.trains(order) or any(order.methods("learn", "train"))
    return not trains or not any(order.imports(*_PACKAGES))


@check_programs("RC407", unless=(trains_no_agent,))
def unseeded_environments(order: Order) -> Iterator[Hit]:
    """Find environments that are reset without a seed, and actions that are drawn from a space
    without one.
    """
    resets = list(_named(order.methods("reset"), _RESET))
    reset = next(filterfalse(partial(reach.is_in_evaluation, order), resets), None)
    if reset is not None and all(map(_is_unseeded, resets)):
        # an environment, or one that it wraps, may be seeded
        wrapped = islice((reset.receiver or UNKNOWN).origin(), _MOST_WRAPPED)
        if not any(any(order.on(environment, "seed")) for environment in wrapped):
            yield _reset_hit(reset)
    samples = _named(order.methods("sample"), _SAMPLE)
    sample = next((one for one in samples if not display_draws.is_for_show(order, one)), None)
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
    """Find learners (as `PPO`) without a seed: with `seed=`, a learner seeds its environment, its
    networks and its action space.
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
    """Return whether the text of a module has `env.action_space.seed(…)` anywhere, because a
    function that a library calls may hold this line.
    """
    for call in module.index.calls:
        match call.func:
            case ast.Attribute(attr="seed", value=space) if _SPACE.search(last_word(space)):
                return True
    return False


def _owner(call: Call) -> str:
    """Return the object on which a method is called, as written (`env` of `env.reset()`); "" if
    this is no plain name.
    """
    owner = syntax.owner(call.node)
    if owner is None or not all(isinstance(part, _OF_NAMES) for part in ast.walk(owner)):
        return ""
    return ast.unparse(owner)


_OF_NAMES = (ast.Attribute, ast.Name, ast.expr_context)
