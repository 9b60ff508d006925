"""The sentences of a search: its runs, what they said, how sure that is, what remains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from reprocheck.language import count, form, joined, mark, sentences, shortlist, spoken, tr
from reprocheck.language.letters import capital, small
from reprocheck.model import Check
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.reason import Reason, ReasonKey
from reprocheck.model.statements import search as statements
from reprocheck.model.statements.search import Remains
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
    fix = joined("\n\n", dict.fromkeys(map(say, search.remedies)))
    with spoken("en"):
        search = replace(
            search,
            tried=tuple(replace(row, note=sentences(*map(say, row.notes))) for row in search.tried),
            sentence=sentences(*map(say, search.statements)),
            confidence=sentences(*map(say, search.certainty)),
            fix=fix,
        )
    return replace(check, search=search)


WHY: Mapping[ReasonKey, str] = {
    "a cause speaks for it": "it would remove {code}, {title}",
    "a line speaks for it": "a line where the runs diverge points to it",
    "the ladder speaks for it": "the ladder points to it",
    "suspects together": "one control for each cause that the record or the scan names, together",
    "patches together": "the patches of all that the record or the scan names, together",
    "next difference": "the first difference that is left speaks for {listed}",
    "all harmless": "all controls that do not alter the training, together",
    "harmless and patches": (
        "all controls that do not alter the training, and the patches of what is named, together"
    ),
    "altering, too": "these do not suffice: adding the controls that alter the training",
    "without": "to test the set without {listed}",
    "alone": "to test whether {name} alone suffices",
    "a part of it": "to test whether {part}, a part of {name}, suffices",
    "not at a place": "to test the set without what {name} does at {place}",
    "without silent": "without those of which nothing shows what they act on",
    "fails alone": "the script failed: to test whether this control makes it fail",
    "which fails": "the script failed: to find the control that makes it fail",
    "without failing": "again without {listed}, under which the script failed",
    "another value": "another value of it, since the script failed under the one before",
    "free names": "in a fresh folder, since what the first run left was in the way of the next",
    "suffices": "to test whether this set suffices",
    "more runs": "{runs}, to rule out that they agree by chance",
    "how often": "again, to see how often the runs differ",
    "intermittent": "again, because the difference is intermittent",
    "no chance": "again, to rule out that runs agree by chance",
    "patch": "the patch, without any control",
}
"""Why runs are made, by the key of the reason."""


def why(reason: Reason | str) -> str:
    """Return why runs are made; older records hold the sentence."""
    if isinstance(reason, str):
        return reason
    name, part, *_ = (*reason.names, "", "")
    return WHY[reason.key].format(
        name=name,
        part=part,
        listed=shortlist(reason.names, _MOST_SHOWN),
        place=reason.place,
        code=reason.code,
        title=small(entry(reason.code).title) if reason.code else "",
        runs=count(reason.runs, "more run"),
    )


@say.register
def next_to_try(statement: statements.NextToTry) -> str:
    """Say what a search that was broken off would do next."""
    if not statement.names:
        return f"Next to try: {why(statement.why)}."
    return f"Next to try: {named(statement.names)} ({why(statement.why)})."


def named(names: Sequence[str]) -> str:
    """Return controls and patches in a sentence; of many controls the first."""
    quoted = [f"`{name}`" for name in controls_in(names)]
    if len(quoted) > _MOST_NAMED:
        some = shortlist(quoted, _MOST_SHOWN)
        quoted = [f"the {len(quoted)} controls {some}"]
    fixes = fixes_in(names)
    if fixes:
        at = shortlist(fixes, _MOST_PLACES)
        quoted.append(f"the patch of {at}" if len(fixes) == 1 else f"the patches of {at}")
    return shortlist(quoted, len(quoted)) or "no control"


@say.register
def note(arm: statements.ArmNote) -> str:
    """Say why the runs of an arm were made, or why they failed."""
    return _NOTES[arm.hindrance].format(
        why=why(arm.why),
        what=arm.what,
        where=f" at {arm.at}" if arm.at else "",
        ended=_ended(arm),
        whole=shortlist(arm.beside, _MOST_NAMED),
    )


_NOTES = {
    "as in the check": "as in the check",
    "none": "{why}",
    "not taken": (
        "no process of a run loaded the patched text: the program reads the file in another way"
    ),
    "refused": "the script failed: {what}{where} has no deterministic implementation",
    "failed": "{ended}; {why}",
    "took too long": "{ended}; {why}",
    "within tolerance": "{why}; within the tolerance, but too far apart for rounding",
    "one run": "{why}; one run, compared with those under {whole}",
    "nothing acted": "{why}; nothing recorded shows that it acted",
}
"""What is said of an arm, by what stood in the way."""


def _ended(arm: statements.ArmNote) -> str:
    """Return how a run ended, with what the script said last."""
    if arm.hindrance == "took too long":
        return f"run {arm.run} took too long"
    if not arm.what:
        return f"run {arm.run} failed"
    return f"run {arm.run} failed ({arm.what})"


@say.register
def remark(statement: statements.SearchRemark) -> str:
    """Return the sentence of a remark about the search that has no values."""
    return _REMARKS[statement.kind]


_REMARKS = {
    "broken off": "The search was ended before it had finished.",
    "nothing to try": (
        "No control was tried: the numbers that differ first in the training differ by"
        " as much as the values that the script was started with."
    ),
    "patch in vain": (
        "Runs with a patch of the confirmed causes differ still: these fixes do not suffice."
    ),
    "within tolerance": (
        "The checks pass; what was searched is a difference within the tolerance."
    ),
}


@say.register
def removes(statement: statements.Removes) -> str:
    """Say that a set of controls removes the difference, and what that confirms."""
    by, agreeing = capital(named(statement.names)), _agreeing(statement.under)
    if not statement.shown:
        return (
            f"{by} may remove the difference, but this is not shown: {agreeing}, which can be luck."
        )
    if len(statement.names) == 1:
        said = f"{by} removes the difference: {agreeing}."
    else:
        said = f"{by} together remove the difference: {agreeing}. None of them can be left out."
    causes = [f"{cause.code}, {small(cause.title)}" for cause in statement.confirms]
    return f"{said} This confirms {'; and '.join(dict.fromkeys(causes))}."


def _agreeing(under: statements.Agreement) -> str:
    by = "with" if fixes_in(under.names) else "under"
    them = "it" if len(under.names) == 1 else "them"
    return f"{under.runs} runs {by} {them} agree {_how(under)}"


def _how(under: statements.Agreement) -> str:
    if under.later is not None:
        return tr("in every bit up to iteration {later}", later=under.later - 1)
    if under.exact:
        return tr("in every bit")
    return tr("except for rounding")


@say.register
def another_remains(statement: statements.AnotherRemains) -> str:
    """Say that runs under the smallest set differ later, and which command looks for the reason."""
    if not statement.further:
        return (
            f"Another difference remains, from iteration {statement.iteration} on: apply the"
            " patch and search again."
        )
    command = f"`reprocheck explain {' '.join(statement.further)}`"
    return (
        f"Another difference remains, from iteration {statement.iteration} on: {command}"
        " with the same script looks for it."
    )


@say.register
def moved(statement: statements.Moved) -> str:
    """Say which part of the difference controls remove that do not remove all of it."""
    remove, them = ("removes", "it") if len(statement.names) == 1 else ("remove", "them")
    return (
        f"{capital(named(statement.names))} {remove} a part of the difference: under {them} the"
        f" runs first differ on the rung `{statement.rung}`, no longer on `{statement.before}`."
    )


@say.register
def patches_in_vain(statement: statements.PatchesInVain) -> str:
    """Return that runs with patches differ as well."""
    which = "it is not the only cause, or not a cause"
    if len(statement.fixes) > 1:
        which = "these are not the only causes, or no causes"
    return f"Runs with {named(statement.fixes)} differ too: {which}."


@say.register
def agreement(under: statements.Agreement) -> str:
    """Say why the agreement under a set of controls confirms causes."""
    patched = mark("With {named} {runs} runs agree {how} ({arms}); {of_unmodified}")
    under_controls = mark("Under {named} {runs} runs agree {how} ({arms}); {of_unmodified}")
    return tr(
        patched if fixes_in(under.names) else under_controls,
        named=named(under.names),
        runs=under.runs,
        how=_how(under),
        arms=", ".join(f"arms/{name}" for name in under.arms),
        of_unmodified=small(_of_unmodified(under.seen)),
    )


@say.register
def of_differing(seen: statements.Sample) -> str:
    """Say how the differing runs differ: unmodified ones, and those under some controls.

    Controls that do not suffice.
    """
    if not seen.insufficient:
        return _of_unmodified(seen)
    under = (
        "One run under controls that do not suffice differs from them, too."
        if seen.insufficient == 1
        else (
            f"{seen.insufficient} runs under controls that do not suffice differ from them"
            " and from each other."
        )
    )
    return sentences(_of_unmodified(seen), under)


def _of_unmodified(seen: statements.Sample) -> str:
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


def _of_pairs(seen: statements.Sample) -> str:
    """Say what pairs of unmodified runs have in common, if each run follows the one before."""
    message = mark(
        "The first run of each of {pairs} unmodified pairs gives the same, and each later run"
        " differs from it."
    )
    if seen.second:
        message = mark(
            "The first run of each of {pairs} unmodified pairs gives the same, and so does the"
            " second, which differs from it."
        )
    follows = tr("A run follows from what the one before it left.") if seen.carried else ""
    return sentences(tr(message, pairs=seen.pairs), follows)


@say.register
def certainty(statement: statements.Certainty) -> str:
    """Say how sure it is that a set of controls removes the difference.

    Or how many runs are needed if too few agree.
    """
    under, bound = statement.under, f"{statement.bound:.0%}"
    if not statement.wanted:
        agree = "still agree"
        if under.seen.unlike:
            agree = "still agree, and differ from all of these,"
        luck = f"in at most {statement.luck:.1%} of such searches"
        return (
            f"{of_differing(under.seen)} If {named(under.names)} had no effect,"
            f" {statement.proving} runs would {agree} {luck}. With 95 % confidence, at most {bound}"
            f" of runs under {named(under.names)} differ from the first."
        )
    more = f"{statement.wanted} runs"
    if statement.more:
        more = f"more than {more}"
    return (
        f"{of_differing(under.seen)} To rule out luck, {more} must agree (--runs N makes"
        f" more of each); with 95 % confidence, at most {bound} of runs under"
        f" {named(under.names)} differ from the first."
    )


@say.register
def differs_without(statement: statements.DiffersWithout) -> str:
    """Say which runs show that a control has to act at a place, or that a patch is needed."""
    if not statement.place:
        return tr("Runs without the patch of {fix} differ.", fix=statement.name)
    return tr(
        "A run differs in which `{name}` does not act at {place}.",
        name=statement.name,
        place=statement.place,
    )


@say.register
def acted_at(statement: statements.ActedAt) -> str:
    """Say at which place a control acted."""
    acted = tr(
        "`{control}` {acted} at {place}{what}.",
        control=statement.control,
        acted=tr("first acted") if statement.first else tr("acted"),
        place=f"{statement.at} ({statement.what})",
        what=tr(", which draws random numbers") if statement.draws else "",
    )
    if not statement.others:
        return acted
    others = tr(
        "It also acted at {listed}: any of them may be the cause.",
        listed=shortlist([f"{at} ({what})" for at, what in statement.others], _MOST_PLACES),
    )
    return sentences(acted, others)


@say.register
def seen_under(statement: statements.SeenUnder) -> str:
    """Say under which controls an error of deterministic mode was seen.

    The search went on without these controls.
    """
    return form(
        len(statement.names),
        "This was seen under {named}; the search continued without it.",
        "This was seen under {named}; the search continued without them.",
        named=named(statement.names),
    )


_MOST_QUOTED = 3
"""Controls that are named of those under which runs agreed by luck."""
_MOST_NOISE = 4
"""Sentences on what makes noise, the place included."""


@say.register
def remaining(remains: Remains) -> str:
    """Say in one or more sentences which difference remains if no control makes the runs agree."""
    tried = f"No control makes the runs agree, alone or together with others{_left_out(remains)}"
    match remains.kind:
        case "idle":
            parts = [_idle(remains.idle)]
        case "few tried":
            parts = [
                f"No control was seen to make the runs agree{_left_out(remains)}. The difference is"
                " intermittent, so few controls were tried: --runs N tries more."
            ]
        case "nothing recorded":
            parts = [
                f"{tried}. Nothing that was recorded differs, so the source of the difference was"
                " not recorded."
            ]
        case "given":
            parts = [f"{tried}, because the runs were given different inputs."]
            parts += map(say, remains.given)
        case "noise":
            parts = [f"{tried}: what remains is noise of an operator or of the hardware."]
            parts += [_made_by(remains), *map(say, remains.operators)][:_MOST_NOISE]
        case "unreached":
            parts = [*_unreached(remains, tried), *map(say, remains.given)]
    parts += [
        f"{line} reads `{name}`: the controls leave monotonic clocks alone, so none can confirm it."
        for line, name in remains.clocks
    ]
    return " ".join(parts)


def _left_out(remains: Remains) -> str:
    if not remains.crashing:
        return ""
    them = "it" if len(remains.crashing) == 1 else "them"
    return f" ({named(remains.crashing)} left out, because the script fails under {them})"


def _idle(names: Sequence[str]) -> str:
    """Say that runs agreed under controls that had no visible effect."""
    if len(names) > _MOST_QUOTED:
        agree = f"{len(names)} controls at once, but those that acted do not suffice"
    else:
        they = "it" if len(names) == 1 else "they"
        agree = f"{named(names)}, but nothing recorded shows that {they} acted"
    return f"No cause is confirmed: runs agree under {agree}, so this may be luck."


def _made_by(remains: Remains) -> str:
    """Say which operator makes noise, and at which place it shows first."""
    place = f"`{remains.place}`" if remains.place else "the loss"
    seen = f"first seen at {place} on the rung `{remains.rung}`"
    operator = say(remains.culprit)
    if remains.operator and not operator:
        operator = f"`{remains.operator}`"
    if operator:
        return f"It comes from {operator}, and is {seen}."
    return f"It is {seen}."


def _unreached(remains: Remains, tried: str) -> Iterator[str]:
    """Yield sentences on a difference that is no noise, and that no control removes."""
    suspect, culprit = remains.suspect, say(remains.culprit)
    if suspect is None:
        yield (
            f"{tried}: the source of the difference is out of reach of every control, such as a"
            " service, a native library that draws by itself, a race between threads, or the"
            " hardware."
        )
    else:
        yield f"{tried}."
        yield (
            f"The {suspect.confidence} cause is {suspect.code} at {suspect.at}, and no control"
            " confirms it."
        )
    place = f" at `{remains.place}`" if remains.place else ""
    yield f"It first shows on the rung `{remains.rung}`{place}."
    if culprit:
        yield f"It comes from {culprit}."
