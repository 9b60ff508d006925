"""Order the controls to try.

Those come first that the causes, the first differing rung and the user's own lines suggest.

`rules/likely.toml` holds the lists. The order decides how many runs the search takes, and which of
several sufficient sets of controls it names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, filterfalse, repeat, takewhile
from operator import itemgetter
from pathlib import Path

from reprocheck.causes.usercode import Hint, UserCode
from reprocheck.model import Cause, Check, Rung
from reprocheck.model.evidence import GivenOtherwise, loaded_file
from reprocheck.model.reason import Reason
from reprocheck.model.static import StaticFinding
from reprocheck.rules import likely
from reprocheck.rules.likely import (
    confirming,
    confirms,
    draws,
    is_vague,
    nearest,
    removes,
    table,
    without_effect,
)
from reprocheck.search.lines import OUT_OF_REACH, at_place, fitting, lines_of, spoken
from reprocheck.search.request import Candidates, Difference
from reprocheck.settings import controls

NO_RUNG = Rung(rung="later", status="equal")
"""Stands for the first rung where none differs."""
BRITTLE = ("deterministic", "fresh-workdir", "no-compile")
"""Controls that make scripts fail more often than others: operators without an implementation,
paths that lead elsewhere.
"""
_BESIDE = {"suspected": 2.0}
"""How many causes one lets pass between two of its controls, if not one."""

Fits = Mapping[str, Sequence[str]]
"""Code of a cause -> the controls that its line speaks for."""


def candidates(check: Check, folder: Path) -> Candidates:
    """Return the controls to search among, the most suspicious first.

    Controls that are on already, or cannot have an effect in this check, are left out.
    """
    rung = check.first_rung or NO_RUNG
    code = UserCode(check, folder)
    said = spoken(code.hints)
    near = at_place(code, rung)
    fits = {cause.code: fitting(cause, code.hints) for cause in check.causes}
    by_code = {cause.code: _of_cause(cause, rung, said, fits[cause.code]) for cause in check.causes}
    errors = [(error.code, _nearest_at(error, code.hints)) for error in _errors(check)]
    by_error = list(chain.from_iterable(names for _, names in errors))
    by_cause = [*by_error, *near, *_of_causes(check.causes, by_code)]
    every = [*by_cause, *_of_rung(rung, said), *(control.name for control in controls.table())]
    altering = frozenset(control.name for control in controls.table() if control.alters)
    useless = without_effect(check)
    from_outside = _is_given_from_outside(rung)
    if from_outside:
        useless |= altering  # they act on the training, and the runs differ before it begins
    named, order = _without(by_cause, useless), _without(every, useless)
    supported = {*by_error, *near, *_supported(check.causes, said, fits)}
    findings = _may_have_acted(check)
    unreached = [one for one in _certain(check) if not _nearest_at(one, code.hints)]
    reached = [one for one in findings if one not in unreached]
    suspects = [
        # what a line speaks for may draw alone, while the cause is what decides how often
        *(_nearest_at(one, code.hints) for one in reached),
        *(_controls_of(one.code) for one in reached),
        *_of_placed(check.causes, by_code, from_outside=from_outside),
    ]
    confirmed_by = [(cause.code, sorted(confirming(cause.code))) for cause in check.causes]
    return Candidates(
        likely=_only(named, supported - altering),
        suspects=_without(_firsts(suspects), useless | altering),
        sure=_without(_firsts(_of_sure(check, code, by_code, fits)), useless | altering),
        first=Difference(rung=rung.rung, place=rung.place or "", iteration=rung.iteration or 0),
        fixes=_fixes(check.causes, findings),
        unreached=_fixes((), unreached),
        harmless=_without(order, altering),
        altering=_only(order, altering),
        last=_only(named, altering),
        brittle=_only(BRITTLE, order),
        silent=_without(likely.on_lines(), useless),
        parts=controls.parts(),
        reasons=_reasons(near, [*errors, *confirmed_by]),
    )


def _of_sure(
    check: Check, code: UserCode, by_code: Mapping[str, Sequence[str]], fits: Fits
) -> Iterator[Sequence[str]]:
    """Yield the controls of each cause that is observed, and of what the scan is sure of."""
    # what stands before an observed cause explains it
    for cause in takewhile(_is_observed, filterfalse(is_vague, check.causes)):
        yield _of_line(cause.code, by_code[cause.code], fits[cause.code])
    observed = [cause.code for cause in check.causes if _is_observed(cause)]
    for finding in _certain(check):
        if finding.code not in observed:
            yield _nearest_at(finding, code.hints)


def _of_placed(
    causes: Sequence[Cause], by_code: Mapping[str, Sequence[str]], *, from_outside: bool
) -> list[Sequence[str]]:
    """Return the controls of each cause that is observed or has a line; else of all."""
    placed = [cause.code for cause in causes if cause.source is not None or _is_observed(cause)]
    # a seed that no line makes is what was given
    given = [code for code in by_code if from_outside and _is_shown(code)]
    return [by_code[code] for code in placed or by_code if code not in given]


def _is_given_from_outside(rung: Rung) -> bool:
    """Return whether the runs were started with other input, before any of their programs ran."""
    given = rung.evidence
    return isinstance(given, GivenOtherwise) and given.from_outside and not given.made


def _reasons(near: Iterable[str], codes: Sequence[tuple[str, Sequence[str]]]) -> dict[str, Reason]:
    """Return the reason to try each control: the first cause that it would remove."""
    reasons = dict.fromkeys(near, Reason(key="a line speaks for it"))
    for code, names in reversed(codes):
        reasons |= dict.fromkeys(names, Reason(key="a cause speaks for it", code=code))
    return reasons


def _is_observed(cause: Cause) -> bool:
    """Return whether a recorded fact says why the runs differ."""
    return cause.confidence == "observed" and not is_vague(cause)


def _firsts(lists: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the first control of each list."""
    return chain.from_iterable(names[:1] for names in lists)


