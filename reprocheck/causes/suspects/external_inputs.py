"""Choose suspects for what the runs were given: arguments, variables and files.

For two separate recordings, other source, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.start_values import made_at_start
from reprocheck.causes.suspects.inspection import Look, Suspect, only_suspected
from reprocheck.ladder.agreeing import classes
from reprocheck.ladder.external_inputs import given_otherwise
from reprocheck.model import Rung, SourceDifference, SourceLine
from reprocheck.model.evidence import loaded_file
from reprocheck.model.statement import Statement
from reprocheck.model.statements.causes import EnvironmentFact, MadeAtStart, OtherLine
from reprocheck.model.statements.fixes import FixValue, GiveAlike
from reprocheck.model.statements.inputs import Given
from reprocheck.rules import drift_class

MOST_QUOTED = 3
"""Lines that differ and are quoted."""


def of_given(look: Look) -> Iterator[Suspect]:
    """Yield the suspects for other code, other arguments and other files."""
    code = look.between.other_code
    below = look.check.training_rung
    if below is None:
        others = given_otherwise(look.check)
    else:
        others = given_otherwise(look.check, below.rung, loaded_file(below.evidence))
    suspects = [*_other_input(look, others)]
    if code:
        other_source = Suspect(
            name="other-source",
            shown=tuple(Recorded(kind="text differs", of=one.file) for one in code),
            statements=(*_quoted(code), *_follows(look)),
            source=look.rung.source,
        )
        suspects.insert(0, other_source)
    pairs = chain.from_iterable(one.changed for one in code)
    lines = chain.from_iterable((pair.first, pair.second) for pair in pairs)
    differing = (line.text for line in lines if line is not None)
    texts = (*differing, *(one.name for one in others))
    sure = look.quiet or not look.check.record.compared or _names_place(below, texts)
    if sure:
        return iter(suspects)
    return only_suspected(suspects)


def _follows(look: Look) -> tuple[Statement, ...]:
    """Return the statements on the first difference of the training."""
    below = look.check.training_rung
    return () if below is None else below.statements


def _other_input(look: Look, others: Sequence[Given]) -> Iterator[Suspect]:
    """Yield a suspect if the arguments, variables or files of the runs differ."""
    if not others:
        return
    blamed = others
    if look.check.training_rung is None:
        # what each run makes itself may hold a date, and changes no training
        blamed = [one for one in others if not one.made]
    named: tuple[Statement, ...] = ()
    if look.between.other_code:
        # the sentence of the rung says what the code is
        named = tuple(others[:MOST_QUOTED])
    follows = _follows(look)
    plain = Suspect(
        name="changing-input",
        shown=tuple(Recorded(kind="contents differ", of=one.name) for one in blamed),
        statements=(*named, *follows),
        source=look.line_at(others[0].line),
        fix=GiveAlike(given=others[0]),
    )
    origin = made_at_start(look.check, look.code.sources.text)
    if origin is None:
        yield plain
        return
    made = MadeAtStart(by=origin.by, file=origin.file, line=origin.line)
    statements: tuple[Statement | str, ...] = (*named, made, *follows)
    if not origin.file:
        yield replace(plain, statements=statements, fix=FixValue(by=origin.by))
        return
    source = SourceLine(file=origin.file, line=origin.line)
    fix = FixValue(by=origin.by, file=origin.file, line=origin.line, fixed=origin.fixed)
    yield replace(plain, statements=statements, source=source, fix=fix)


def _names_place(below: Rung | None, texts: Sequence[str]) -> bool:
    """Return whether a differing line or argument names what differs first, such as `lr`."""
    if below is None or not below.place:
        return False
    name = below.place.rpartition(".")[2]
    word = re.compile(rf"\b{re.escape(name)}\b")
    return bool(name) and any(map(word.search, texts))


def _quoted(code: Sequence[SourceDifference]) -> list[OtherLine]:
    """Return the differing lines after the first one, which the rung quotes itself."""
    quoted = [
        OtherLine(file=one.file, line=pair.first.line, texts=(pair.first.text, pair.second.text))
        for one in code
        for pair in one.changed
        if pair.first is not None and pair.second is not None
    ]
    return quoted[1:MOST_QUOTED]


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
