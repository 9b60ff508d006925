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
POINTED_AT = "the ladder points at it"
ALL_HARMLESS = "all controls that do not alter the training, at once"
WITH_ALTERING = "those did not suffice: with the controls that alter the training as well"
WHETHER_IT_FAILS = "the script failed: whether this control makes it fail"
WHICH_FAILS = "the script failed: which control makes it fail"
LIKELY_TOGETHER = "each likely control removes a part of the difference: together"
SUFFICES = "whether that set suffices"
STEADY = "to see how often the runs differ"
INTERMITTENT = "since the difference is intermittent"
NO_CHANCE = "to exclude that runs agree by chance"


def would_remove(code: str, title: str) -> str:
    """Why a control is tried that a cause speaks for."""
    return f"it would remove {code}, {small(title)}"


def again_without(names: Sequence[str]) -> str:
    """Why the others are tried once more where some make the script fail."""
    return f"again without {' and '.join(names)}, which made the script fail"


def alone(name: str) -> str:
    """Why a control of a set that suffices is tried."""
    return f"whether {name} alone suffices"


def without(names: Sequence[str]) -> str:
    """Why a part of a set that suffices is tried."""
    return f"without {listed(names, _MOST_SHOWN)}"


def more_runs(number: int) -> str:
    """Why a set under which runs agree is tried again."""
    return f"{count(number, 'more run')}, to exclude that they agree by chance"


def as_is_again(aim: str) -> str:
    """Why runs are made without any control."""
    return f"once more, {aim}"


def next_to_try(question: Question) -> str:
    """What a search that was broken off would do next."""
    if not question.controls:
        return f"Next to try: {question.why}."
    return f"Next to try: {named(question.controls)} ({question.why})."


# ------------------------------------------------------------------------------- what the runs said

AS_IS = "as it is"
BROKEN_OFF = "The search was broken off before it had come to an end."
_NOT_TAKEN = "no process of a run loaded its text: the program reads that file in another way"


