"""The result of a search that has ended: the sentence, the causes and the fix."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path

from reprocheck.causes.frameworks import of_place
from reprocheck.causes.scan_findings import located
from reprocheck.causes.usercode import UserCode
from reprocheck.fixes.advice import control_fix, in_names, with_names_of
from reprocheck.fixes.patched_files import kept_patch
from reprocheck.ladder.operators import device_of, kind as device_kind
from reprocheck.model import RUNGS, Check, Rung
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statement import Statement
from reprocheck.model.statements.search import (
    Agreement,
    AnotherRemains,
    Certainty,
    Moved,
    NamedCause,
    PatchesInVain,
    Remaining,
    Remains,
    Removes,
    Sample,
    SearchRemark,
)
from reprocheck.rules import known
from reprocheck.rules.likely import is_vague
from reprocheck.rules.operators import Operator
from reprocheck.search import chance
from reprocheck.search.arm_runs import Judged
from reprocheck.search.arms import Book
from reprocheck.search.chance import wanted
from reprocheck.search.confirmed_causes import confirmed
from reprocheck.search.lines import OUT_OF_REACH, lines_of
from reprocheck.search.place import acted_at
from reprocheck.search.request import FRESH, Found
from reprocheck.search.trial_summary import Result, account, refusals

_BACKWARD = frozenset({"gradient", "reduced gradient"})


def remains(check: Check, folder: Path, found: Found) -> Remains:
    """Return what remains after a search that found no sufficient set of controls."""
    rung, ladder = check.first_rung, check.ladder
    lines = lines_of(check.causes)
    hints = UserCode(check, folder).hints
    # clocks that a cause names and no control reaches
    clocks = [one for one in hints if one.kind in OUT_OF_REACH and one.source.at in lines]
    after_search = Remains(
        kind=_kind(check, found, rung),
        idle=found.idle,
        crashing=found.crashing,
        clocks=tuple((one.source.at, one.name) for one in clocks),
    )
    if rung is None or ladder is None:
        return after_search
    suspect = None
    if check.causes and check.causes[0].source is not None and not is_vague(check.causes[0]):
        suspect = NamedCause.of(check.causes[0])
    files = ladder.rung("files and arguments")
    given: tuple[Statement | str, ...] = ()
    if after_search.kind == "given":
        given = rung.statements
    elif isinstance(files.evidence, GivenOtherwise) and files.evidence.names_the_run:
        given = files.statements
    return replace(
        after_search,
        rung=rung.rung,
        place=rung.place or "",
        culprit=rung.blamed or "",
        operator=rung.operator.name if rung.operator else "",
        operators=_operators(check, rung),
        suspect=suspect,
        given=given,
    )


def _kind(check: Check, found: Found, rung: Rung | None) -> Remaining:
    if found.idle:
        return "idle"
    if not found.complete:
        return "few tried"
    if rung is None:
        return "nothing recorded"
    if isinstance(rung.evidence, GivenOtherwise) and rung.evidence.from_outside:
        return "given"
    if rung.size == "rounding" or _operators(check, rung):
        return "noise"
    return "unreached"


def _operators(check: Check, rung: Rung) -> tuple[Operator, ...]:
    """Return what the lists say of the operators that the rung names, without repetition."""
    of_rung = partial(
        known,
        device=device_kind(rung.measured.device),
        backward=rung.rung in _BACKWARD,
        frameworks=list(chain.from_iterable(run.frameworks for run in check.runs[:1])),
    )
    named = [*rung.operations]
    if rung.operator is not None:
        named.insert(0, rung.operator.name)
    return tuple(dict.fromkeys(chain.from_iterable(map(of_rung, named))))


def result(check: Check, folder: Path, book: Book, found: Found) -> Result:
    """Return the result of a search; errors of deterministic mode are its last causes."""
    made = _without_errors(check, folder, book, found)
    search = made.search
    if check.verdict.passed and check.verdict.first_divergence is None:
        within = SearchRemark(kind="within tolerance")
        search = replace(search, statements=(within, *search.statements))
    return replace(made, search=search, causes=(*made.causes, *refusals(book)))


def _without_errors(check: Check, folder: Path, book: Book, found: Found) -> Result:
    if book.nothing_to_try:
        rung = check.first_rung
        given = () if rung is None else rung.statements
        return _unconfirmed(check, book, SearchRemark(kind="nothing to try"), *given)
    if not found.smallest:
        statements: list[Statement] = [remains(check, folder, found)]
        moved = _moved(check, book)
        if moved is not None:
            statements.append(moved)
        tried = (one for one in book.judged if one.agrees is False and not one.untried)
        in_vain = [one.names for one in tried if one.names and fixes_in(one.names) == one.names]
        statements += [PatchesInVain(fixes=names) for names in in_vain[:1]]
        return _unconfirmed(check, book, *statements)
    under = book.of(found.smallest)
    assert under is not None, "the search has asked for these runs"
    seen = book.sample_beside(found.smallest)
    enough = wanted(check, seen, found.smallest, under, exact=under.exact)
    if len(under.runs) < enough:
        agreement = _agreement(seen, under)
        unshown = Removes(names=found.smallest, under=agreement, shown=False)
        return _unconfirmed(check, book, unshown, sure=certainty(agreement, enough))
    return _confirmed(check, folder, book, found, under)


def _unconfirmed(
    check: Check, book: Book, *statements: Statement | str, sure: Statement | None = None
) -> Result:
    """Return a result that leaves the causes as they were.

    `sure` says how certain the result is; without it, how the uncontrolled runs differ is said.
    """
    search = replace(account(book), statements=statements, certainty=(sure or book.sample,))
    return Result(search=search, causes=check.causes)


def _agreement(seen: Sample, under: Judged) -> Agreement:
    return Agreement(
        names=under.names,
        runs=len(under.runs),
        arms=tuple(arm.name for arm in under.arms),
        exact=under.exact,
        later=under.later,
        seen=seen,
    )


def certainty(under: Agreement, enough: int = 0) -> Statement:
    """Return how sure it is that a set of controls removes the difference.

    `enough` is the number of runs that must agree, given if fewer were made.
    """
    seen = under.seen
    if seen.carried:  # the runs are no independent draws
        return seen
    # Those that chose the set among many do not prove it.
    proving = under.runs // (chance.CHOICE_AND_PROOF if seen.intermittent else 1)
    return Certainty(
        under=under,
        proving=proving,
        luck=chance.luck(seen, proving),
        bound=chance.bound(proving),
        wanted=min(enough, chance.MOST),
        more=enough > chance.MOST,
    )


def _moved(check: Check, book: Book) -> Moved | None:
    """Return the set of controls that moved the first difference to the latest rung of the ladder.

    Of several such sets the smallest; None if no set moved the difference to a later rung.
    """
    rung = check.first_rung
    if rung is None:
        return None
    first = RUNGS.index(rung.rung)
    left = [(one, book.differing(one.names)) for one in book.judged]
    known = [(one, there) for one, there in left if there is not None]
    last = max((RUNGS.index(there.rung) for _, there in known), default=first)
    if last <= first:
        return None
    of_last = [(one, there) for one, there in known if RUNGS.index(there.rung) == last]
    judged, there = min(of_last, key=lambda pair: len(pair[0].names))
    return Moved(names=judged.names, rung=there.rung, before=rung.rung)


def _confirmed(check: Check, folder: Path, book: Book, found: Found, under: Judged) -> Result:
    code = UserCode(check, folder)
    frameworks = of_place(check, code)
    controls, fixes = controls_in(found.smallest), fixes_in(found.smallest)
    places = acted_at(code, _unpatched(book, under, controls))
    proving = _proving(book, found.smallest)
    agreement = _agreement(book.sample_beside(found.smallest), under)
    causes = confirmed(check, proving, agreement, frameworks, places, found.needed)
    causes = located(check, causes, controls)
    causes = tuple(with_names_of(code.module_names, cause) for cause in causes)
    proved = [cause for cause in causes if cause.confidence == "confirmed"]
    remedies = [cause.remedy for cause in proved if cause.remedy]
    if not remedies:
        of_controls = (control_fix(frameworks, name, device_of(check)) for name in controls)
        remedies = [in_names(code.module_names, fix) for fix in of_controls if fix]
    named = tuple(map(NamedCause.of, proved))
    statements: list[Statement] = [Removes(names=found.smallest, under=agreement, confirms=named)]
    further: tuple[str, ...] = ()
    if under.later is not None and not fixes:
        # all that is known is kept out of the way of the other difference
        known_controls = (*check.record.controls, *under.names)
        further = tuple(word for name in known_controls for word in ("--control", name))
    if under.later is not None:
        statements.append(AnotherRemains(iteration=under.later, further=further))
    patched = book.of((), patched=True)
    if patched is not None and not patched.untried and patched.agrees is False:
        statements.append(SearchRemark(kind="patch in vain"))
    search = replace(
        account(book),
        touches=under.runs[0].controls.touches,
        smallest=controls,
        fixes=fixes,
        statements=tuple(statements),
        certainty=(certainty(agreement),),
        remedies=tuple(remedies),
        patch=kept_patch(folder),
        further=further,
    )
    return Result(search=search, causes=causes)


def _unpatched(book: Book, under: Judged, controls: Collection[str]) -> Judged:
    """Return runs under all of the controls and no patch; `under` if there are none.

    A patch moves lines.
    """
    if not fixes_in(under.names):
        return under
    others = (one for one in book.judged if not fixes_in(one.names) and not one.patched)
    return next((one for one in others if set(controls).issubset(one.names)), under)


def _proving(book: Book, smallest: tuple[str, ...]) -> tuple[str, ...]:
    """Return the controls that show a cause.

    A fresh folder may only keep the names free that another control fixes.
    """
    without_fresh = tuple(name for name in smallest if name != FRESH)
    beside = book.of(without_fresh)
    only_frees_names = beside is not None and beside.answer.stumbled
    return without_fresh if only_frees_names else smallest
