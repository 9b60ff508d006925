"""How many runs the search of `explain` takes, how often it misses a cause, and how often it calls
a control necessary that is not, over many drawn programs.

    python -m benchmarks.search [--searches N]

A drawn program has one to four causes, each with the control or the patch that removes it. What the
record and the scan name is drawn, too: nearly all causes, and some that are none. Runs differ first
in the first cause that is left, which often speaks for its control. In the last rows causes show
now and then alone: all of them, or the last one. Nothing is started: the search that `explain` uses
is answered from the drawn program. A search has missed where it gives no set, its set is a part
where a cause is left, and it is false where the set holds what removes no cause.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from math import prod
from random import Random
from statistics import median
from typing import Literal

from reprocheck.model import RUNGS
from reprocheck.rules.likely import on_lines, table
from reprocheck.search import chance
from reprocheck.search.chance import Sample
from reprocheck.search.folder_search import AS_IS_INTERMITTENT, AS_IS_MORE, FEW, MOST_RUNS
from reprocheck.search.request import Answer, Candidates, Difference, Found, Question
from reprocheck.search.chance import FITTING, SHOWN, UNSPECIFIC
from reprocheck.search.sets import find
from reprocheck.settings import controls

SEARCHES = 10_000
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
SILENT = on_lines()
UNREACHED = 0.06
"""Share of causes that no control removes, and a patch of their line does."""
KNOWN_UNREACHED = 0.5
"""Share of these of which the scan is sure."""
FIXABLE = 0.75
"""Share of what is named that has a patch."""
POINTING = 0.8
"""Share of causes of which the first difference speaks for the control."""
UNSEEN = 0.1
"""Share of causes of which nothing shows that their control acts, where it tells of no call."""

Kind = Literal["always", "now and then", "mixed"]
"""Whether causes show in every run; `mixed`: all but the last one."""
ROWS: tuple[tuple[int, Kind], ...] = (
    *((1, "always"), (2, "always"), (3, "always"), (4, "always")),
    *((1, "now and then"), (2, "now and then"), (2, "mixed")),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Planted:
    """A drawn cause: what removes it, "" for what it has not.

    pointing  whether the difference that it makes speaks for its control
    odd       share of the runs in which it shows
    """

    control: str = ""
    patch: str = ""
    pointing: bool = True
    odd: float = 1.0

    def left(self, names: Collection[str]) -> bool:
        """Return whether none of these controls and patches removes it."""
        return self.control not in names and self.patch not in names


@dataclass(slots=True)
class Program:
    """A drawn program: its causes in the order in which they show, the controls that act, and what
    is named.

    risk  of luck that is taken
    """

    causes: tuple[Planted, ...]
    acting: frozenset[str]
    named: tuple[str, ...]
    fixes: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    sure: frozenset[str] = frozenset()
    changing: frozenset[str] = frozenset()
    anew: frozenset[str] = ANEW
    risk: float = FITTING
    random: Random = field(default_factory=Random)
    made: Counter[frozenset[str]] = field(default_factory=Counter)
    differed: set[frozenset[str]] = field(default_factory=set)

    def left(self, names: Collection[str]) -> list[Planted]:
        """Return the causes that some controls and patches leave."""
        return [one for one in self.causes if one.left(names)]

    def answer(self, question: Question) -> Answer:
        """Return what its runs would say; counts those that they would take."""
        names, reference = frozenset(question.controls), frozenset(question.reference)
        runs, left = question.runs, self.left(names)
        agrees = not left
        always = not left or any(one.odd == 1 for one in left)
        if reference and always:
            left_out = reference - names
            same = agrees and not left_out & self.changing
            runs = 1 if same or left_out <= self.anew else runs
            agrees = same if left_out <= self.anew else agrees
        if not always:
            more = range(runs - self.made[names])
            usual = all(self.random.random() > one.odd for one in left for _ in more)
            agrees = usual and names not in self.differed
        if not agrees:
            self.differed.add(names)
        self.made[names] = max(self.made[names], runs)
        return Answer(agrees=agrees, runs=self.made[names], acted=names & self.acting)

    def needed(self, names: tuple[str, ...], _: Answer) -> int:
        """Return how many runs must agree under a set: by runs that differ as they are, and under
        controls whose values are new in each start.
        """
        further = sum(self.made[one] for one in self.differed if one and one <= self.anew)
        unlike = self.anew.issuperset(names)
        for as_is in (2, *AS_IS_MORE):
            runs = as_is + further
            wanted = chance.needed(Sample(runs=runs, odd=runs - 1, unlike=unlike), self.risk)
            if wanted <= FEW:
                break
        self.made[frozenset()] = max(self.made[frozenset()], as_is - 2)
        return wanted

    def differing(self, names: tuple[str, ...]) -> Difference | None:
        """Return where its runs first differ under controls."""
        left = self.left(names)
        if not left:
            return None
        pointed = (left[0].control,) if left[0].pointing and left[0].control else ()
        return Difference(rung=RUNGS[self.causes.index(left[0])], controls=pointed)

    @property
    def odd(self) -> float:
        """Return the share of its runs that are unlike the usual one."""
        return 1 - prod(1 - one.odd for one in self.causes)

    @property
    def starts(self) -> int:
        """Return the runs that were asked for."""
        return self.made.total()


def drawn(random: Random, causes: int, kind: Kind) -> Program:
    """Return a program with so many causes, each of which another control removes."""
    removing: set[str] = set()
    while len(removing) < causes:
        removing.update(random.choices(list(COMMON), list(COMMON.values())))
    shuffled = random.sample(sorted(removing), len(removing))
    planted, named, fixes = [], [], []
    for number, control in enumerate(shuffled):
        is_named, line = random.random() < NAMED, f"RC402 train.py:{number}"
        patch = line if is_named and random.random() < FIXABLE else ""
        reached = not patch or random.random() > UNREACHED
        pointing = random.random() < POINTING
        rare = kind == "now and then" or (kind == "mixed" and number == causes - 1)
        odd = random.uniform(0.1, 0.9) if rare else 1.0
        planted.append(Planted(control=control * reached, patch=patch, pointing=pointing, odd=odd))
        named += [control] * is_named
        fixes += [patch] * bool(patch)
    while random.random() < WRONG:
        fixes.insert(random.randint(0, len(fixes)), f"RC402 train.py:{100 + len(fixes)}")
    unseen = {name for name in SILENT if random.random() < UNSEEN}
    acting = (removing | {name for name in HARMLESS if random.random() < ACTING}) - unseen
    while random.random() < WRONG:
        # what is sure stands first more often than not
        named.insert(random.randint(min(1, len(named)), len(named)), random.choice(HARMLESS))
    sure = {name for name in named if random.random() < SURE[name in removing]}
    changing = {name for name in (acting - ANEW).union(fixes) if random.random() < CHANGING}
    of_system = {one.patch for one in planted if one.control in ANEW and one.control in sure}
    return Program(
        causes=tuple(planted),
        acting=frozenset((*acting, *fixes)),
        named=tuple(dict.fromkeys(named)),
        fixes=tuple(fixes),
        unreached=tuple(
            one.patch for one in planted if not one.control and random.random() < KNOWN_UNREACHED
        ),
        random=Random(random.random()),
        sure=frozenset(sure),
        risk=random.choice((SHOWN, FITTING, UNSPECIFIC)),
        changing=frozenset(changing - of_system),
        anew=ANEW | of_system,
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
        first=Difference(rung=RUNGS[0]),
        silent=SILENT,
        fixes=program.fixes if program.odd == 1 else (),
        unreached=program.unreached,
        parts=controls.parts(),
    )


def searched(program: Program) -> Found:
    """Return what the search finds in a program."""
    among = candidates(program)
    if program.odd == 1:
        differing = program.differing
        return find(among, program.answer, program.needed, differing=differing)
    seen = as_is(program)
    least = chance.needed(seen, FITTING)
    runs, whole = min(least, MOST_RUNS), least <= MOST_RUNS
    enough, most = chance.CHOICE_AND_PROOF * least, chance.CHOICE_AND_PROOF * MOST_RUNS
    found = find(*(among, program.answer, lambda *_: enough), runs=runs, most=most, whole=whole)
    return found if found.runs >= enough else Found()


def as_is(program: Program) -> Sample:
    """Return runs as they are, of which the first two differ: as many as the search asks for."""
    draw, odd = program.random, program.odd
    first = [False, False]
    while not any(first):
        first = [draw.random() < odd for _ in first]
    outcomes = first + [draw.random() < odd for _ in range(AS_IS_INTERMITTENT[-1] - len(first))]
    program.made[frozenset()] += len(outcomes) - len(first)
    return chance.sample([[number * different for number, different in enumerate(outcomes, 1)]])


def rows(searches: int, seed: int = 0) -> Iterator[str]:
    """Yield the lines of the table: a number of causes each."""
    yield "causes               starts: median  90 %  most   missed     part    false"
    for causes, kind in ROWS:
        random = Random(seed)
        starts, missed, part, false = [], 0, 0, 0
        for _ in range(searches):
            program = drawn(random, causes, kind)
            smallest = frozenset(searched(program).smallest)
            starts.append(program.starts)
            removing = {name for one in program.causes for name in (one.control, one.patch)}
            missed += not smallest
            part += bool(smallest) and bool(program.left(smallest))
            false += not smallest <= removing
        ordered = sorted(starts)
        most, ninety = ordered[-1], ordered[len(ordered) * 9 // 10]
        yield (
            f"{causes:6} {kind:12}  {median(starts):14.1f} {ninety:5} {most:5}"
            f" {missed / searches:8.2%} {part / searches:8.2%} {false / searches:8.3%}"
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