def _only(names: Iterable[str], wanted: Collection[str]) -> tuple[str, ...]:
    """Return the wanted names in their order, without repetition."""
    return tuple(filter(wanted.__contains__, dict.fromkeys(names)))


def _without(names: Iterable[str], unwanted: Collection[str]) -> tuple[str, ...]:
    """Return the names that are not unwanted, without repetition."""
    return tuple(filterfalse(unwanted.__contains__, dict.fromkeys(names)))


def _errors(check: Check) -> list[StaticFinding]:
    """Return sources of randomness that the scan is sure of, and that ran in time.

    Before the first difference.

    If a recorded fact says why the runs differ, only the sources on the line of that fact.
    """
    sure = [one for one in check.scanned.preceding if one.severity == "error" and draws(one.code)]
    observed = list(filter(_is_observed, check.causes))
    if not observed:
        return sure
    lines = lines_of(observed)
    return [one for one in sure if one.source.at in lines]


def _of_line(code: str, names: Sequence[str], fits: Sequence[str]) -> Sequence[str]:
    """Return the first control of a sure cause.

    If the cause can come from several places, the control that its line suggests.
    """
    if code not in table().open:
        return names[:1]
    return _only(names, fits)[:1] or fits[:1]


def _is_shown(code: str) -> bool:
    """Return whether a cause begins with a call that a line would show."""
    return code in table().shown


def _may_have_acted(check: Check) -> list[StaticFinding]:
    """Return the sources of randomness that the scan found and the runs may have executed.

    Sources that ran after the first difference are included, because they may hide another
    difference.
    """
    ran = (one for one in check.scanned.findings if one.executed != "not_executed")
    return [one for one in ran if one.may_change_results and draws(one.code)]


def _certain(check: Check) -> list[StaticFinding]:
    """Return the sources of randomness that the scan is sure of, and that ran."""
    return [one for one in _may_have_acted(check) if one.severity == "error" and one.ran]


def _fixes(causes: Sequence[Cause], findings: Sequence[StaticFinding]) -> tuple[str, ...]:
    """Return the known patches, those for causes first; patches of notebooks are left out."""
    editable = [one for one in findings if one.editable and not one.source.at.count(".ipynb")]
    of_causes = [
        one for cause in causes for one in editable if cause.at in (one.source.at, one.changed.at)
    ]
    return tuple(dict.fromkeys(one.fix_name for one in (*of_causes, *editable)))


