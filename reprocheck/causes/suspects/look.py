"""What the functions that suspect are given, and what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from reprocheck.causes.device import kind as kind_of_device
from reprocheck.causes.evidence import Kind, Recorded
from reprocheck.causes.usercode import Hint, UserCode
from reprocheck.model import Check, Ladder, Rung, SourceLine
from reprocheck.model.evidence import Evidence, Generator, SeededAs, seed_line
from reprocheck.rules import Operator, known

PRIVATE = "makes a generator without a seed, or draws from the system"
"""What a line of the kind `entropy` does."""
DRAWS = (
    "draws from a generator without a seed, or from the system, and the value that differs is"
    " computed from it"
)
"""What a line does that feeds the one that the ladder names."""
_MODULES = {"python": "random.", "numpy": "numpy.random."}
_SEEDED: Mapping[SeededAs, Kind] = {
    "never": "never seeded",
    "equally": "seeded equally",
    "unequally": "seeded unequally",
    "by the system": "seeded by the system",
}
Shown = TypeVar("Shown", bound=Evidence)
SHUFFLES = ("shuffle", "permutation", "permuted", "sample", "choice", "choices")
"""Functions of `random` and `numpy.random` that draw an order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """An entry of the catalogue by its name, and what speaks for it beside the detail of the
    rung.
    """

    name: str
    shown: tuple[Recorded, ...] = ()
    """What was recorded of the thing that the entry blames.

    `causes.evidence` decides by it how sure the cause is.
    """
    evidence: tuple[str, ...] = ()
    source: SourceLine | None = None
    fix: str = ""
    """Code to paste instead of the entry's own, where more is known here."""
    calls: tuple[str, ...] = ()
    """What the lines call that `evidence` names."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What the functions of this module are given: the check, its ladder, the first differing rung,
    and the user's files.
    """

    check: Check
    ladder: Ladder
    rung: Rung
    code: UserCode
    frameworks: tuple[str, ...]

    def shown(self, kind: type[Shown]) -> Shown:
        """What the rung shows, of which the kind is known."""
        assert isinstance(self.rung.evidence, kind)
        return self.rung.evidence

    def recorded(self, kind: Kind) -> tuple[Recorded, ...]:
        """The fact that the place of the rung is of this kind."""
        return (Recorded(kind=kind, of=self.rung.place or self.rung.rung),)

    def generator_facts(self) -> tuple[Recorded, ...]:
        """What was recorded of the generators that the rung names: their states differ, and how
        each of them was seeded.
        """
        found: list[Recorded] = []
        for one in self.rung.generators.drawn:
            found += [
                Recorded(kind="state differs", of=one.name),
                Recorded(kind=_seeding(one), of=one.name),
            ]
            if one.later is not None:
                found.append(Recorded(kind="seeded later", of=one.name))
        return tuple(found)

    def seed_line(self) -> SourceLine | None:
        """The line that seeded, with its text; that of the rung where none was recorded."""
        return self.line_at(seed_line(self.rung.evidence))

    def line_at(self, place: str) -> SourceLine | None:
        """A line (`file:line`) with its text; that of the rung where there is none."""
        file, _, line = place.rpartition(":")
        if not file or not line.isdigit():
            return self.rung.source
        return self.code.with_text(SourceLine(file=file, line=int(line)))

    def given_generator(self) -> tuple[Recorded, ...]:
        """That the operator which differs first was given a generator of its own; nothing where
        none was recorded or was not.
        """
        operator = self.rung.operator
        if operator is None or not operator.given_generator:
            return ()
        return (Recorded(kind="private generator given", of=operator.name),)

    @property
    def device(self) -> str:
        """Kind of device: `cpu`, `cuda`, `npu`…"""
        return kind_of_device(self.rung.measured.device)

    @property
    def quiet(self) -> bool:
        """Of two recordings: whether the runs of each side agree among themselves."""
        noise = self.check.between.noise if self.check.between else ()
        return len(noise) == 2 and all(side.equal for side in noise)

    @property
    def ranks(self) -> int:
        """Ranks of run 1."""
        return len(self.check.runs[0].traces) if self.check.runs else 0

    @property
    def hash_is_fixed(self) -> bool:
        """Whether the user fixed the hash seed before the start."""
        facts = self.check.runs[0].environment if self.check.runs else {}
        return str(facts.get("variable.PYTHONHASHSEED") or "random") != "random"

    @property
    def operators(self) -> list[str]:
        """What the rung names that can make a difference: operator, autograd nodes, classes.

        A victim is not among them.
        """
        operator = self.rung.operator
        named = [operator.name] if operator is not None and not operator.inputs_differ else []
        return [*named, *self.rung.operations]

    def listed(self, *, backward: bool) -> list[Operator]:
        """Listed operators among those that the rung names, on its device."""
        found = (
            known(name, device=self.device, backward=backward, frameworks=self.frameworks)
            for name in self.operators
        )
        return list(dict.fromkeys(operator for operators in found for operator in operators))

    def unseeded_draw(self) -> Hint | None:
        """A line that draws from a generator of Python or numpy whose state differs, though nothing
        recorded draws from it.
        """
        return self.draw_from(self.rung.unused_generators)

    def draw_from(self, generators: Sequence[str]) -> Hint | None:
        """A line that draws from one of these generators, as far as they are Python's or
        numpy's.
        """
        modules = tuple(_MODULES[name] for name in generators if name in _MODULES)
        return (
            next(
                (
                    hint
                    for hint in self.code.hints
                    if hint.kind == "draw" and hint.name.startswith(modules)
                ),
                None,
            )
            if modules
            else None
        )

    def draws_an_order(self, generators: Sequence[str]) -> bool:
        """Whether a line puts things into an order that it draws from one of these generators, or
        no line that draws from them is known.
        """
        modules = tuple(_MODULES[name] for name in generators if name in _MODULES)
        names = (
            [
                hint.name
                for hint in self.code.hints
                if hint.kind == "draw" and hint.name.startswith(modules)
            ]
            if modules
            else []
        )
        return not names or any(name.rpartition(".")[2] in SHUFFLES for name in names)

    def feeding(self, *kinds: str) -> Hint | None:
        """A line that makes what the rung's own line reads."""
        return self.code.feeding(self.rung.source, *kinds)

    def hint(self, *kinds: str) -> Hint | None:
        """A line of the user's that fits, the nearest to the rung's own."""
        return self.code.of(*kinds, near=self.rung.source)


