"""What is said of a gap: one sentence a gap, made last, of its evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reprocheck.language import count, listed
from reprocheck.model.statements.difference import THE_MODEL
from reprocheck.model.statements.inputs import INPUTS_OF
from reprocheck.resume.gap import evidence
from reprocheck.resume.gap.archive import Provenance, words_of
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.wording import say
from reprocheck.wording.ladder import terms

_NAMED = 3
"""Names that stand in a sentence; of more, their number."""

_WORDS_OF = {
    "torch": "PyTorch",
    "numpy": "NumPy",
    "python": "Python",
    "cuda": "CUDA",
    "jax": "JAX",
    "keras": "Keras",
    "mindspore": "MindSpore",
    "tensorflow": "TensorFlow",
}


def detail(gap: evidence.Gap, behind: str | None = None) -> str:
    """Return one sentence, without its full stop; `behind`: the rung that the gap follows from."""
    if isinstance(gap, evidence.StepGap) and behind is not None:
        return (
            f"`{terms.place(gap.place)}` is the first here that differs, behind the rung {behind}"
        )
    return _SAY[type(gap)](gap)


def custody(gap: evidence.Gap, origin: Provenance) -> str:
    """Say what became of a lost part between the checkpoint and the training; "" if unknown."""
    part = _saved_part(gap)
    is_rate = isinstance(gap, evidence.ScheduleGap) and gap.optimizer is not None
    if not part or (is_rate and origin.custody == "loaded"):
        return ""  # the script sets the rate itself
    keys = [f"`{'.'.join(words_of(key))}`" for key in dict.fromkeys(origin.keys) if key]
    under = f" under {listed(keys)}" if keys else ""
    if origin.custody == "not loaded":
        return f"the file holds {part}{under}, and nobody loads it"
    if origin.custody == "not saved":
        return f"the file does not hold {part}"
    if origin.other:
        return f"{part}{under} was loaded into another one than the one that trains"
    is_state = not isinstance(gap, evidence.GeneratorGap | evidence.BatchGap)
    if origin.custody == "loaded" and is_state:
        return f"{part}{under} was loaded, and is not that where the training goes on"
    return ""


def _saved_part(gap: evidence.Gap) -> str:
    """Say what the checkpoint has of a lost part; "" if nothing."""
    if isinstance(gap, evidence.BatchGap):
        gap = gap.generator or gap
    if isinstance(gap, evidence.GeneratorGap):
        return f"the state of {generator(gap.name)}"
    if isinstance(gap, (evidence.WeightsGap, evidence.AverageGap)):
        return _names(gap.names)
    if isinstance(gap, evidence.OptimizerGap):
        return "the optimizer's state"
    if not isinstance(gap, evidence.ScheduleGap):
        return ""
    if gap.optimizer is not None:
        return "the optimizer's state"
    return f"`{gap.place}`" if gap.own else f"the state of {gap.place}"


def place(gap: evidence.Gap) -> str:
    """Return the name of what differs first: a weight, a state, a value, a generator.

    "" for a batch.
    """
    if isinstance(gap, evidence.ScheduleGap):
        return f"{gap.place} {gap.name}".strip()
    if isinstance(gap, evidence.StepGap):
        return terms.place(gap.place)
    if isinstance(gap, evidence.CounterGap | evidence.GeneratorGap):
        return gap.name
    return str(next(iter(getattr(gap, "names", ())), ""))


def generator(name: str) -> str:
    """Return the name of a generator for a reader: `PyTorch's generator`."""
    if class_of(name):
        return f"the script's own generator {name}"
    base, _, device = name.partition(":")
    known = _WORDS_OF.get(base, base)
    if device:
        return f"the generator of {known}:{device}"
    return f"{known}'s generator"


def drawer(drawn_by: evidence.Drawer) -> str:
    """Say what draws from a generator."""
    place, class_ = drawn_by.place, drawn_by.class_
    if drawn_by.kind == "script":
        return "the script"
    if drawn_by.kind == "epoch":
        return f"the order of {place}"
    if place.startswith(INPUTS_OF):
        return f"`{place.removeprefix(INPUTS_OF)}`"
    if drawn_by.kind != "call" or not place:
        return terms.place(place or class_ or THE_MODEL)
    return f"`{place}` ({class_})"


def _of_weights(gap: evidence.WeightsGap) -> str:
    if gap.all_initial:
        loads = f"although {_names(gap.loaded)} was loaded" if gap.loaded else "nothing was loaded"
        return f"all weights are what they were before the first update: {loads}"
    sentence = _are_others(gap.names)
    if set(gap.initial) == set(gap.names):
        hold = "holds" if len(gap.names) == 1 else "hold"
        sentence = f"{_names(gap.names)} still {hold} the first values"
    if gap.missing:
        sentence += f"; the checkpoint that was loaded has no {'; '.join(gap.missing)}"
    return sentence


def _of_optimizer(gap: evidence.OptimizerGap) -> str:
    names = _names(gap.names)
    if gap.content == "missing":
        return f"the optimizer has lost {names}"
    if gap.content == "extra":
        return f"the optimizer holds {names}, which the continued run does not"
    if gap.content == "initial":
        differ = "differs" if len(gap.names) == 1 else "differ"
        return f"the optimizer begins anew: {names} {differ}, moments are zero"
    if gap.dtypes is not None:
        return f"{names} was {gap.dtypes[0]} and is {gap.dtypes[1]} after the resume"
    return _are_others(gap.names)


def _of_schedule(gap: evidence.ScheduleGap) -> str:
    if gap.values is None:
        return f"{gap.name or 'a value'} of {gap.place} is another one"
    was, now = gap.values
    return f"{gap.name or 'the value'} of {gap.place} was {was} and is {now} after the resume"


def _of_counter(gap: evidence.CounterGap) -> str:
    was, now = gap.values
    key = ".".join(words_of(gap.key))
    if gap.iteration:
        return (
            f"{count(gap.iteration, 'update')} later the checkpoint of the continued run holds"
            f" {was} under `{key}`, and that of the resumed run {now}"
        )
    held = f", which the file holds under `{key}`" if key else ""
    return f"`{gap.name}`{held} was {was}, and is {now} again after the resume"


def _of_generator(gap: evidence.GeneratorGap) -> str:
    drawn = f", and {drawer(gap.drawn_by)} draws from it" if gap.drawn_by else ""
    return f"{generator(gap.name)} {_stands(gap)}{drawn}"


def _stands(gap: evidence.GeneratorGap) -> str:
    apart = "stands in another state"
    if gap.ahead == 0:
        apart = "keeps another normal number for its next draw"
    elif gap.ahead is not None:
        apart = f"is {draws(abs(gap.ahead))} {'ahead' if gap.ahead > 0 else 'behind'}"
    back = f"was put back{f' by {gap.by}' if gap.by else ''}{_at(gap.line)}"
    if gap.of_rank is not None and gap.ahead_of_rank:
        ahead = draws(gap.ahead_of_rank)
        return f"{back} to the state of rank {gap.of_rank}, and is {ahead} ahead of that"
    if gap.of_rank is not None:
        return f"has the state of rank {gap.of_rank}"
    if gap.reseeded is not None:
        seed = gap.reseeded
        number = f" with {seed.seed}" if seed.seed is not None else ""
        by = f" by {seed.by}" if seed.by else ""
        return f"{back} and then seeded again{number}{by}{_at(seed.line)}"
    if gap.restored:
        is_ahead = gap.ahead is not None and gap.ahead >= 0
        return f"{back}, and {apart}" if is_ahead else f"{back} to another state: it {apart}"
    if gap.seed is None or gap.since is None or gap.since < 0:
        return f"was not put back: it {apart}"
    by = f" by {gap.seed.by}" if gap.seed.by else ""
    where = f" (set{_at(gap.seed.line)}{by})" if gap.seed.line else ""
    seed_set = f"the seed {gap.seed.seed}{where}"
    if not gap.since:
        return f"was not put back: it is back at {seed_set}"
    return f"was not put back: it stands {draws(gap.since)} after {seed_set}"


def draws(words: int) -> str:
    """Return a number of draws of 32 bits in words: two of them are one draw of 64 bits.

    >>> draws(2)
    'one 64-bit draw'
    """
    few = {1: "one 32-bit draw", 2: "one 64-bit draw"}
    return few.get(words, f"{words:,} 32-bit draws")


def _at(line: str) -> str:
    return f" at {line}" if line else ""


def _of_batch(gap: evidence.BatchGap) -> str:
    due = spot(gap.expected)
    if gap.passed_over:
        return f"the resumed run passed over {due} and ended by itself"
    if gap.ended:
        return f"the resumed run ended by itself before it came to {due}"
    if gap.content:
        return f"{due} has the same samples with other values"
    came = "samples in another order than any of the continued run"
    if gap.strange:
        came = "samples most of which the continued run never took"
    if gap.found is not None:
        at, due_at = gap.found.iteration, gap.expected.iteration
        came = spot(gap.found, again=at is not None and due_at is not None and at < due_at)
    counted = ""
    if gap.is_uneven:
        counted = f"; {_counted(gap.counts)}"
    # what was done to the generator that the order was drawn from
    drawn = ""
    if gap.of_its_own:
        drawn = (
            "; the order was drawn from the state that the loader's own generator had at the"
            " checkpoint, behind the draw of the order that was due"
        )
    elif gap.order_from is not None:
        drawn = f"; {_of_generator(gap.order_from)}, and the order was drawn from it"
    return f"instead of {due} came {came}{counted}{drawn}"


def _counted(counts: evidence.Counts | evidence.SharesGap) -> str:
    return f"of {counts.of} samples, seen twice: {counts.twice}, never seen: {counts.never}"


def _of_shares(gap: evidence.SharesGap) -> str:
    was, now = gap.ranks
    return (
        f"with {count(now, 'rank')} instead of {was}, the samples of all ranks together are not"
        f" those that were due: {_counted(gap)}"
    )


def spot(where: evidence.Spot, *, again: bool = False) -> str:
    """Return where a batch stands in the continued run, in words.

    >>> spot(evidence.Spot(1, 0, 0), again=True)
    'the first batch of epoch 0 again (iteration 1)'
    """
    once_more = " again" if again else ""
    if where.position is None or where.epoch is None:
        return f"the batch of iteration {where.iteration}{once_more}"
    which = "the first batch" if where.position == 0 else f"batch {where.position}"
    at = f" (iteration {where.iteration})" if where.iteration is not None else ""
    return f"{which} of epoch {where.epoch}{once_more}{at}"


def _names(names: Sequence[str]) -> str:
    if len(names) > _NAMED:
        return f"{names[0]} and {len(names) - 1} more"
    return ", ".join(names)


def _are_others(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is not what it was at the checkpoint"
    return f"{_names(names)} are not what they were at the checkpoint"


_SAY: Mapping[type, Callable[[Any], str]] = {
    evidence.WeightsGap: _of_weights,
    evidence.AttributeGap: lambda gap: f"{_are_others(gap.names)}, and in no state_dict",
    evidence.OptimizerGap: _of_optimizer,
    evidence.ScheduleGap: _of_schedule,
    evidence.AverageGap: lambda gap: _are_others(gap.names),
    evidence.CounterGap: _of_counter,
    evidence.GeneratorGap: _of_generator,
    evidence.BatchGap: _of_batch,
    evidence.SharesGap: _of_shares,
    evidence.StepGap: lambda gap: say(gap.statement).rstrip("."),
}
