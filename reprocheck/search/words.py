"""The sentences of a search: why runs are made, what they said, and how sure that is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reprocheck.ladder.words import listed
from reprocheck.model import Cause, Run, Rung
from reprocheck.model.letters import capital, small
from reprocheck.search import chance
from reprocheck.search.asked import PAIR, Question
from reprocheck.search.chance import Sample
from reprocheck.search.judged import Judged
from reprocheck.search.noise import Kind, Remains, Suspect
from reprocheck.verdict.words import count

_MOST_NAMED, _MOST_SHOWN = 4, 3
"""Controls that are all named in a sentence; of more so many are, and the rest is counted."""
_MOST_QUOTED = 3
"""Controls that are named of those under which runs agreed by luck."""
_MOST_PLACES = 5
"""Places that are named of those at which a control acted."""
_MOST_NOISE = 4
"""Sentences on what makes noise, the place included."""

# -------------------------------------------------------------------------------- why runs are made

AT_PLACE = "a line where the runs diverge points to it"
POINTED_AT = "the ladder points to it"
ALL_HARMLESS = "all controls that do not alter the training, together"
WITH_ALTERING = "these do not suffice: adding the controls that alter the training"
WHETHER_IT_FAILS = "the script failed: to test whether this control makes it fail"
WHICH_FAILS = "the script failed: to find the control that makes it fail"
LIKELY_TOGETHER = "each likely control may remove a part of the difference: all of them"
SUFFICES = "to test whether this set suffices"
STEADY = "to see how often the runs differ"
INTERMITTENT = "because the difference is intermittent"
NO_CHANCE = "to rule out that runs agree by chance"
FOR_A_PATCH = "to tell the effect of a patch from chance"


def would_remove(code: str, title: str) -> str:
    """Why a control is tried that a cause speaks for."""
    return f"it would remove {code}, {small(title)}"


def again_without(names: Sequence[str]) -> str:
    """Why the others are tried once more where some make the script fail."""
    return f"again without {' and '.join(names)}, under which the script failed"


def alone(name: str) -> str:
    """Why a control of a set that suffices is tried."""
    return f"to test whether {name} alone suffices"


def without(names: Sequence[str]) -> str:
    """Why a part of a set that suffices is tried."""
    return f"to test the set without {listed(names, _MOST_SHOWN)}"


def more_runs(number: int) -> str:
    """Why a set under which runs agree is tried again."""
    return f"{count(number, 'more run')}, to rule out that they agree by chance"


def as_is_again(aim: str) -> str:
    """Why runs are made without any control."""
    return f"again, {aim}"


def next_to_try(question: Question) -> str:
    """What a search that was broken off would do next."""
    if not question.controls:
        return f"Next to try: {question.why}."
    return f"Next to try: {named(question.controls)} ({question.why})."


# ------------------------------------------------------------------------------- what the runs said

AS_IN_THE_CHECK = "as in the check"
BROKEN_OFF = "The search was interrupted before it finished."
_NOT_TAKEN = (
    "no process of a run loaded the patched text: the program reads the file in another way"
)


def named(names: Sequence[str]) -> str:
    """Controls in a sentence; of many the first."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > _MOST_NAMED:
        return f"the {len(quoted)} controls {listed(quoted, _MOST_SHOWN)}"
    return listed(quoted, len(quoted)) or "no control"


NOT_NEEDED = "made beside the others; the search did not need it"


def note(judged: Judged) -> str:
    """Why the runs were made, or what stood in the way."""
    if judged.untried:
        return _NOT_TAKEN
    if judged.refusal:
        at = judged.refusal.source
        where = f" at {at.at}" if at else ""
        what = judged.refusal.operator or judged.refusal.message
        return f"the script failed: {what}{where} has no deterministic implementation"
    if judged.failed:
        return f"{_ended_badly(judged.failed)}; {judged.why}"
    if judged.within_tolerance_only:
        return f"{judged.why}; within the tolerance, but too far apart for rounding"
    if judged.agrees and judged.names and not judged.acted:
        return f"{judged.why}; nothing recorded shows that it acted"
    return judged.why


def _ended_badly(run: Run) -> str:
    """How a run ended, with what the script said last."""
    if run.record.ended == "timed_out":
        return f"run {run.number} took too long"
    _, _, last = run.stderr_tail.strip().rpartition("\n")
    if not last:
        return f"run {run.number} failed"
    return f"run {run.number} failed ({last})"


def seen_under(names: Sequence[str]) -> str:
    """Where an error of deterministic mode was seen."""
    it = {1: "it"}.get(len(names), "them")
    return f"This was seen under {named(names)}; the search continued without {it}."


def acted_at(control: str, place: str, *, first: bool, draws: bool) -> str:
    """Where a control acted."""
    acted = "first acted" if first else "acted"
    what = ", which draws random numbers" if draws else ""
    return f"`{control}` {acted} at {place}{what}."


