"""Find how often a place in the code runs, and in which processes.

One fixed seed there may make streams equal that must differ.

The result is evidence for a patch, by name; none for a place that runs once, in one process:

    repeats  `often`; `copied` if the generator made there is copied into the workers of a loader;
             `apart` if it is not known what differs from one time to the next
    torch    what seeds torch before the place: the `program`, or a line that may be added to
             this `file`
    ranks    `yes` if several processes run the program
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace

from reprocheck.language import mark, tr
from reprocheck.rules import Entry
from reprocheck.scan.checks import streams
from reprocheck.scan.checks.private_generators import SAMPLES, is_drawn_in_samples
from reprocheck.scan.index import of_kind, within
from reprocheck.scan.memo import kept
from reprocheck.scan.order import Order
from reprocheck.scan.project import Module
from reprocheck.scan.registry import Hit
from reprocheck.scan.steps import Call, Step
from reprocheck.scan.values import literal
from reprocheck.scan.vocabulary import names, words

_TORCH = frozenset({"torch"})
_RANKS = names("ranks", "processes")
_OF_LAUNCHERS = words("ranks", "variables")
_AT_THE_TOP = words("patches", "at_the_top")
_NUMBERED = words("patches", "numbered")
_SEED_KEYWORDS = names("patches", "seed_keywords")
_PROCESSES = re.compile(r"multiprocess|ProcessPool|loky|joblib")
_WORKERS = 5
"""The position of the number of workers among the arguments of a loader."""
_BY_RANK = mark("Seed it with a number and the rank, so that each rank draws from its own stream.")
_ADVICE = {
    "copied": mark(
        "Make it in the data worker, with a seed from `torch.initial_seed()`, so that each worker"
        " and epoch has a stream of its own."
    ),
    "often": mark(
        "Draw a seed for it from the seeded generator of the program each time it is made, so that"
        " the streams stay apart."
    ),
    "apart": mark(
        "Give it another seed each time it is made, such as a number with an index, so that the"
        " streams stay apart."
    ),
}
"""What to do by hand, by how the place repeats."""


def with_repetition(order: Order, hit: Hit, entry: Entry) -> Hit:
    """Return a hit with evidence how often its place runs, if a patch would write a seed there."""
    step = hit.step
    if not entry.patch or step is None:
        return hit
    takes_seed = hit.evidence.get("seed_keyword") in _SEED_KEYWORDS
    if hit.code in _AT_THE_TOP and not takes_seed:
        # A hit whose fix seeds the whole program: of several ranks it is not known which draws are
        # to be alike in all of them
        if not has_ranks(order):
            return hit
        said = tr("where ranks are to draw apart, add the rank to the number")
        return replace(hit, patchable=False, evidence={"unsure": said, **hit.evidence})
    if hit.code not in _NUMBERED | _AT_THE_TOP:
        return hit
    evidence = dict(_repetition(order, hit.code, step))
    if has_ranks(order):
        evidence["ranks"] = "yes"
    if "ranks" in evidence:
        advice = {"by_hand": tr(_BY_RANK)}
    elif "repeats" in evidence:
        advice = {"by_hand": tr(_ADVICE[evidence["repeats"]])}
    else:
        advice = {}
    return replace(hit, evidence={**evidence, **advice, **hit.evidence})


@kept
def has_ranks(order: Order) -> bool:
    """Return whether several processes may run the program, or one function of the program."""
    if any(order.calls(*_RANKS)):
        return True
    return any(map(_reads_a_rank, streams.closure(order)))


@kept
def _reads_a_rank(module: Module) -> bool:
    constants = within(module.tree, ast.Constant)
    return any(one.value in _OF_LAUNCHERS for one in constants if isinstance(one.value, str))


def _repetition(order: Order, code: str, step: Step) -> Mapping[str, str]:
    """Return the evidence how often a place runs, and what seeds torch before it.

    Under `repeats` and `torch`.
    """
    if not order.whole and step.function_name not in ("", "main"):
        return {"repeats": "apart"}
    steps = order.at(step.module, step.node)
    copies = [_copied_by(order, code, call) for call in of_kind(steps, Call)]
    for copying in filter(None, copies):
        return {"repeats": "copied", "torch": _seeds_torch(order, copying)}
    if len(steps) == 1 and step.happens_once:
        return {}
    if not all(one.by is None or _is_loader(one.by) for one in steps):
        return {"repeats": "apart"}
    return {"repeats": "often", "torch": _seeds_torch(order, step.by or step)}


def _seeds_torch(order: Order, step: Step) -> str:
    """Return what seeds torch before a step: the `program`, or a new line of this `file`.

    "" if neither does, or the program does not use torch.
    """
    if not any(module.uses_package("torch") for module in streams.closure(order)):
        return ""
    if streams.seeded_before(order, step, _TORCH) is not None:
        return "program"
    if order.whole and step.module is order.root:
        return "file"
    return ""


def _copied_by(order: Order, code: str, call: Call) -> Call | None:
    """Return the call by which data workers get a copy of a generator.

    The call that starts the workers, or the given call if the program shows no use of the generator
    in its samples.
    """
    value = call.result
    if call.receiver is not None and call.method == "seed":
        value = call.receiver
    uses = list(order.uses(value))
    drivers = [one.by for one in uses if one.by is not None and one.by is not call.by]
    if call.by is None and any(map(_makes_sample, uses)):
        # a use is followed once: a loader may come to the same one later
        drivers += streams.every(order)
    elif call.by is None and code == "RC504" and is_drawn_in_samples(call):
        return call
    return next(filter(_has_workers, drivers), None)


def _makes_sample(step: Step) -> bool:
    """Return whether a step stands in a function that makes samples, as `__getitem__`."""
    around = (module.function_of(node) for module, node in step.places)
    return any(getattr(one, "name", "") in SAMPLES for one in around)


def _is_loader(call: Call) -> bool:
    """Return whether a call makes a data loader of torch, which seeds torch in each worker."""
    return call.method.endswith("Loader") and call.name.startswith("torch")


def _has_workers(call: Call) -> bool:
    """Return whether other processes run, or may run, the functions that a call gets."""
    if _is_loader(call):
        workers = call.argument(_WORKERS, "num_workers")
        return call.open or (workers is not None and literal(workers) != 0)
    given = any(_PROCESSES.search(word) for word in call.keywords)
    return given or _PROCESSES.search(call.name) is not None
