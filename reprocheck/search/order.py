"""Which controls the search tries first: what the causes, the first differing rung and the user's
own lines speak for.

`causes/likely.toml` holds the lists. The order decides how many runs the search takes, and which of
several sets it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from reprocheck.causes.evidence import VAGUE
from reprocheck.causes.likely import confirms, draws, removes, table, without_effect
from reprocheck.causes.usercode import Hint, UserCode
from reprocheck.model import Cause, Check, Rung, SourceLine
from reprocheck.model.evidence import loaded_file, seed_line
from reprocheck.model.letters import small
from reprocheck.model.static import StaticFinding
from reprocheck.rules import entry
from reprocheck.search.sets import Candidates
from reprocheck.settings import controls

BRITTLE = ("deterministic", "fresh-workdir", "no-compile")
"""Controls that make scripts fail more often than others: operators without an implementation,
paths that lead elsewhere.
"""


def candidates(check: Check, folder: Path) -> Candidates:
    """The controls to search among, the most suspicious first.

    Those that are on already, or can do nothing here, are left out.
    """
    rung = check.ladder.first_rung if check.ladder else None
    code = UserCode(check, folder)
    said = _spoken(code.hints)
    near = _at_place(code, rung)
    useless = without_effect(check)
    errors = _errors(check)
    by_error = [name for one in errors for name in _nearest_to(one.code)]
    reasons = dict.fromkeys(near, "a line where the runs diverge speaks for it") | _reasons(
        check.causes, errors, rung
    )
    by_cause = [*by_error, *near, *_of_causes(check.causes, rung, said)]
    nearest = [*by_cause, *_of_rung(rung, said), *(found.name for found in controls.table())]
    order = [name for name in dict.fromkeys(nearest) if name not in useless]
    altering = {found.name for found in controls.table() if found.alters}
    named = [name for name in dict.fromkeys(by_cause) if name not in useless]
    supported = {*by_error, *near, *_supported(check.causes, said)}
    return Candidates(
        likely=tuple(name for name in named if name not in altering and name in supported),
        harmless=tuple(name for name in order if name not in altering),
        altering=tuple(name for name in order if name in altering),
        last=tuple(name for name in named if name in altering),
        brittle=tuple(name for name in BRITTLE if name in order),
        reasons=reasons,
    )


def _errors(check: Check) -> list[StaticFinding]:
    """Sources of randomness that the scan is sure of, and that ran before the first difference.

    Where a recorded fact says why the runs differ, those alone that stand on its line.
    """
    preceding = check.scan.preceding if check.scan else ()
    errors = [one for one in preceding if one.severity == "error" and draws(one.code)]
    observed = [
        one for one in check.causes if one.confidence == "observed" and one.code not in VAGUE
    ]
    lines = [(one.source.file, one.source.line) for one in observed if one.source is not None]
    return [one for one in errors if not observed or (one.source.file, one.source.line) in lines]


def found_to_run(check: Check, control: str) -> bool:
    """Whether the scan is sure of a source of randomness that ran before the first difference, and
    that a control removes.
    """
    return any(removes(control, one.code) for one in _errors(check))


def _nearest_to(code: str) -> tuple[str, ...]:
    """The control that is nearest to a cause."""
    return table().causes.get(code, ())[:1]


def _at_place(code: UserCode, rung: Rung | None) -> list[str]:
    """The controls that a line speaks for where the runs diverge: in the function that the rung
    names, or where the seed is made.
    """
    if rung is None:
        return []
    seeded = code.around(_seed_line(rung))
    made = [hint for hint in code.around(rung.source) if hint.kind != "draw"]
    return _spoken([*seeded, *made])


def _seed_line(rung: Rung) -> SourceLine | None:
    """The line that seeded a generator with another number in each run."""
    file, _, line = seed_line(rung.evidence).rpartition(":")
    return SourceLine(file=file, line=int(line)) if file and line.isdigit() else None


def _of_causes(causes: Sequence[Cause], rung: Rung | None, spoken: Sequence[str] = ()) -> list[str]:
    """By the causes: the first control of each before the second of any, but those of an observed
    cause before those of the next.
    """
    ranked = []
    for number, cause in enumerate(causes):
        step = 1.0 if cause.confidence != "suspected" else 2.0
        ranked += [
            (number + step * place, number, name)
            for place, name in enumerate(_of_cause(cause, rung, spoken))
        ]
    return [name for _, _, name in sorted(ranked, key=lambda entry: entry[:2])]


def _of_cause(cause: Cause, rung: Rung | None, spoken: Sequence[str] = ()) -> list[str]:
    """The controls of one cause; those first that its line speaks for, and `seed` last where the
    script seeds by itself.
    """
    names = list(table().causes.get(cause.code, ()))
    if cause.code in table().open:
        names.sort(key=lambda name: name not in spoken)
    fits = _fitting(cause)
    names = [
        *(name for name in names if name in fits),
        *(name for name in names if name not in fits),
    ]
    undone = rung is not None and cause.code not in table().unseeded and _seeded(rung)
    if "seed" in names[:-1] and undone:
        names = [*(name for name in names if name != "seed"), "seed"]
    return names


def _fitting(cause: Cause) -> list[str]:
    """The controls that the line of a cause speaks for, or a call in another line that fits it."""
    said = cause.source.text if cause.source else ""
    said += "".join(f" {name}()" for name in cause.calls)
    return [name for name, pattern in table().lines.items() if pattern.search(said)]


def _supported(causes: Sequence[Cause], spoken: Sequence[str]) -> set[str]:
    """The controls that are worth runs alone: none where the best cause is one that a line would
    show, and no line does.
    """
    each = [_supported_of(cause, spoken) for cause in causes]
    unsaid = bool(each) and not each[0] and causes[0].code in table().shown
    return set() if unsaid else set().union(*each)


def _supported_of(cause: Cause, spoken: Sequence[str]) -> set[str]:
    """The controls of one cause; of one that a line would show those that a line of the user's
    speaks for.
    """
    fits = (*spoken, *_fitting(cause))
    return {
        name
        for name in table().causes.get(cause.code, ())
        if name in fits or cause.code not in table().shown
    }


def _seeded(rung: Rung) -> bool:
    """Whether the script seeds the generator that differs: a seed from outside comes before that
    one, and is undone by it.

    Weights that were loaded were drawn by another program, or before they were saved: a seed of
    this process says nothing of them.
    """
    if loaded_file(rung.evidence):
        return False
    concerned = rung.generators
    if concerned.seeded_unequally:
        return True
    if not concerned.drawn:
        return bool(concerned.seeded)
    return not concerned.seeded_equally and bool({*concerned.names} & {*concerned.seeded})


def _spoken(hints: Sequence[Hint]) -> list[str]:
    """The controls that lines of the user's speak for."""
    return [name for name in dict.fromkeys(map(_speaks_for, hints)) if name]


