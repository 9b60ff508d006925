"""What a script counts, its steps above all: where the resumed run counts from the beginning again.

A variable alone says little, as the index of a loop begins anew in each pass. Two things do: the
number that the next checkpoint holds, and a variable of the name under which the checkpoint held a
number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from reprocheck.resume.gap.archive import words_of
from reprocheck.resume.gap.evidence import CounterGap
from reprocheck.resume.gap.sides import Side, saved_last
from reprocheck.trace.deep import Seen

Numbers = Mapping[str, int]
"""Key in the file, or variable -> a whole number."""
OF_SCRIPTS = ("", "torch.save", "pickle.dump", "joblib.dump")
"""Savers of what a script puts together itself; keys of libraries name nothing of the script."""


def counter(continued: Side, resumed: Side) -> CounterGap | None:
    """Return the number that the resumed run counts from the beginning again, if any."""
    saved = _saved_at(continued.before("saved"))
    if not saved:
        return None
    nexts = list(_next_saves(continued, resumed))
    for iteration, due, came in nexts:
        for key in saved.keys() & due.keys() & came.keys():
            behind = due[key] - came[key]
            if behind > 0 and behind in (saved[key], saved[key] + 1):
                values = due[key], came[key]
                return CounterGap(name=key, values=values, key=key, iteration=iteration)
    if nexts:
        return None
    own = _own_numbers(continued)
    for name, gap in _restarted(continued, resumed).items():
        # a variable that has the name of a key: `self.start_step` of `['step']`
        variable = name.rpartition(".")[2].strip("]'\"[")
        for key in own:
            word = words_of(key)[-1]
            if word and (word in variable or variable in word):
                return replace(gap, key=key)
    return None


def are_known(continued: Side, resumed: Side) -> bool:
    """Return whether both runs have a number that can be compared with one of the checkpoint."""
    if _saved_at(continued.before("saved")) and any(_next_saves(continued, resumed)):
        return True
    return bool(_own_numbers(continued) and continued.counts.keys() & resumed.counts.keys())


def _own_numbers(continued: Side) -> Numbers:
    """Return the whole numbers in the last checkpoint that the script itself put together."""
    return _saved_at(fact for fact in continued.before("saved") if fact.class_ in OF_SCRIPTS)


def behind_a_rate(continued: Side, resumed: Side) -> CounterGap | None:
    """Return a variable that counts from the beginning again and may give the learning rate."""
    restarted = _restarted(continued, resumed)
    counted = (continued.offset, continued.offset + 1)
    steps = [gap for gap in restarted.values() if gap.values[0] in counted]
    counting = ("step", "iter", "update", "epoch")
    named = [gap for gap in restarted.values() if any(one in gap.name.lower() for one in counting)]
    return next(iter((*steps, *named)), None)


def _saved_at(saves: Iterable[Seen]) -> Numbers:
    """Return the whole numbers in the last checkpoint saved."""
    return {key: number for fact in saved_last(saves) for key, number in _numbers(fact).items()}


def _numbers(fact: Seen) -> Numbers:
    leaves = ((path, leaf) for path, leaf in fact.inputs if leaf.dtype == "int")
    return {path: leaf.value for path, leaf in leaves if isinstance(leaf.value, int)}


def _next_saves(continued: Side, resumed: Side) -> Iterator[tuple[int, Numbers, Numbers]]:
    """Yield the checkpoints that both runs write after as many updates.

    Each with the iteration of the resumed run.
    """
    due = {fact.iteration - continued.offset: fact for fact in continued.since("saved")}
    came = {fact.iteration: fact for fact in resumed.since("saved")}
    for iteration in sorted(due.keys() & came.keys()):
        yield iteration - 1, _numbers(due[iteration]), _numbers(came[iteration])


def _restarted(continued: Side, resumed: Side) -> dict[str, CounterGap]:
    """Return the variables that have the value from before iteration 1 again."""
    came, began = resumed.counts, continued.counts_at_first
    gaps: dict[str, CounterGap] = {}
    for name, due in continued.counts.items():
        if name in came and name in began and came[name] == began[name] < due:
            gaps[name] = CounterGap(name=name, values=(due, came[name]))
    return gaps