def also_acted_at(places: Sequence[str]) -> str:
    """The other places of a control, where any of them may be the cause."""
    return f" It also acted at {listed(places, _MOST_PLACES)}: any of them may be the cause."


def place(line: str, what: str) -> str:
    """A line at which a control acted on something."""
    return f"{line} ({what})"


def seed_where_made(owner: str, call: str) -> str:
    """What to do where an object draws, and nothing shows how it takes a seed."""
    return f"Give `{owner}` a seed where it is made: `{call}()` draws from a generator without one."


def seed_inside(call: str) -> str:
    """What to do where a function makes a generator, and nothing shows how it takes a seed."""
    return (
        f"`{call}()` makes a generator without a seed: give it one, by the argument that takes a"
        " seed."
    )


# -------------------------------------------------------------------------- what the search came to


def removes(smallest: Sequence[str], under: Judged, causes: Sequence[Cause]) -> str:
    """That a set of controls removes the difference, and what that confirms."""
    confirmed = [one for one in causes if one.confidence == "confirmed"]
    listed_causes = "; and ".join(f"{one.code}, {small(one.title)}" for one in confirmed)
    agreeing = _agreeing(under)
    if len(smallest) == 1:
        said = f"{named(smallest)} removes the difference: {agreeing}."
    else:
        said = (
            f"{named(smallest)} together remove the difference: {agreeing}. None of them can be"
            " left out."
        )
    return f"{said} This confirms {listed_causes}."


def another_remains(iteration: int, further: Sequence[str]) -> str:
    """That runs under the smallest set differ later, and what looks for that."""
    command = f"`reprocheck explain {' '.join(further)}`"
    return (
        f" Another difference remains, from iteration {iteration} on: {command} with the same"
        " script looks for it."
    )


def may_remove(smallest: Sequence[str], under: Judged) -> str:
    """That too few runs agree under a set of controls."""
    return (
        f"{capital(named(smallest))} may remove the difference, but this is not shown:"
        f" {_agreeing(under)}, which can be luck."
    )


def patch_removes(cause: Suspect, tried: Judged) -> str:
    """That a patch removes the difference and no control does."""
    line, why = cause.line.at, cause.cause
    return (
        f"No control removes the difference; the patch of {line} does: {len(tried.runs)} runs with"
        f" it, without any control, agree {_how(tried)}. This confirms {why.code},"
        f" {small(why.title)}."
    )


PATCH_IN_VAIN = (
    " Runs with a patch of this line differ too: it is not the only cause, or not a cause."
)


def _agreeing(under: Judged) -> str:
    them = {1: "it"}.get(len(under.names), "them")
    return f"{len(under.runs)} runs under {them} agree {_how(under)}"


def _how(under: Judged) -> str:
    if under.later is not None:
        return f"in every bit up to iteration {under.later - 1}"
    if under.exact:
        return "in every bit"
    return "except for rounding"


# ----------------------------------------------------------------------------------- how sure it is


def evidence(seen: Sample, under: Judged) -> str:
    """What confirms the causes that a set of controls removes."""
    return (
        f"Under {named(under.names)} {len(under.runs)} runs agree {_how(under)} ({_arms(under)});"
        f" {small(of_unmodified(seen))}"
    )


def evidence_of_patch(seen: Sample, cause: Suspect, tried: Judged) -> str:
    """What confirms the cause that a patch removes."""
    return (
        f"{len(tried.runs)} runs with the patch of {cause.line.at}, without any control, agree"
        f" {_how(tried)} ({_arms(tried)}); {small(of_unmodified(seen))}"
    )


def _arms(judged: Judged) -> str:
    return ", ".join(f"arms/{arm.name}" for arm in judged.arms)


def of_unmodified(seen: Sample) -> str:
    """`All 4 unmodified runs differ from each other.`"""
    if seen.intermittent:
        same = seen.runs - seen.odd
        return (
            f"Of {seen.runs} unmodified runs, {same} agree with each other and {seen.odd} do"
            f" not{_blind(seen)}: the difference is intermittent."
        )
    if seen.runs > PAIR:
        return f"All {seen.runs} unmodified runs differ from each other{_blind(seen)}."
    return "The two unmodified runs differ."


def _blind(seen: Sample) -> str:
    if seen.blind < 2:
        return ""
    return f" ({seen.blind} of them have a loss that is not finite and agree with no run)"


def confidence(seen: Sample, under: Judged) -> str:
    """How sure it is that a set of controls removes the difference."""
    names = named(under.names)
    return (
        f"{of_unmodified(seen)} If {names} had no effect, {_luck(seen, under)} With 95 %"
        f" confidence, at most {_bound(under)} of runs under {names} differ from the first."
    )


def confidence_in_patch(seen: Sample, tried: Judged) -> str:
    """How sure it is that a patch removes the difference."""
    return f"{of_unmodified(seen)} If the patch had no effect, {_luck(seen, tried)}"


