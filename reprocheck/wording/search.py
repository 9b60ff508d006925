"""The sentences of a search: why runs are made, what they said, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reprocheck.language import count, form, joined, mark, sentences, shortlist, tr
from reprocheck.language.letters import capital, small
from reprocheck.model import Check, Tried
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.reason import Reason, ReasonKey
from reprocheck.model.statements.search import (
    ActedAt,
    Agreement,
    AnotherRemains,
    ArmNote,
    Certainty,
    DiffersWithout,
    Moved,
    NamedCause,
    NextToTry,
    PatchesInVain,
    Removes,
    Sample,
    SearchRemark,
    SeenUnder,
)
from reprocheck.rules import entry
from reprocheck.wording.say import say

_MOST_NAMED, _MOST_SHOWN = 4, 3
"""Controls that are all named in a sentence; of more so many are, and the rest is counted."""
_MOST_PLACES = 5
"""Places that are named of those at which a control acted."""


def told(check: Check) -> Check:
    """Return the check with the sentences of its search."""
    search = check.search
    if search is None:
        return check
    search = replace(
        search,
        tried=tuple(map(_tried, search.tried)),
        sentence=sentences(*map(say, search.statements)),
        confidence=sentences(*map(say, search.certainty)),
        fix=joined("\n\n", dict.fromkeys(map(say, search.remedies))),
    )
    return replace(check, search=search)


def _tried(tried: Tried) -> Tried:
    return replace(tried, note=sentences(*map(say, tried.notes)))


WHY: Mapping[ReasonKey, str] = {
    "a cause speaks for it": mark("it would remove {code}, {title}"),
    "a line speaks for it": mark("a line where the runs diverge points to it"),
    "the ladder speaks for it": mark("the ladder points to it"),
    "suspects together": mark(
        "one control for each cause that the record or the scan names, together"
    ),
    "patches together": mark("the patches of all that the record or the scan names, together"),
    "next difference": mark("the first difference that is left speaks for {listed}"),
    "all harmless": mark("all controls that do not alter the training, together"),
    "harmless and patches": mark(
        "all controls that do not alter the training, and the patches of what is named, together"
    ),
    "altering, too": mark("these do not suffice: adding the controls that alter the training"),
    "without": mark("to test the set without {listed}"),
    "alone": mark("to test whether {name} alone suffices"),
    "a part of it": mark("to test whether {part}, a part of {name}, suffices"),
    "not at a place": mark("to test the set without what {name} does at {place}"),
    "without silent": mark("without those of which nothing shows what they act on"),
    "fails alone": mark("the script failed: to test whether this control makes it fail"),
    "which fails": mark("the script failed: to find the control that makes it fail"),
    "without failing": mark("again without {listed}, under which the script failed"),
    "another value": mark("another value of it, since the script failed under the one before"),
    "free names": mark(
        "in a fresh folder, since what the first run left was in the way of the next"
    ),
    "suffices": mark("to test whether this set suffices"),
    "more runs": mark("{runs}, to rule out that they agree by chance"),
    "how often": mark("again, to see how often the runs differ"),
    "intermittent": mark("again, because the difference is intermittent"),
    "no chance": mark("again, to rule out that runs agree by chance"),
    "patch": mark("the patch, without any control"),
}
"""Why runs are made, by the key of the reason."""


def why(reason: Reason | str) -> str:
    """Return why runs are made; older records hold the sentence."""
    if isinstance(reason, str):
        return tr(reason)
    name, part, *_ = (*reason.names, "", "")
    return tr(
        WHY[reason.key],
        name=name,
        part=part,
        listed=shortlist(reason.names, _MOST_SHOWN),
        place=reason.place,
        code=reason.code,
        title=small(tr(entry(reason.code).title)) if reason.code else "",
        runs=count(reason.runs, "more run"),
    )


@say.register
def next_to_try(statement: NextToTry) -> str:
    """Return what a search that was broken off would do next."""
    if not statement.names:
        return tr("Next to try: {why}.", why=why(statement.why))
    return tr("Next to try: {named} ({why}).", named=named(statement.names), why=why(statement.why))


def named(names: Sequence[str]) -> str:
    """Return controls and patches in a sentence; of many controls the first."""
    quoted = [f"`{name}`" for name in controls_in(names)]
    if len(quoted) > _MOST_NAMED:
        some = shortlist(quoted, _MOST_SHOWN)
        quoted = [tr("the {number} controls {listed}", number=len(quoted), listed=some)]
    fixes = fixes_in(names)
    if fixes:
        at = shortlist(fixes, _MOST_PLACES)
        quoted.append(form(len(fixes), "the patch of {at}", "the patches of {at}", at=at))
    return shortlist(quoted, len(quoted)) or tr("no control")


@say.register
def note(arm: ArmNote) -> str:
    """Return why the runs of an arm were made, or what stood in the way."""
    return tr(
        _NOTES[arm.hindrance],
        why=why(arm.why),
        what=arm.what,
        where=tr(" at {line}", line=arm.at) if arm.at else "",
        ended=_ended(arm),
        whole=shortlist(arm.beside, _MOST_NAMED),
    )


_NOTES = {
    "as in the check": mark("as in the check"),
    "none": "{why}",
    "not taken": mark(
        "no process of a run loaded the patched text: the program reads the file in another way"
    ),
    "refused": mark("the script failed: {what}{where} has no deterministic implementation"),
    "failed": mark("{ended}; {why}"),
    "took too long": mark("{ended}; {why}"),
    "within tolerance": mark("{why}; within the tolerance, but too far apart for rounding"),
    "one run": mark("{why}; one run, compared with those under {whole}"),
    "nothing acted": mark("{why}; nothing recorded shows that it acted"),
}
"""What is said of an arm, by what stood in the way."""


def _ended(arm: ArmNote) -> str:
    """Return how a run ended, with what the script said last."""
    if arm.hindrance == "took too long":
        return tr("run {number} took too long", number=arm.run)
    if not arm.what:
        return tr("run {number} failed", number=arm.run)
    return tr("run {number} failed ({last})", number=arm.run, last=arm.what)


@say.register
def remark(statement: SearchRemark) -> str:
    """Return what is said of a search without any value."""
    return tr(_REMARKS[statement.kind])


_REMARKS = {
    "broken off": mark("The search was ended before it had finished."),
    "nothing to try": mark(
        "No control was tried: the numbers that differ first in the training differ by as much"
        " as the values that the script was started with."
    ),
    "patch in vain": mark(
        "Runs with a patch of the confirmed causes differ still: these fixes do not suffice."
    ),
    "within tolerance": mark(
        "The checks pass; what was searched is a difference within the tolerance."
    ),
}


@say.register
def removes(statement: Removes) -> str:
    """Return that a set of controls removes the difference, and what that confirms."""
    by, agreeing = capital(named(statement.names)), _agreeing(statement.under)
    if not statement.shown:
        return tr(
            "{named} may remove the difference, but this is not shown: {agreeing}, which can be"
            " luck.",
            named=by,
            agreeing=agreeing,
        )
    if len(statement.names) == 1:
        said = tr("{named} removes the difference: {agreeing}.", named=by, agreeing=agreeing)
    else:
        said = tr(
            "{named} together remove the difference: {agreeing}. None of them can be left out.",
            named=by,
            agreeing=agreeing,
        )
    causes = joined(tr("; and "), dict.fromkeys(map(_called, statement.confirms)))
    return sentences(said, tr("This confirms {causes}.", causes=causes))


def _called(cause: NamedCause) -> str:
    return tr("{code}, {title}", code=cause.code, title=small(tr(cause.title)))


def _agreeing(under: Agreement) -> str:
    runs, how = under.runs, _how(under)
    if fixes_in(under.names):
        return form(
            len(under.names),
            "{runs} runs with it agree {how}",
            "{runs} runs with them agree {how}",
            runs=runs,
            how=how,
        )
    return form(
        len(under.names),
        "{runs} runs under it agree {how}",
        "{runs} runs under them agree {how}",
        runs=runs,
        how=how,
    )


def _how(under: Agreement) -> str:
    if under.later is not None:
        return tr("in every bit up to iteration {later}", later=under.later - 1)
    if under.exact:
        return tr("in every bit")
    return tr("except for rounding")


@say.register
def another_remains(statement: AnotherRemains) -> str:
    """Return that runs under the smallest set differ later, and what looks for that."""
    if not statement.further:
        return tr(
            "Another difference remains, from iteration {iteration} on: apply the patch and search"
            " again.",
            iteration=statement.iteration,
        )
    return tr(
        "Another difference remains, from iteration {iteration} on: {command} with the same"
        " script looks for it.",
        iteration=statement.iteration,
        command=f"`reprocheck explain {' '.join(statement.further)}`",
    )


@say.register
def moved(statement: Moved) -> str:
    """Return what controls remove that do not remove all."""
    return form(
        len(statement.names),
        "{named} removes a part of the difference: under it the runs first differ on the rung"
        " `{rung}`, no longer on `{before}`.",
        "{named} remove a part of the difference: under them the runs first differ on the rung"
        " `{rung}`, no longer on `{before}`.",
        named=capital(named(statement.names)),
        rung=tr(statement.rung),
        before=tr(statement.before),
    )


@say.register
def patches_in_vain(statement: PatchesInVain) -> str:
    """Return that runs with patches differ as well."""
    return form(
        len(statement.fixes),
        "Runs with {patches} differ too: it is not the only cause, or not a cause.",
        "Runs with {patches} differ too: these are not the only causes, or no causes.",
        patches=named(statement.fixes),
    )


@say.register
def agreement(under: Agreement) -> str:
    """Return what confirms the causes that a set of controls removes."""
    patched = mark("With {named} {runs} runs agree {how} ({arms}); {of_unmodified}")
    under_controls = mark("Under {named} {runs} runs agree {how} ({arms}); {of_unmodified}")
    return tr(
        patched if fixes_in(under.names) else under_controls,
        named=named(under.names),
        runs=under.runs,
        how=_how(under),
        arms=joined(tr(", "), (f"arms/{name}" for name in under.arms)),
        of_unmodified=small(_of_unmodified(under.seen)),
    )


@say.register
def of_differing(seen: Sample) -> str:
    """Return what is known of the runs that differ: those as they are, and those under controls
    that do not suffice.
    """
    if not seen.insufficient:
        return _of_unmodified(seen)
    under = form(
        seen.insufficient,
        "One run under controls that do not suffice differs from them, too.",
        "{further} runs under controls that do not suffice differ from them and from each other.",
        further=seen.insufficient,
    )
    return sentences(_of_unmodified(seen), under)


def _of_unmodified(seen: Sample) -> str:
    """Return a sentence such as `All 4 unmodified runs differ from each other`."""
    if seen.pairs:
        return _of_pairs(seen)
    runs, odd = seen.runs - seen.insufficient, seen.odd - seen.insufficient
    blind = ""
    if seen.blind > 1:
        blind = tr(
            " ({blind} of them have a loss that is not finite and agree with no run)",
            blind=seen.blind,
        )
    if seen.intermittent:
        return tr(
            "Of {runs} unmodified runs, {same} agree with each other and {odd} do"
            " not{blind}: the difference is intermittent.",
            runs=runs,
            same=runs - odd,
            odd=odd,
            blind=blind,
        )
    if runs > 2:
        return tr(
            "All {runs} unmodified runs differ from each other{blind}.", runs=runs, blind=blind
        )
    return tr("The two unmodified runs differ.")


def _of_pairs(seen: Sample) -> str:
    """Return what pairs of unmodified runs have in common, where a run follows from the one before
    it.
    """
    said = tr(
        "The first run of each of {pairs} unmodified pairs gives the same, and each later run"
        " differs from it.",
        pairs=seen.pairs,
    )
    if seen.second:
        said = tr(
            "The first run of each of {pairs} unmodified pairs gives the same, and so does the"
            " second, which differs from it.",
            pairs=seen.pairs,
        )
    if not seen.carried:
        return said
    return sentences(said, tr("A run follows from what the one before it left."))


@say.register
def certainty(statement: Certainty) -> str:
    """Return how sure it is that a set of controls removes the difference, or how many runs it
    takes where too few agree.
    """
    under, bound = statement.under, f"{statement.bound:.0%}"
    if not statement.wanted:
        return tr(
            "{of_differing} If {names} had no effect, {luck} With 95 %"
            " confidence, at most {bound} of runs under {names} differ from the first.",
            of_differing=of_differing(under.seen),
            names=named(under.names),
            luck=_luck(statement),
            bound=bound,
        )
    more = tr("{wanted} runs", wanted=statement.wanted)
    if statement.more:
        more = tr("more than {most} runs", most=statement.wanted)
    return tr(
        "{of_differing} To rule out luck, {more} must agree (--runs N makes more of each);"
        " with 95 % confidence, at most {bound} of runs under {named}"
        " differ from the first.",
        of_differing=of_differing(under.seen),
        more=more,
        bound=bound,
        named=named(under.names),
    )


def _luck(statement: Certainty) -> str:
    agree = tr("still agree")
    if statement.under.seen.unlike:
        agree = tr("still agree, and differ from all of these,")
    return tr(
        "{runs} runs would {agree} in at most {share:.1%} of such searches.",
        runs=statement.proving,
        agree=agree,
        share=statement.luck,
    )


@say.register
def differs_without(statement: DiffersWithout) -> str:
    """Return what shows that a control has to act at a place, or that a patch is needed."""
    if not statement.place:
        return tr("Runs without the patch of {fix} differ.", fix=statement.name)
    return tr(
        "A run differs in which `{name}` does not act at {place}.",
        name=statement.name,
        place=statement.place,
    )


@say.register
def acted_at(statement: ActedAt) -> str:
    """Return where a control acted."""
    said = tr(
        "`{control}` {acted} at {place}{what}.",
        control=statement.control,
        acted=tr("first acted") if statement.first else tr("acted"),
        place=f"{statement.at} ({statement.what})",
        what=tr(", which draws random numbers") if statement.draws else "",
    )
    if not statement.others:
        return said
    others = tr(
        "It also acted at {listed}: any of them may be the cause.",
        listed=shortlist([f"{at} ({what})" for at, what in statement.others], _MOST_PLACES),
    )
    return sentences(said, others)


@say.register
def seen_under(statement: SeenUnder) -> str:
    """Return where an error of deterministic mode was seen."""
    return form(
        len(statement.names),
        "This was seen under {named}; the search continued without it.",
        "This was seen under {named}; the search continued without them.",
        named=named(statement.names),
    )