def anew(check: Check, code: UserCode) -> frozenset[str]:
    """Return the patches of what is new in each start.

    OS-seeded generators, string hashes and monotonic clocks, if the scan is sure of them and they
    ran.

    Other patches, such as one that sorts what always had the same order, may change the losses of
    every run in the same way.
    """
    useless = without_effect(check)
    return frozenset(
        one.fix_name
        for one in _certain(check)
        if (nearest(one.code) in likely.table().of_system and nearest(one.code) not in useless)
        or not _nearest_at(one, code.hints)
    )


def sure_lines(check: Check, control: str) -> frozenset[str]:
    """Return the lines (`file:line`) of sources of randomness that a control removes.

    Only those that the scan is sure of, and that ran before the first difference.
    """
    return frozenset(one.source.at for one in _errors(check) if removes(control, one.code))


def lines_that_ran(check: Check, control: str) -> frozenset[str]:
    """Return the executed lines (`file:line`) at which the scan finds what a control can remove."""
    ran = (one for one in _may_have_acted(check) if one.ran)
    return frozenset(one.source.at for one in ran if confirms(control, one.code))


def _nearest_at(found: StaticFinding, hints: Iterable[Hint]) -> tuple[str, ...]:
    """Return the first control that fits a finding.

    Of a cause that can come from several places, the first that a line of the finding suggests.

    For example, `hash-seed` for the hash of a string that becomes a seed. Empty if no control
    reaches what the line calls, such as a monotonic clock.
    """
    lines = (found.source.at, found.changed.at)
    here = [hint for hint in hints if hint.source.at in lines]
    if here and OUT_OF_REACH.issuperset(hint.kind for hint in here):
        return ()
    said = spoken(here)
    if found.code not in table().open or not said:
        return _controls_of(found.code)[:1]
    return _only(_controls_of(found.code), said)[:1] or tuple(said[:1])


def _controls_of(code: str) -> tuple[str, ...]:
    """Return the controls that can remove a cause, the nearest first."""
    return table().causes.get(code, ())


def _of_causes(causes: Sequence[Cause], by_code: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the controls of all causes: the first control of each cause before the second of any.

    All controls of an observed cause come before those of the next cause.
    """
    ranked: list[tuple[float, int, str]] = []
    for number, cause in enumerate(causes):
        step = _BESIDE.get(cause.confidence, 1.0)
        ranked += zip(count(number, step), repeat(number), by_code[cause.code])
    ranked.sort(key=itemgetter(0, 1))
    return [name for _, _, name in ranked]


def _of_cause(cause: Cause, rung: Rung, said: Sequence[str], fits: Sequence[str]) -> list[str]:
    """Return the controls of one cause, those that its line suggests first.

    `seed` is last if the script seeds its own generators.
    """
    names = list(_controls_of(cause.code))
    if cause.code in table().open:
        names.sort(key=lambda name: name not in said)
    names.sort(key=lambda name: name not in fits)
    if cause.code not in table().unseeded and _seeded(rung):
        names.sort(key=lambda name: name == "seed")
    return names


def _supported(causes: Sequence[Cause], said: Sequence[str], fits: Fits) -> set[str]:
    """Return the controls that are worth runs alone.

    Empty if a line would show the best cause, and no line does.
    """
    each = []
    for cause in causes:
        names = set(_controls_of(cause.code))
        if _is_shown(cause.code):
            names &= {*said, *fits[cause.code]}
        each.append(names)
    if causes and not each[0] and _is_shown(causes[0].code):
        return set()
    return set(chain.from_iterable(each))


def _seeded(rung: Rung) -> bool:
    """Return whether the script itself seeds the generator that differs.

    It so undoes a seed from outside.

    False for loaded weights: they were drawn by another program, or before they were saved, so that
    a seed of this process says nothing of them.
    """
    if loaded_file(rung.evidence):
        return False
    concerned = rung.generators
    if concerned.seeded_unequally:
        return True
    if not concerned.drawn:
        return bool(concerned.seeded)
    return not concerned.seeded_equally and not set(concerned.names).isdisjoint(concerned.seeded)


def _of_rung(rung: Rung, said: Sequence[str]) -> list[str]:
    """Return the controls of a rung; those that a line of the user's suggests come first."""
    names = table().rungs.get(rung.rung, ())
    return [*sorted(names, key=lambda name: name not in said), *said]