def not_sure(seen: Sample, under: Judged, wanted: int) -> str:
    """How many runs it takes where too few agree."""
    more = f"{wanted} runs"
    if wanted > chance.MOST:
        more = f"more than {chance.MOST} runs"
    return (
        f"{of_unmodified(seen)} To rule out luck, {more} must agree (--runs N makes more of each);"
        f" with 95 % confidence, at most {_bound(under)} of runs under {named(under.names)}"
        " differ from the first."
    )


def _luck(seen: Sample, under: Judged) -> str:
    runs = len(under.runs)
    share = chance.luck(seen, runs)
    agree = "still agree"
    if seen.unlike:
        agree = "still agree, and differ from every unmodified run,"
    return f"{runs} runs would {agree} in at most {share:.1%} of such searches."


def _bound(under: Judged) -> str:
    return f"{chance.bound(len(under.runs)):.0%}"


# ---------------------------------------------------------------------- where no control removes it


def given(rung: Rung | None) -> str:
    """Why no control is tried where the start gives the numbers that differ."""
    said = (
        "No control was tried: the numbers that differ first in the training differ by as much"
        " as the values that the script was started with."
    )
    if rung is None:
        return said
    return f"{said} {rung.detail}"


def remaining(remains: Remains) -> str:
    """What remains where no control makes the runs agree: one or more sentences."""
    return " ".join([_REMAINS[remains.kind](remains), *map(_clock, remains.clocks)])


def _clock(read: tuple[str, str]) -> str:
    """A clock that a cause names and no control reaches."""
    line, name = read
    return (
        f"{line} reads `{name}`: the controls leave monotonic clocks alone, so none can confirm it."
    )


def _idle(remains: Remains) -> str:
    """Runs agreed under controls that did nothing that shows."""
    names = remains.idle
    if len(names) > _MOST_QUOTED:
        agree = f"{len(names)} controls at once, but those that acted do not suffice"
    else:
        they = {1: "it"}.get(len(names), "they")
        agree = f"{_both(names)}, but nothing recorded shows that {they} acted"
    return f"No cause is confirmed: runs agree under {agree}, so this may be luck."


def _both(names: Sequence[str]) -> str:
    """All of them by name."""
    return listed([f"`{name}`" for name in names], len(names))


def _left_out(remains: Remains) -> str:
    if not remains.crashing:
        return ""
    it = {1: "it"}.get(len(remains.crashing), "them")
    return f" ({_both(remains.crashing)} left out, because the script fails under {it})"


def _tried(remains: Remains) -> str:
    return f"No control makes the runs agree, alone or together with others{_left_out(remains)}"


def _few_tried(remains: Remains) -> str:
    return (
        f"No control was seen to make the runs agree{_left_out(remains)}. The difference is"
        " intermittent, so few controls were tried: --runs N tries more."
    )


def _nothing_recorded(remains: Remains) -> str:
    return (
        f"{_tried(remains)}. Nothing that was recorded differs, so the source of the difference"
        " was not recorded."
    )


def _given_otherwise(remains: Remains) -> str:
    return f"{_tried(remains)}, because the runs were given different inputs. {remains.rung.detail}"


def _noise(remains: Remains) -> str:
    """The operator, from the ladder and the lists."""
    rung = remains.rung
    at = f"`{rung.place}`" if rung.place else "the loss"
    seen = f"first seen at {at} on the rung `{rung.rung}`."
    made = f"It is {seen}"
    if remains.made_by:
        made = f"It comes from {remains.made_by}, and is {seen}"
    noise = " ".join([made, *remains.operators][:_MOST_NOISE])
    return f"{_tried(remains)}: what remains is noise of an operator or of the hardware. {noise}"


def _unreached(remains: Remains) -> str:
    rung = remains.rung
    shows = f"It first shows on the rung `{rung.rung}`"
    if rung.place:
        shows += f" at `{rung.place}`"
    said = [f"{_tried(remains)}{_not_by_control(remains.suspect)}", f"{shows}."]
    if rung.culprit:
        said.append(f"It comes from {rung.culprit}.")
    if remains.also:
        said.append(remains.also)
    return " ".join(said)


def _not_by_control(suspect: Suspect | None) -> str:
    """The line of the first cause, where it has one: then there is more to say than that no control
    reaches it.
    """
    if suspect is None:
        return (
            ": the source of the difference is out of reach of every control, such as a service,"
            " a native library that draws by itself, a race between threads, or the hardware."
        )
    cause = suspect.cause
    return (
        f". The {cause.confidence} cause is {cause.code} at {suspect.line.at}, and no control"
        " confirms it."
    )


_REMAINS: Mapping[Kind, Callable[[Remains], str]] = {
    "idle": _idle,
    "few tried": _few_tried,
    "nothing recorded": _nothing_recorded,
    "given": _given_otherwise,
    "noise": _noise,
    "unreached": _unreached,
}
