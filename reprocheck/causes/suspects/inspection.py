"""The parameter (`Look`) and the result (`Suspect`) of the functions that yield suspects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from reprocheck.causes.evidence import Kind, Recorded
from reprocheck.causes.usercode import Hint, UserCode
from reprocheck.ladder.operators import kind as kind_of_device
from reprocheck.model import Between, Check, Ladder, Rung, SourceLine
from reprocheck.model.evidence import Evidence, SeededAs, seed_line
from reprocheck.model.statement import Statement
from reprocheck.model.statements.causes import Doing, LineDoes
from reprocheck.rules import known
from reprocheck.rules.likely import has_fixed_hash
from reprocheck.rules.operators import Operator
from reprocheck.scan.names import last_part

_MODULES = {"python": "random.", "numpy": "numpy.random."}
_SEEDED: Mapping[SeededAs, Kind] = {
    "never": "never seeded",
    "equally": "seeded equally",
    "unequally": "seeded unequally",
    "by the system": "seeded by the system",
}
_MADE: Mapping[SeededAs, Kind] = {**_SEEDED, "equally": "key made equally"}
"""The same of keys, which are made from a number and do not move when they are drawn from."""
_NOTHING_BETWEEN = Between()
"""What stands between the runs of one check."""
MOST_LISTED = 3
"""Listed operators that are named as evidence."""
Shown = TypeVar("Shown", bound=Evidence)
_SHUFFLES = frozenset({"shuffle", "permutation", "permuted", "sample", "choice", "choices"})
"""Functions of `random` and `numpy.random` that draw an order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """An entry of the catalogue by its name, with what supports it beside the rung."""

    name: str
    shown: tuple[Recorded, ...] = ()
    """What was recorded of the thing that the entry blames.

    `causes.evidence` decides by it how sure the cause is.
    """
    statements: tuple[Statement | str, ...] = ()
    source: SourceLine | None = None
    fix: Statement | str = ""
    """What to do instead of the entry's own fix, where more is known here."""
    calls: tuple[str, ...] = ()
    """What the lines call that `statements` name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What all functions that yield suspects are given.

    The check, its ladder, the first differing rung, and the user's files.
    """

    check: Check
    ladder: Ladder
    rung: Rung
    code: UserCode
    frameworks: tuple[str, ...]

    def shown(self, kind: type[Shown]) -> Shown:
        """Return the evidence of the rung, which must be of the given type."""
        assert isinstance(self.rung.evidence, kind)
        return self.rung.evidence

    def recorded(self, kind: Kind) -> tuple[Recorded, ...]:
        """Return the fact of this kind on the place of the rung."""
        return (Recorded(kind=kind, of=self.rung.place or self.rung.rung),)

    def generator_facts(self) -> tuple[Recorded, ...]:
        """Return facts on the generators of the rung: unequal states, and how each was seeded."""
        facts = []
        for generator in self.rung.generators.drawn:
            seeded = _MADE if generator.key else _SEEDED
            facts.append(Recorded(kind="state differs", of=generator.name))
            facts.append(Recorded(kind=seeded[generator.seeded], of=generator.name))
            if generator.later is not None:
                facts.append(Recorded(kind="seeded later", of=generator.name))
        return tuple(facts)

    def seed_line(self) -> SourceLine | None:
        """Return the line that seeded, with its text; the line of the rung if none was recorded."""
        return self.line_at(seed_line(self.rung.evidence))

    def line_at(self, place: str) -> SourceLine | None:
        """Return a line (`file:line`) with its text; the line of the rung if there is none."""
        line = SourceLine.of(place)
        if line is None:
            return self.rung.source
        return self.code.with_text(line)

    def given_generator(self) -> tuple[Recorded, ...]:
        """Return the fact that the first differing operator has its own generator, if it has."""
        operator = self.rung.operator
        if operator is None or not operator.given_generator:
            return ()
        return (Recorded(kind="private generator given", of=operator.name),)

    @property
    def device(self) -> str:
        """Return the kind of device, such as `cpu`, `cuda` or `npu`."""
        return kind_of_device(self.rung.measured.device)

    @property
    def framework(self) -> str:
        """The framework to which the fixes of the check belong."""
        return next(iter(self.frameworks), "")

    @property
    def between(self) -> Between:
        """Return what differs between two separate recordings; empty for a check."""
        return self.check.between or _NOTHING_BETWEEN

    @property
    def quiet(self) -> bool:
        """Return whether the runs of each of two separate recordings agree among themselves."""
        noise = self.between.noise
        return len(noise) == 2 and all(side.equal for side in noise)

    @property
    def ranks(self) -> int:
        """The number of ranks in run 1."""
        return len(self.check.runs[0].traces)

    @property
    def hash_is_fixed(self) -> bool:
        """Return whether the user fixed the hash seed before the start."""
        return has_fixed_hash(self.check.runs[0].environment)

    @property
    def operator_is_victim(self) -> bool:
        """Return whether the inputs of the first differing operator differ already."""
        return self.rung.operator is not None and self.rung.operator.inputs_differ

    @property
    def operators(self) -> tuple[str, ...]:
        """Return what the rung names that can make a difference: operator, autograd nodes, classes.

        An operator whose inputs differ already is left out.
        """
        operator = self.rung.operator
        if operator is None or operator.inputs_differ:
            return self.rung.operations
        return (operator.name, *self.rung.operations)

    def listed(self, *, backward: bool) -> tuple[Operator, ...]:
        """Return the operators of the rung that are listed as nondeterministic on its device."""
        found = (
            known(name, device=self.device, backward=backward, frameworks=self.frameworks)
            for name in self.operators
        )
        return tuple(dict.fromkeys(chain.from_iterable(found)))[:MOST_LISTED]

    def unseeded_draw(self) -> Hint | None:
        """Return a line that draws from a generator whose state differs, without a recorded draw.

        The generator is one of Python or NumPy.
        """
        return self.draw_from(self.rung.unused_generators)

    def draw_from(self, generators: Sequence[str]) -> Hint | None:
        """Return a line that draws from one of these generators, if they are of Python or NumPy."""
        return next(self._drawing(generators), None)

    def draws_an_order(self, generators: Sequence[str]) -> bool:
        """Return whether a line draws an order from one of these generators.

        True if no such line is known.
        """
        drawing = list(self._drawing(generators))
        return not drawing or any(map(draws_order, drawing))

    def _drawing(self, generators: Sequence[str]) -> Iterator[Hint]:
        """Return the lines that draw from one of these generators."""
        modules = tuple(_MODULES[name] for name in generators if name in _MODULES)
        draws = (hint for hint in self.code.hints if hint.kind == "draw")
        return (hint for hint in draws if hint.name.startswith(modules))

    def feeding(self, *kinds: str) -> Hint | None:
        """Return a hint on a line that makes what the line of the rung reads."""
        return self.code.feeding(self.rung.source, *kinds)

    def hint(self, *kinds: str) -> Hint | None:
        """Return the hint of these kinds that is nearest to the line of the rung."""
        return self.code.of(*kinds, near=self.rung.source)


