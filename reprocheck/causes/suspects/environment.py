"""Suspects for differences of the environment."""

from __future__ import annotations

from collections.abc import Iterator

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.suspects.inspection import Look, Suspect
from reprocheck.ladder.drift import classes
from reprocheck.model.statements.causes import EnvironmentFact
from reprocheck.rules import drift_class

_NO_MATTER = ("python.hash_seed",)
_ORDER = ("other-machine", "thread-count", "version-drift")


def environment(look: Look) -> Iterator[Suspect]:
    """Yield another machine, another number of threads, and other versions, if these differ."""
    kinds: dict[str, list[EnvironmentFact]] = {}
    for difference in (
        one for group in classes(look.check.environment_differences) for one in group.differences
    ):
        if difference.key not in _NO_MATTER:
            fact = EnvironmentFact(
                key=difference.key,
                reference=str(difference.reference),
                value=str(difference.value),
                run=difference.run,
            )
            kinds.setdefault(drift_class(difference.key).cause, []).append(fact)
    for name in _ORDER:
        if name in kinds:
            shown = (Recorded(kind="environment differs", of=name),)
            yield Suspect(name=name, shown=shown, statements=tuple(kinds[name][:5]))
