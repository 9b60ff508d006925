"""What the functions that suspect are given, and what they return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.explain.sources import numbered
from reprocheck.explain.usercode import Hint, UserCode
from reprocheck.model import Check, Confidence, Ladder, Rung, SourceLine
from reprocheck.rules import Operator, known

PRIVATE = "makes a generator without a seed, or draws from the system"
"""What a line of the kind `entropy` does."""
DRAWS = "draws from a generator without a seed, or from the system, and what differs is made of it"
"""What a line does that feeds the one that the ladder names."""
_MODULES = {"python": "random.", "numpy": "numpy.random."}


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """An entry of the catalogue by its name, and what speaks for it beside the detail of the rung."""

    name: str
    confidence: Confidence = "observed"
    evidence: tuple[str, ...] = ()
    source: SourceLine | None = None
    fix: str = ""
    """Code to paste instead of the entry's own, where more is known here."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What the functions of this module are given: the check, its ladder, the first differing rung, and the user's files."""

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
        return (
            [value] if isinstance(value, str) and value else [str(one) for one in value if one] if isinstance(value, list | tuple) else []
        )

    @property
    def device(self) -> str:
        """Kind of device: `cpu`, `cuda`, `npu`…"""
        return (str(self.fact("device") or "cpu").lower().partition(":")[0]).replace("ascend", "npu").replace("gpu", "cuda")

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
        """What the rung names that can make a difference: operator, autograd nodes, classes. A victim is not among them."""
        facts = ["node", "nodes_between", "classes_between", "class"]
        if self.fact("operator_inputs_differ") is not True:
            facts.insert(0, "operator")
        return [name for fact in facts for name in self.names(fact)]

    def listed(self, *, backward: bool) -> list[Operator]:
        """Listed operators among those that the rung names, on its device."""
        found = (known(name, device=self.device, backward=backward, frameworks=self.frameworks) for name in self.operators)
        return list(dict.fromkeys(operator for operators in found for operator in operators))

    def unseeded_draw(self) -> Hint | None:
        """A line that draws from a generator of Python or numpy whose state differs, though nothing recorded draws from it."""
        return self.draw_from(self.names("unused_generators"))

    def draw_from(self, generators: Sequence[str]) -> Hint | None:
        """A line that draws from one of these generators, as far as they are Python's or numpy's."""
        modules = tuple(_MODULES[name] for name in generators if name in _MODULES)
        return next((hint for hint in self.code.hints if hint.kind == "draw" and hint.name.startswith(modules)), None) if modules else None

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


def by_hint(name: str, hint: Hint | None, what: str, confidence: Confidence = "observed", said: tuple[str, ...] = ()) -> Suspect:
    """Entry `name`, with what is `said` for it and, where there is a hint, its line as evidence and source."""
    return Suspect(name=name, confidence=confidence, evidence=(*said, *of_hint(hint, what)), source=hint.source if hint else None)


def unseeded(name: str, draw: Hint | None) -> tuple[Suspect, ...]:
    """Entry `name` for a line that draws from a generator of which nothing else is known; nothing without one."""
    what = "draws from a generator that nothing seeded: its state is not the same in both runs"
    return (by_hint(name, draw, what, "suspected"),) if draw else ()


def capital(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]


def follows(one: SourceLine, other: SourceLine) -> bool:
    """Whether a line stands below another in the same file, or in a later cell of the same notebook."""
    (file, cell), (other_file, other_cell) = numbered(one.file), numbered(other.file)
    return file == other_file and (cell, one.line) > (other_cell, other.line)