def named(names: Sequence[str]) -> str:
    """Controls in a sentence; of many the first."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > _MOST_NAMED:
        return f"the {len(quoted)} controls {listed(quoted, _MOST_SHOWN)}"
    return listed(quoted, len(quoted)) or "no control"


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
        return f"{judged.why}; within the tolerance, and too far apart for rounding"
    if judged.agrees and judged.names and not judged.acted:
        return f"{judged.why}; nothing shows what it acted on"
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
    return f"Seen under {named(names)}; the search went on without it."


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
        f"Inside `{call}()` a generator is made without a seed: give it one by the argument that"
        " takes it."
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
    return f"{said} That confirms {listed_causes}."


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
        f"{capital(named(smallest))} may remove the difference, but that is not shown:"
        f" {_agreeing(under)}, which can be luck."
    )


def patch_removes(cause: Suspect, tried: Judged) -> str:
    """That a patch removes the difference and no control does."""
    line, why = cause.line.at, cause.cause
    return (
        f"No control removes the difference; the patch of {line} does: {len(tried.runs)} runs with"
        f" it, without any control, agree {_how(tried)}. That confirms {why.code},"
        f" {small(why.title)}."
    )


PATCH_IN_VAIN = " Runs with a patch of that line differ, too: it is not the only cause, or none."


def _agreeing(under: Judged) -> str:
    them = {1: "it"}.get(len(under.names), "them")
    return f"{len(under.runs)} runs under {them} agree {_how(under)}"


def _how(under: Judged) -> str:
    if under.later is not None:
        return f"in every bit up to iteration {under.later - 1}"
    if under.exact:
        return "in every bit"
    return "but for rounding"


# ----------------------------------------------------------------------------------- how sure it is


def evidence(seen: Sample, under: Judged) -> str:
    """What confirms the causes that a set of controls removes."""
    return (
        f"Under {named(under.names)} {len(under.runs)} runs agree {_how(under)} ({_arms(under)});"
        f" {small(as_they_are(seen))}"
    )


def evidence_of_patch(seen: Sample, cause: Suspect, tried: Judged) -> str:
    """What confirms the cause that a patch removes."""
    return (
        f"{len(tried.runs)} runs with the patch of {cause.line.at}, without any control, agree"
        f" {_how(tried)} ({_arms(tried)}); {small(as_they_are(seen))}"
    )


def _arms(judged: Judged) -> str:
    return ", ".join(f"arms/{name}" for name in judged.arms)


def as_they_are(seen: Sample) -> str:
    """`All 4 runs as they are differ from each other.`"""
    if seen.intermittent:
        same = seen.runs - seen.odd
        return (
            f"Of {seen.runs} runs as they are {same} agree with each other and {seen.odd} do"
            f" not{_blind(seen)}: the difference is intermittent."
        )
    if seen.runs > PAIR:
        return f"All {seen.runs} runs as they are differ from each other{_blind(seen)}."
    return "The two runs as they are differ."


def _blind(seen: Sample) -> str:
    if seen.blind < 2:
        return ""
    return f" ({seen.blind} of them in a loss that is not finite, by which no runs agree)"


def confidence(seen: Sample, under: Judged) -> str:
    """How sure it is that a set of controls removes the difference."""
    names = named(under.names)
    return (
        f"{as_they_are(seen)} Were {names} without effect, {_luck(seen, under)} With 95 %"
        f" confidence at most {_bound(under)} of runs under {names} differ from the first."
    )


def confidence_in_patch(seen: Sample, tried: Judged) -> str:
    """How sure it is that a patch removes the difference."""
    return f"{as_they_are(seen)} Were the patch without effect, {_luck(seen, tried)}"


def not_sure(seen: Sample, under: Judged, wanted: int) -> str:
    """How many runs it takes where too few agree."""
    more = f"{wanted} runs"
    if wanted > chance.MOST:
        more = f"more than {chance.MOST} runs"
    return (
        f"{as_they_are(seen)} It takes {more} that agree to exclude luck (--runs N makes more of"
        f" each); with 95 % confidence at most {_bound(under)} of runs under {named(under.names)}"
        " differ from the first."
    )


def _luck(seen: Sample, under: Judged) -> str:
    runs = len(under.runs)
    return f"{runs} runs would agree so in at most {chance.luck(seen, runs):.1%} of such searches."


def _bound(under: Judged) -> str:
    return f"{chance.bound(len(under.runs)):.0%}"


# ---------------------------------------------------------------------- where no control removes it


def given(rung: Rung | None) -> str:
    """Why no control is tried where the start gives the numbers that differ."""
    said = (
        "No control is tried: the numbers that differ first in the training differ by as much"
        " as the values that the start gave."
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
        agree = f"{_both(names)}, but nothing shows what {they} acted on in these runs"
    return f"No cause is confirmed: runs agree under {agree}, so that may be luck."


def _both(names: Sequence[str]) -> str:
    """All of them by name."""
    return listed([f"`{name}`" for name in names], len(names))


def _left_out(remains: Remains) -> str:
    if not remains.crashing:
        return ""
    return f" ({_both(remains.crashing)} left out, since the script fails under it)"


def _tried(remains: Remains) -> str:
    return f"None of the controls makes the runs agree, alone or together{_left_out(remains)}"


def _few_tried(remains: Remains) -> str:
    return (
        f"No control was seen to make the runs agree{_left_out(remains)}. The difference is"
        " intermittent, so few were tried: --runs N tries more."
    )


def _nothing_recorded(remains: Remains) -> str:
    return (
        f"{_tried(remains)}. Nothing recorded differs, so what makes the difference cannot be"
        " recorded."
    )


def _given_otherwise(remains: Remains) -> str:
    return f"{_tried(remains)}, since the runs were given different inputs. {remains.rung.detail}"


def _noise(remains: Remains) -> str:
    """The operator, from the ladder and the lists."""
    rung = remains.rung
    at = f"`{rung.place}`" if rung.place else "the loss"
    seen = f"first seen at {at} on the rung `{rung.rung}`."
    made = f"It is {seen}"
    if remains.made_by:
        made = f"It is made by {remains.made_by}, {seen}"
    noise = " ".join([made, *remains.operators][:_MOST_NOISE])
    return f"{_tried(remains)}: what remains is noise of an operator or of the hardware. {noise}"


def _unreached(remains: Remains) -> str:
    rung = remains.rung
    shows = f"It first shows on the rung `{rung.rung}`"
    if rung.place:
        shows += f" at `{rung.place}`"
    said = [f"{_tried(remains)}{_not_by_control(remains.suspect)}", f"{shows}."]
    if rung.culprit:
        said.append(f"It is made by {rung.culprit}.")
    if remains.also:
        said.append(remains.also)
    return " ".join(said)


def _not_by_control(suspect: Suspect | None) -> str:
    """The line of the first cause, where it has one: then there is more to say than that no control
    reaches it.
    """
    if suspect is None:
        return (
            ": the difference is made by something that no control reaches, such as a service, a"
            " native library that draws by itself, a race of threads, or the hardware."
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
