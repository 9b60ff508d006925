"""The result of a search that has come to its end: the sentence, the causes and the fix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reprocheck.causes.frameworks import of_place
from reprocheck.causes.scanned import located
from reprocheck.causes.usercode import UserCode
from reprocheck.fixes.advice import control_fix, in_names, with_names_of
from reprocheck.fixes.patched_files import kept_patch
from reprocheck.ladder.device import device_of
from reprocheck.language import sentences, tr
from reprocheck.model import RUNGS, Check
from reprocheck.search import words
from reprocheck.search.account import Result, account, refusals
from reprocheck.search.arms import Book
from reprocheck.search.asked import FRESH, Difference, Found, controls_in, fixes_in
from reprocheck.search.confirmed import confirmed
from reprocheck.search.enough import wanted
from reprocheck.search.judged import Judged
from reprocheck.search.noise import remains
from reprocheck.search.place import acted_at


def result(check: Check, folder: Path, book: Book, found: Found) -> Result:
    """Return what a search has found; errors of deterministic mode come last."""
    made = _without_errors(check, folder, book, found)
    search = made.search
    if check.verdict.passed and check.verdict.first_divergence is None:
        said = sentences(tr(words.WITHIN_TOLERANCE), search.sentence)
        search = replace(search, sentence=said)
    return replace(made, search=search, causes=(*made.causes, *refusals(book)))


def _without_errors(check: Check, folder: Path, book: Book, found: Found) -> Result:
    if book.nothing_to_try:
        return _unconfirmed(check, book, words.given(check.first_rung))
    if not found.smallest:
        return _nothing_found(check, folder, book, found)
    under = book.of(found.smallest)
    assert under is not None, "the search has asked for these runs"
    seen = book.sample_beside(found.smallest)
    enough = wanted(check, seen, found.smallest, under, exact=under.exact)
    if len(under.runs) < enough:
        sentence = words.may_remove(found.smallest, under)
        return _unconfirmed(check, book, sentence, words.not_sure(seen, under, enough))
    return _confirmed(check, folder, book, found, under)


def _unconfirmed(check: Check, book: Book, sentence: str, confidence: str = "") -> Result:
    """Return the causes as they were."""
    confidence = confidence or words.of_unmodified(book.sample)
    search = replace(account(book), sentence=sentence, confidence=confidence)
    return Result(search=search, causes=check.causes)


def _nothing_found(check: Check, folder: Path, book: Book, found: Found) -> Result:
    sentence = words.remaining(remains(check, folder, found))
    moved = _moved(check, book)
    if moved is not None:
        sentence = sentences(sentence, words.moved(*moved))
    for one in book.judged:
        only_fixes = one.names and fixes_in(one.names) == one.names
        if only_fixes and one.agrees is False and not one.untried:
            sentence = sentences(sentence, words.patches_in_vain(one.names))
            break
    return _unconfirmed(check, book, sentence)


def _moved(check: Check, book: Book) -> tuple[Judged, Difference, str] | None:
    """Return the runs under the fewest controls that removed as much as any, and not all; what is
    left under them, and the rung on which the runs as they are first differ.
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
    return judged, there, rung.rung


def _confirmed(check: Check, folder: Path, book: Book, found: Found, under: Judged) -> Result:
    smallest, seen = found.smallest, book.sample_beside(found.smallest)
    code = UserCode(check, folder)
    frameworks = of_place(check, code)
    places = acted_at(code, _without_patches(book, under))
    proving = [name for name in smallest if name != FRESH or not _frees_names(book, smallest)]
    evidence = words.evidence(seen, under)
    causes = confirmed(check, proving, evidence, frameworks, places, found.needed)
    controls = controls_in(smallest)
    located_causes = located(check, causes, controls)
    causes = tuple(with_names_of(code.module_names, cause) for cause in located_causes)
    of_causes = [one.remedy for one in causes if one.confidence == "confirmed" and one.remedy]
    of_controls = (control_fix(frameworks, name, device_of(check)) for name in controls)
    in_own_names = [in_names(code.module_names, fix) for fix in filter(None, of_controls)]
    sentence = words.removes(smallest, under, causes)
    further: tuple[str, ...] = ()
    if under.later is not None:
        further = _further(check, under)
        sentence = sentences(sentence, words.another_remains(under.later, further))
    patched = book.of((), patched=True)
    if patched is not None and not patched.untried and patched.agrees is False:
        sentence = sentences(sentence, tr(words.PATCH_OF_CONFIRMED_IN_VAIN))
    search = replace(
        account(book),
        touches=under.runs[0].controls.touches,
        smallest=controls,
        fixes=fixes_in(smallest),
        sentence=sentence,
        confidence=words.confidence(seen, under),
        remedies=tuple(of_causes or in_own_names),
        patch=kept_patch(folder),
        further=further,
    )
    return Result(search=search, causes=causes)


def _without_patches(book: Book, under: Judged) -> Judged:
    """Return runs under at least the same controls and no patch, which moves lines; the same runs
    where there are none.
    """
    if not fixes_in(under.names):
        return under
    controls = set(controls_in(under.names))
    others = (one for one in book.judged if not fixes_in(one.names) and not one.patched)
    return next((one for one in others if controls.issubset(one.names)), under)


def _frees_names(book: Book, smallest: Sequence[str]) -> bool:
    """Return whether a fresh folder only keeps the names free that another control fixes."""
    others = book.of(name for name in smallest if name != FRESH)
    return others is not None and others.answer.stumbled


def _further(check: Check, under: Judged) -> tuple[str, ...]:
    """Options of `explain` that look for another difference, where one remains: all that is known
    is kept out of its way. None does that for a patch.
    """
    if fixes_in(under.names):
        return ()
    controls = (*check.record.controls, *under.names)
    return tuple(word for name in controls for word in ("--control", name))
