"""How many runs the search of `explain` takes, how often it misses a cause, and how often it calls
a control necessary that is not, over many drawn programs.

    python -m benchmarks.search [--searches N]

A drawn program has one to four causes, each with the control that removes it. What the record and
the scan name is drawn, too: nearly all causes, and some that are none. Nothing is started: the
search that `explain` uses is answered from the drawn program.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from statistics import median

from reprocheck.causes.likely import table
from reprocheck.search.asked import Answer, Candidates, Found, Question
from reprocheck.search.sets import find
from reprocheck.settings import controls

SEARCHES = 10_000
CONFIRMING = 3
"""Runs that must agree under a set before chance is excluded, as in most searches."""
HARMLESS = tuple(one.name for one in controls.table() if not one.alters)
ALTERING = tuple(one.name for one in controls.table() if one.alters)
COMMON = {
    "seed": 8,
    "private-rng": 8,
    "hash-seed": 4,
    "entropy": 3,
    "clock": 3,
    "single-worker": 3,
    "file-order": 2,
    "fill-memory": 2,
    "single-thread": 2,
    "deterministic": 2,
    "fresh-workdir": 1,
    "fixed-addresses": 1,
    "data-order": 1,
}
"""Control -> how often it is the one that removes a cause, as a weight."""
NAMED = 0.92
"""Share of causes that the record or the scan names."""
WRONG = 0.3
"""Share of further controls that are named and remove nothing: so many more each time."""
ACTING = 0.4
"""Share of controls that act in a program whose causes they do not remove."""

SURE = {True: 0.6, False: 0.1}
"""Share of what is named, where it is a cause and where it is none, that is known for sure."""
CHANGING = 0.7
"""Share of controls that act, and whose value a program does not draw anew in each start, under
which its losses are others.
"""
ANEW = frozenset(table().anew)
"""Controls of what is new in each start."""


@dataclass(slots=True)
class Program:
    """A drawn program: the controls of its causes, those that act, and those that are named."""

    causes: frozenset[str]
    acting: frozenset[str]
    named: tuple[str, ...]
    sure: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    made: Counter[frozenset[str]] = field(default_factory=Counter)

    def answer(self, question: Question) -> Answer:
        """Return what its runs would say; counts those that they would take."""
        names, reference = frozenset(question.controls), frozenset(question.reference)
        agrees = self.causes <= names
        runs = question.runs
        if reference:
            left_out = reference - names
            same = agrees and not left_out & self.changing
            runs = 1 if same or left_out <= ANEW else runs
            agrees = same if left_out <= ANEW else agrees
        self.made[names] = max(self.made[names], runs)
        return Answer(agrees=agrees, runs=self.made[names], acted=names & self.acting)

    @property
    def starts(self) -> int:
        """Return the runs that were asked for."""
        return self.made.total()


def drawn(random: Random, causes: int) -> Program:
    """Return a program with so many causes, each of which another control removes."""
    removing: set[str] = set()
    while len(removing) < causes:
        removing.update(random.choices(list(COMMON), list(COMMON.values())))
    acting = removing | {name for name in HARMLESS if random.random() < ACTING}
    named = [name for name in sorted(removing) if random.random() < NAMED]
    random.shuffle(named)
    while random.random() < WRONG:
        # what is sure stands first more often than not
        named.insert(random.randint(min(1, len(named)), len(named)), random.choice(HARMLESS))
    sure = {name for name in named if random.random() < SURE[name in removing]}
    changing = {name for name in acting - ANEW if random.random() < CHANGING}
    return Program(
        causes=frozenset(removing),
        acting=frozenset(acting),
        named=tuple(dict.fromkeys(named)),
        sure=frozenset(sure),
        changing=frozenset(changing),
    )


def candidates(program: Program) -> Candidates:
    """Return what the search knows of a program."""
    harmless = [name for name in program.named if name in HARMLESS]
    return Candidates(
        likely=tuple(harmless),
        suspects=tuple(harmless),
        sure=tuple(filter(program.sure.__contains__, harmless)),
        harmless=tuple(dict.fromkeys((*harmless, *HARMLESS))),
        altering=ALTERING,
        last=tuple(name for name in program.named if name in ALTERING),
        parts=controls.parts(),
    )


def searched(program: Program) -> Found:
    """Return what the search finds in a program."""
    return find(candidates(program), program.answer, lambda names, answer: CONFIRMING)


def rows(searches: int, seed: int = 0) -> Iterator[str]:
    """Yield the lines of the table: a number of causes each."""
    yield "causes  starts: median  90 %  most   missed   false"
    for causes in range(1, 5):
        random = Random(seed)
        starts, missed, false = [], 0, 0
        for _ in range(searches):
            program = drawn(random, causes)
            smallest = frozenset(searched(program).smallest)
            starts.append(program.starts)
            missed += not program.causes <= smallest
            false += not smallest <= program.causes
        ordered = sorted(starts)
        most, ninety = ordered[-1], ordered[len(ordered) * 9 // 10]
        yield (
            f"{causes:6}  {median(starts):14.1f} {ninety:5} {most:5}"
            f" {missed / searches:8.2%} {false:7}"
        )


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=SEARCHES, help="of each number of causes")
    given = parser.parse_args(None if arguments is None else list(arguments))
    for line in rows(given.searches):
        print(line)


if __name__ == "__main__":
    main()