@dataclass(frozen=True, slots=True)
class Case:
    """A row in the table of a rung: a condition, and the suspects if the condition holds."""

    holds: Callable[[Look], object]
    suspects: Callable[[Look], Iterable[Suspect]]


def of_first_case(cases: Iterable[Case], look: Look) -> Iterator[Suspect]:
    """Yield the suspects of the first case whose condition holds."""
    first = next(case for case in cases if case.holds(look))
    yield from first.suspects(look)


def otherwise(look: Look) -> bool:
    """Return True, as the condition of the last case in a table."""
    return True


def takes_another_path(look: Look) -> bool:
    """Return whether the runs took different paths through the code."""
    return look.rung.another_path


def draws_order(hint: Hint) -> bool:
    """Return whether a line draws an order of several things, as `shuffle` does."""
    return last_part(hint.name) in _SHUFFLES and not hint.one


def line_does(hint: Hint, kind: Doing) -> LineDoes:
    """Return the statement on what a line of the user's does."""
    return LineDoes(kind=kind, call=hint.name, source=hint.source.at)


def of_hint(hint: Hint | None, kind: Doing) -> tuple[LineDoes, ...]:
    """Return the statement on what the line of a hint does; nothing without a hint."""
    if hint is None:
        return ()
    return (line_does(hint, kind),)


def called(*hints: Hint | None) -> tuple[str, ...]:
    """Return the names of what the lines of these hints call."""
    return tuple(hint.name for hint in filter(None, hints))


def by_hint(
    name: str,
    hint: Hint | None,
    kind: Doing,
    shown: tuple[Recorded, ...] = (),
    statements: tuple[Statement, ...] = (),
) -> Suspect:
    """Return a suspect with facts and statements; a hint adds its line, but no certainty."""
    plain = Suspect(name=name, shown=shown, statements=statements)
    if hint is None:
        return plain
    statements = (*statements, line_does(hint, kind))
    return replace(plain, statements=statements, source=hint.source, calls=(hint.name,))


def if_hinted(name: str, hint: Hint | None, kind: Doing) -> tuple[Suspect, ...]:
    """Return a suspect that only a line supports; nothing without a hint."""
    if hint is None:
        return ()
    return (by_hint(name, hint, kind),)


def unseeded(name: str, draw: Hint | None) -> tuple[Suspect, ...]:
    """Return the suspect that a line draws from an unseeded generator; nothing without a hint."""
    return if_hinted(name, draw, "a draw from an unseeded generator")


def only_suspected(found: Iterable[Suspect]) -> Iterator[Suspect]:
    """Return the suspects without the facts that would make them sure."""
    return (replace(suspect, shown=()) for suspect in found)
