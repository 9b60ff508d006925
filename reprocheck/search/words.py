"""The sentences of a search: why runs are made, what they said, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from reprocheck.ladder.words import listed
from reprocheck.language import count, form, joined, mark, sentences, tr
from reprocheck.model import Cause, Run, Rung
from reprocheck.model.letters import capital, small
from reprocheck.model.reason import Reason, ReasonKey
from reprocheck.rules import entry
from reprocheck.search import chance
from reprocheck.search.asked import PAIR, Difference, Question, controls_in, fixes_in
from reprocheck.search.chance import Sample
from reprocheck.search.judged import Judged
from reprocheck.search.noise import Kind, Remains

_MOST_NAMED, _MOST_SHOWN = 4, 3
"""Controls that are all named in a sentence; of more so many are, and the rest is counted."""
_MOST_QUOTED = 3
"""Controls that are named of those under which runs agreed by luck."""
_MOST_PLACES = 5
"""Places that are named of those at which a control acted."""
_MOST_NOISE = 4
"""Sentences on what makes noise, the place included."""


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
        listed=listed(reason.names, _MOST_SHOWN),
        place=reason.place,
        code=reason.code,
        title=small(tr(entry(reason.code).title)) if reason.code else "",
        runs=count(reason.runs, "more run"),
    )


def differs_without(name: str, place: str) -> str:
    """Return what shows that a control has to act at a place."""
    return tr("A run differs in which `{name}` does not act at {place}.", name=name, place=place)


def differs_without_patch(fix: str) -> str:
    """Return what shows that a patch is needed."""
    return tr("Runs without the patch of {fix} differ.", fix=fix)


def next_to_try(question: Question) -> str:
    """Return what a search that was broken off would do next."""
    asked = why(question.why)
    if not question.controls:
        return tr("Next to try: {why}.", why=asked)
    return tr("Next to try: {named} ({why}).", named=named(question.controls), why=asked)


AS_IN_THE_CHECK = mark("as in the check")
BROKEN_OFF = mark("The search was ended before it had finished.")
_NOT_TAKEN = mark(
    "no process of a run loaded the patched text: the program reads the file in another way"
)


def named(names: Sequence[str]) -> str:
    """Controls and patches in a sentence; of many controls the first."""
    quoted = [f"`{name}`" for name in controls_in(names)]
    if len(quoted) > _MOST_NAMED:
        some = listed(quoted, _MOST_SHOWN)
        quoted = [tr("the {number} controls {listed}", number=len(quoted), listed=some)]
    fixes = fixes_in(names)
    if fixes:
        at = listed(fixes, _MOST_PLACES)
        quoted.append(form(len(fixes), "the patch of {at}", "the patches of {at}", at=at))
    return listed(quoted, len(quoted)) or tr("no control")


def note(judged: Judged, reason: Reason | str) -> str:
    """Return why the runs were made, or what stood in the way."""
    asked = why(reason)
    if judged.untried:
        return tr(_NOT_TAKEN)
    if judged.refusal:
        at = judged.refusal.source
        return tr(
            "the script failed: {what}{where} has no deterministic implementation",
            what=judged.refusal.operator or judged.refusal.message,
            where=tr(" at {line}", line=at.at) if at else "",
        )
    if judged.failed:
        return tr("{ended}; {why}", ended=_ended_badly(judged.failed), why=asked)
    if judged.within_tolerance_only:
        return tr("{why}; within the tolerance, but too far apart for rounding", why=asked)
    if judged.reference:
        whole = listed(judged.reference, _MOST_NAMED)
        return tr("{why}; one run, compared with those under {whole}", why=asked, whole=whole)
    if judged.agrees and judged.names and not judged.acted:
        return tr("{why}; nothing recorded shows that it acted", why=asked)
    return asked


def _ended_badly(run: Run) -> str:
    """Return how a run ended, with what the script said last."""
    if run.record.ended == "timed_out":
        return tr("run {number} took too long", number=run.number)
    last = run.last_words
    if not last:
        return tr("run {number} failed", number=run.number)
    return tr("run {number} failed ({last})", number=run.number, last=last)


def seen_under(names: Sequence[str]) -> str:
    """Return where an error of deterministic mode was seen."""
    return form(
        len(names),
        "This was seen under {named}; the search continued without it.",
        "This was seen under {named}; the search continued without them.",
        named=named(names),
    )


def acted_at(control: str, place: str, *, first: bool, draws: bool) -> str:
    """Return where a control acted."""
    return tr(
        "`{control}` {acted} at {place}{what}.",
        control=control,
        acted=tr("first acted") if first else tr("acted"),
        place=place,
        what=tr(", which draws random numbers") if draws else "",
    )


def also_acted_at(places: Sequence[str]) -> str:
    """Return the other places of a control, where any of them may be the cause."""
    return tr(
        "It also acted at {listed}: any of them may be the cause.",
        listed=listed(places, _MOST_PLACES),
    )


def removes(smallest: Sequence[str], under: Judged, causes: Sequence[Cause]) -> str:
    """Return the sentence that a set of controls removes the difference, and what that confirms."""
    confirmed = [one for one in causes if one.confidence == "confirmed"]
    listed_causes = joined(tr("; and "), dict.fromkeys(map(_called, confirmed)))
    agreeing = _agreeing(under)
    if len(smallest) == 1:
        said = tr(
            "{named} removes the difference: {agreeing}.",
            named=capital(named(smallest)),
            agreeing=agreeing,
        )
    else:
        said = tr(
            "{named} together remove the difference: {agreeing}. None of them can be left out.",
            named=capital(named(smallest)),
            agreeing=agreeing,
        )
    return sentences(said, tr("This confirms {causes}.", causes=listed_causes))


def _called(cause: Cause) -> str:
    return tr("{code}, {title}", code=cause.code, title=small(tr(cause.title)))


def another_remains(iteration: int, further: Sequence[str]) -> str:
    """Return the sentence that runs under the smallest set differ later, and what looks for
    that.
    """
    if not further:
        return tr(
            "Another difference remains, from iteration {iteration} on: apply the patch and search"
            " again.",
            iteration=iteration,
        )
    return tr(
        "Another difference remains, from iteration {iteration} on: {command} with the same"
        " script looks for it.",
        iteration=iteration,
        command=f"`reprocheck explain {' '.join(further)}`",
    )


def may_remove(smallest: Sequence[str], under: Judged) -> str:
    """Return the sentence that too few runs agree under a set of controls."""
    return tr(
        "{named} may remove the difference, but this is not shown: {agreeing}, which can be luck.",
        named=capital(named(smallest)),
        agreeing=_agreeing(under),
    )


WITHIN_TOLERANCE = mark("The checks pass; what was searched is a difference within the tolerance.")
PATCH_OF_CONFIRMED_IN_VAIN = mark(
    "Runs with a patch of the confirmed causes differ still: these fixes do not suffice."
)


def moved(under: Judged, left: Difference, before: str) -> str:
    """Return what controls remove that do not remove all."""
    return form(
        len(under.names),
        "{named} removes a part of the difference: under it the runs first differ on the rung"
        " `{rung}`, no longer on `{before}`.",
        "{named} remove a part of the difference: under them the runs first differ on the rung"
        " `{rung}`, no longer on `{before}`.",
        named=capital(named(under.names)),
        rung=tr(left.rung),
        before=tr(before),
    )


def patches_in_vain(fixes: Sequence[str]) -> str:
    """Return that runs with patches differ as well."""
    return form(
        len(fixes),
        "Runs with {patches} differ too: it is not the only cause, or not a cause.",
        "Runs with {patches} differ too: these are not the only causes, or no causes.",
        patches=named(fixes),
    )


def _agreeing(under: Judged) -> str:
    if fixes_in(under.names):
        return form(
            len(under.names),
            "{runs} runs with it agree {how}",
            "{runs} runs with them agree {how}",
            runs=len(under.runs),
            how=_how(under),
        )
    return form(
        len(under.names),
        "{runs} runs under it agree {how}",
        "{runs} runs under them agree {how}",
        runs=len(under.runs),
        how=_how(under),
    )


def _how(under: Judged) -> str:
    if under.later is not None:
        return tr("in every bit up to iteration {later}", later=under.later - 1)
    if under.exact:
        return tr("in every bit")
    return tr("except for rounding")


def evidence(seen: Sample, under: Judged) -> str:
    """Return what confirms the causes that a set of controls removes."""
    patched = mark("With {named} {runs} runs agree {how} ({arms}); {of_unmodified}")
    under_controls = mark("Under {named} {runs} runs agree {how} ({arms}); {of_unmodified}")
    return tr(
        patched if fixes_in(under.names) else under_controls,
        named=named(under.names),
        runs=len(under.runs),
        how=_how(under),
        arms=_arms(under),
        of_unmodified=small(of_unmodified(seen)),
    )


def _arms(judged: Judged) -> str:
    return joined(tr(", "), (f"arms/{arm.name}" for arm in judged.arms))


def of_differing(seen: Sample) -> str:
    """Return what is known of the runs that differ: those as they are, and those under controls
    that do not suffice.
    """
    if not seen.insufficient:
        return of_unmodified(seen)
    under = form(
        seen.insufficient,
        "One run under controls that do not suffice differs from them, too.",
        "{further} runs under controls that do not suffice differ from them and from each other.",
        further=seen.insufficient,
    )
    return sentences(of_unmodified(seen), under)


def of_unmodified(seen: Sample) -> str:
    """Return `All 4 unmodified runs differ from each other.`"""
    seen = replace(seen, runs=seen.runs - seen.insufficient, odd=seen.odd - seen.insufficient)
    if seen.pairs:
        return _of_pairs(seen)
    if seen.intermittent:
        return tr(
            "Of {runs} unmodified runs, {same} agree with each other and {odd} do"
            " not{blind}: the difference is intermittent.",
            runs=seen.runs,
            same=seen.runs - seen.odd,
            odd=seen.odd,
            blind=_blind(seen),
        )
    if seen.runs > PAIR:
        return tr(
            "All {runs} unmodified runs differ from each other{blind}.",
            runs=seen.runs,
            blind=_blind(seen),
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


def _blind(seen: Sample) -> str:
    if seen.blind < 2:
        return ""
    return tr(
        " ({blind} of them have a loss that is not finite and agree with no run)", blind=seen.blind
    )


def confidence(seen: Sample, under: Judged) -> str:
    """Return how sure it is that a set of controls removes the difference."""
    if seen.carried:  # the runs are no independent draws
        return of_differing(seen)
    return tr(
        "{of_differing} If {names} had no effect, {luck} With 95 %"
        " confidence, at most {bound} of runs under {names} differ from the first.",
        of_differing=of_differing(seen),
        names=named(under.names),
        luck=_luck(seen, under),
        bound=_bound(seen, under),
    )


def not_sure(seen: Sample, under: Judged, wanted: int) -> str:
    """Return how many runs it takes where too few agree."""
    if seen.carried:
        return of_differing(seen)
    more = tr("{wanted} runs", wanted=wanted)
    if wanted > chance.MOST:
        more = tr("more than {most} runs", most=chance.MOST)
    return tr(
        "{of_differing} To rule out luck, {more} must agree (--runs N makes more of each);"
        " with 95 % confidence, at most {bound} of runs under {named}"
        " differ from the first.",
        of_differing=of_differing(seen),
        more=more,
        bound=_bound(seen, under),
        named=named(under.names),
    )


def _luck(seen: Sample, under: Judged) -> str:
    runs = _proving(seen, under)
    agree = tr("still agree")
    if seen.unlike:
        agree = tr("still agree, and differ from all of these,")
    return tr(
        "{runs} runs would {agree} in at most {share:.1%} of such searches.",
        runs=runs,
        agree=agree,
        share=chance.luck(seen, runs),
    )


def _bound(seen: Sample, under: Judged) -> str:
    return f"{chance.bound(_proving(seen, under)):.0%}"


def _proving(seen: Sample, under: Judged) -> int:
    """Return how many runs prove a set: not those that chose it among many."""
    return len(under.runs) // (chance.CHOICE_AND_PROOF if seen.intermittent else 1)


def given(rung: Rung | None) -> str:
    """Return why no control is tried where the start gives the numbers that differ."""
    said = tr(
        "No control was tried: the numbers that differ first in the training differ by as much"
        " as the values that the script was started with."
    )
    if rung is None:
        return said
    return sentences(said, rung.detail)


def remaining(remains: Remains) -> str:
    """Return what remains where no control makes the runs agree: one or more sentences."""
    return sentences(_REMAINS[remains.kind](remains), *map(_clock, remains.clocks))


def _clock(read: tuple[str, str]) -> str:
    """Return a clock that a cause names and no control reaches."""
    line, name = read
    return tr(
        "{line} reads `{name}`: the controls leave monotonic clocks alone, so none can confirm it.",
        line=line,
        name=name,
    )


def _idle(remains: Remains) -> str:
    """Run agreed under controls that did nothing that shows."""
    names = remains.idle
    if len(names) > _MOST_QUOTED:
        agree = tr(
            "{names} controls at once, but those that acted do not suffice", names=len(names)
        )
    else:
        agree = form(
            len(names),
            "{both}, but nothing recorded shows that it acted",
            "{both}, but nothing recorded shows that they acted",
            both=named(names),
        )
    return tr("No cause is confirmed: runs agree under {agree}, so this may be luck.", agree=agree)


def _left_out(remains: Remains) -> str:
    if not remains.crashing:
        return ""
    return form(
        len(remains.crashing),
        " ({names} left out, because the script fails under it)",
        " ({names} left out, because the script fails under them)",
        names=named(remains.crashing),
    )


def _tried(remains: Remains) -> str:
    return tr(
        "No control makes the runs agree, alone or together with others{left_out}",
        left_out=_left_out(remains),
    )


def _few_tried(remains: Remains) -> str:
    return tr(
        "No control was seen to make the runs agree{left_out}. The difference is"
        " intermittent, so few controls were tried: --runs N tries more.",
        left_out=_left_out(remains),
    )


def _nothing_recorded(remains: Remains) -> str:
    return tr(
        "{tried}. Nothing that was recorded differs, so the source of the difference"
        " was not recorded.",
        tried=_tried(remains),
    )


def _given_otherwise(remains: Remains) -> str:
    said = tr("{tried}, because the runs were given different inputs.", tried=_tried(remains))
    return sentences(said, remains.rung.detail)


def _noise(remains: Remains) -> str:
    """Return the operator, from the ladder and the lists."""
    rung = remains.rung
    at = f"`{rung.place}`" if rung.place else tr("the loss")
    made = tr("It is first seen at {at} on the rung `{rung}`.", at=at, rung=tr(rung.rung))
    if remains.made_by:
        made = tr(
            "It comes from {made_by}, and is first seen at {at} on the rung `{rung}`.",
            made_by=remains.made_by,
            at=at,
            rung=tr(rung.rung),
        )
    noise = [made, *remains.operators][:_MOST_NOISE]
    said = tr(
        "{tried}: what remains is noise of an operator or of the hardware.", tried=_tried(remains)
    )
    return sentences(said, *noise)


def _unreached(remains: Remains) -> str:
    rung = remains.rung
    shows = tr("It first shows on the rung `{rung}`.", rung=tr(rung.rung))
    if rung.place:
        shows = tr(
            "It first shows on the rung `{rung}` at `{place}`.",
            rung=tr(rung.rung),
            place=rung.place,
        )
    said = [*_not_by_control(_tried(remains), remains.suspect), shows]
    if rung.culprit:
        said.append(tr("It comes from {culprit}.", culprit=rung.culprit))
    if remains.also:
        said.append(remains.also)
    return sentences(*said)


def _not_by_control(tried: str, suspect: Cause | None) -> tuple[str, ...]:
    """Return the line of the first cause, where it has one: then there is more to say than that no
    control reaches it.
    """
    if suspect is None:
        out_of_reach = tr(
            "{tried}: the source of the difference is out of reach of every control, such as a"
            " service, a native library that draws by itself, a race between threads, or the"
            " hardware.",
            tried=tried,
        )
        return (out_of_reach,)
    unconfirmed = tr(
        "The {confidence} cause is {code} at {line}, and no control confirms it.",
        confidence=tr(suspect.confidence),
        code=suspect.code,
        line=suspect.at,
    )
    return tr("{sentence}.", sentence=tried), unconfirmed


_REMAINS: Mapping[Kind, Callable[[Remains], str]] = {
    "idle": _idle,
    "few tried": _few_tried,
    "nothing recorded": _nothing_recorded,
    "given": _given_otherwise,
    "noise": _noise,
    "unreached": _unreached,
}
