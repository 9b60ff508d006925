"""What the functions that suspect are given, and what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reprocheck.causes.device import kind as kind_of_device
from reprocheck.causes.evidence import Kind, Recorded
from reprocheck.causes.usercode import Hint, UserCode
from reprocheck.model import Check, Ladder, Rung, SourceLine
from reprocheck.rules import Operator, known

PRIVATE = "makes a generator without a seed, or draws from the system"
"""What a line of the kind `entropy` does."""
DRAWS = "draws from a generator without a seed, or from the system, and what differs is made of it"
"""What a line does that feeds the one that the ladder names."""
_MODULES = {"python": "random.", "numpy": "numpy.random."}
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

    def fact(self, name: str, default: object = None) -> object:
        """A fact of the rung."""
        return self.rung.facts.get(name, default)

    def names(self, fact: str) -> list[str]:
        """A fact that is a name or a list of names."""
        value = self.fact(fact)
        if isinstance(value, str):
            return [value] if value else []
        return [str(one) for one in value if one] if isinstance(value, list | tuple) else []

    def recorded(self, kind: Kind) -> tuple[Recorded, ...]:
        """The fact that the place of the rung is of this kind."""
        return (Recorded(kind=kind, of=self.rung.place or self.rung.rung),)

    def generator_facts(self) -> tuple[Recorded, ...]:
        """What was recorded of the generators that the rung names: their states differ, and how
        each of them was seeded.
        """
        found: list[Recorded] = []
        for name in self.names("generators"):
            found += [
                Recorded(kind="state differs", of=name),
                Recorded(kind=self._seeding(name), of=name),
            ]
            if name in self.mapping("seeded_later"):
                found.append(Recorded(kind="seeded later", of=name))
        return tuple(found)

    def _seeding(self, generator: str) -> Kind:
        """How a generator was seeded before it was drawn from."""
        if generator in self.names("seeded_by_system"):
            return "seeded by the system"
        if generator in self.mapping("seeds"):
            return "seeded unequally"
        if generator not in self.names("seeded_by"):
            return "never seeded"
        return "key made equally" if generator in self.names("keys") else "seeded equally"

    def seed_line(self) -> SourceLine | None:
        """The line that seeded, with its text; that of the rung where none was recorded."""
        return self.line_of("seed_line")

    def line_of(self, fact: str) -> SourceLine | None:
        """A fact that is a line (`file:line`), with its text; that of the rung where there is
        none.
        """
        return self.line_at(str(self.fact(fact) or ""))

    def line_at(self, place: str) -> SourceLine | None:
        """As `line_of`, for the line itself."""
        file, _, line = place.rpartition(":")
        if not file or not line.isdigit():
            return self.rung.source
        return self.code.with_text(SourceLine(file=file, line=int(line)))

    def mapping(self, fact: str) -> dict[str, object]:
        """A fact that is a table by name; empty where there is none."""
        value = self.fact(fact)
        return {str(name): one for name, one in value.items()} if isinstance(value, Mapping) else {}

    def given_generator(self) -> tuple[Recorded, ...]:
        """That the operator which differs first was given a generator of its own; nothing where
        none was recorded or was not.
        """
        if not self.fact("private_generator"):
            return ()
        return (
            Recorded(
                kind="private generator given", of=str(self.fact("operator") or self.rung.place)
            ),
        )

    @property
    def device(self) -> str:
        """Kind of device: `cpu`, `cuda`, `npu`…"""
        return kind_of_device(self.fact("device"))

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
        facts = ["node", "nodes_between", "classes_between", "class"]
        if self.fact("operator_inputs_differ") is not True:
            facts.insert(0, "operator")
        return [name for fact in facts for name in self.names(fact)]

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
        return self.draw_from(self.names("unused_generators"))

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


def line(hint: Hint, what: str) -> str:
    """What a line of the user's does that fits."""
    return f"{hint.source.file}:{hint.source.line} fits: {what} (`{hint.name}`)."


def of_hint(hint: Hint | None, what: str) -> tuple[str, ...]:
    """The same as evidence; nothing without a hint."""
    return (line(hint, what),) if hint else ()


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
    )


def unseeded(name: str, draw: Hint | None) -> tuple[Suspect, ...]:
    """Entry `name` for a line that draws from a generator of which nothing else is known; nothing
    without one.
    """
    what = "draws from a generator that nothing seeded: its state is not the same in both runs"
    return (by_hint(name, draw, what),) if draw else ()