def _speaks_for(hint: Hint) -> str:
    """The control that a line speaks for: that of its kind, but for calls which that one leaves
    alone; "" where there is none.
    """
    calls, other = table().beyond.get(hint.kind, (None, ""))
    return (
        other if calls is not None and calls.search(hint.name) else table().hints.get(hint.kind, "")
    )


def beyond_reach(kind: str, name: str) -> bool:
    """Whether a call is one that the control of its kind leaves alone, and no other reaches."""
    calls, other = table().beyond.get(kind, (None, ""))
    return calls is not None and not other and calls.search(name) is not None


def _of_rung(rung: Rung | None, spoken: Sequence[str]) -> Iterator[str]:
    """By the rung, those first that a line of the user's speaks for."""
    names = table().rungs.get(rung.rung if rung else "later", ())
    yield from (name for name in names if name in spoken)
    yield from names
    yield from spoken


def _reasons(
    causes: Sequence[Cause], errors: Sequence[StaticFinding], rung: Rung | None
) -> dict[str, str]:
    """Control -> which cause it would remove: what the scan is sure of goes before what only
    fits.
    """
    found = {
        name: _would_remove(one.code, entry(one.name).title)
        for one in reversed(errors)
        for name in _nearest_to(one.code)
    }
    for cause in causes:
        for name in _of_cause(cause, rung):
            if confirms(name, cause.code):
                found.setdefault(name, _would_remove(cause.code, cause.title))
    return found


def _would_remove(code: str, title: str) -> str:
    return f"it would remove {code}, {small(title)}"