def _seeding(generator: Generator) -> Kind:
    """How a generator was seeded before it was drawn from."""
    if generator.seeded == "equally" and generator.key:
        return "key made equally"
    return _SEEDED[generator.seeded]


def line(hint: Hint, what: str) -> str:
    """What a line of the user's does that fits."""
    return f"{hint.source.file}:{hint.source.line} fits: {what} (`{hint.name}`)."


def of_hint(hint: Hint | None, what: str) -> tuple[str, ...]:
    """The same as evidence; nothing without a hint."""
    return (line(hint, what),) if hint else ()


def called(*hints: Hint | None) -> tuple[str, ...]:
    """What these lines call."""
    return tuple(hint.name for hint in hints if hint is not None)


def by_hint(
    name: str,
    hint: Hint | None,
    what: str,
    shown: tuple[Recorded, ...] = (),
    said: tuple[str, ...] = (),
) -> Suspect:
    """Entry `name` with what was recorded and `said` for it; a hint adds its line as evidence and
    source, and no certainty.
    """
    return Suspect(
        name=name,
        shown=shown,
        evidence=(*said, *of_hint(hint, what)),
        source=hint.source if hint else None,
        calls=called(hint),
    )


def unseeded(name: str, draw: Hint | None) -> tuple[Suspect, ...]:
    """Entry `name` for a line that draws from a generator of which nothing else is known; nothing
    without one.
    """
    what = "draws from a generator that nothing seeded: its state is not the same in both runs"
    return (by_hint(name, draw, what),) if draw else ()
