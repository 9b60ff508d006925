"""The sentence of a whole ladder, and what its runs did not record."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.language import tr
from reprocheck.language.letters import capital, clause, small, unended
from reprocheck.language.ranks import named
from reprocheck.model.statements import ladder as statements
from reprocheck.model.statements.given import LeftFiles
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.registry import Said, said_of
from reprocheck.wording.say import say


@said_of.register
def consequence(behind: statements.Consequence) -> Said:
    """Say that a difference can follow from the first."""
    before = words.code(behind.first)
    if behind.rank is not None:
        before += f" of rank {behind.rank}"
    detail = (
        f"{words.code(words.place(behind.place))} is the first here that differs; the"
        f" difference on the rung {before} comes before it."
    )
    return Said(detail=detail, sentence=detail)


@say.register
def where(diverged: statements.Diverged) -> str:
    """Say at which point the runs first diverge, and on which of several ranks."""
    sentence, of = unended(said_of(diverged.difference).sentence), diverged.of
    if len(diverged.ranks) < of > 1:
        sentence += f" ({named(diverged.ranks)})"
    elif of > 1:
        sentence += " (on both ranks)" if of == 2 else f" (on all {of} ranks)"
    return words.sentence(sentence)


@say.register
def not_diverged(agree: statements.NotDiverged) -> str:
    """Say that the runs that were recorded again do not diverge."""
    match agree.why:
        case "nothing recorded":
            return tr("The two runs at a deeper level recorded nothing in common.")
        case "equal":
            return tr("Both runs agree in everything that was recorded.")
        case "hidden":
            return tr(
                "The training agrees in everything that was recorded; what computes {series} was"
                " not.",
                series=words.code(agree.series),
            )
    also = ""
    if agree.although is not None:
        also = tr(", although {clause}", clause=clause(say(agree.although)))
    return tr(
        "The difference did not come back: two runs recorded again agree in everything that was"
        " recorded of their first {iterations} iterations{also}. It is intermittent; `--runs N`"
        " shows how often it happens.",
        iterations=agree.iterations,
        also=also,
    )


@say.register
def started_unequally(start: statements.StartedUnequally) -> str:
    """Say what the runs were given unequally, or what run 1 left for run 2."""
    if isinstance(start.given, LeftFiles):
        return tr(
            "Run 2 starts from what run 1 left behind: it reads `{place}`, which run 1"
            " wrote{follows}.",
            place=start.given.paths[0],
            follows=_follows(start.follows),
        )
    return tr(
        "The two runs were given different inputs: {differs}{follows}.",
        differs=clause(say(start.given)),
        follows=_follows(start.follows),
    )


def _follows(first: statements.Follows | None) -> str:
    if first is None:
        return ""
    return tr(
        "; the first difference that follows is on the rung {rung} at `{place}`",
        rung=words.code(first.rung),
        place=words.place(first.place),
    )


@say.register
def in_iteration(behind: statements.InIteration) -> str:
    """Describe a difference, and the iteration in which it appears."""
    return tr(
        "In iteration {iteration:,} {detail}",
        iteration=behind.iteration,
        detail=small(say(behind.difference)),
    )


@say.register
def later_losses(later: statements.LaterLosses) -> str:
    """Say that losses differ behind the iterations that were recorded deeply."""
    if later.agreeing is None:
        return tr("The losses of iteration {iteration} differ.", iteration=later.iteration)
    return tr(
        "The first {agreeing} iterations agree in everything that was recorded; the losses differ"
        " from iteration {iteration} on.",
        agreeing=later.agreeing,
        iteration=later.iteration,
    )


@say.register
def of_one_run(alone: statements.OfOneRun) -> str:
    """Say which ranks only one of the two runs recorded."""
    return (
        f"One of the two runs recorded {named(alone.ranks)}, the other did not: nothing"
        " is compared there."
    )


@say.register
def not_recorded(missing: statements.NotRecorded) -> str:
    """Say what a run could not record, and on which of several ranks."""
    if not missing.ranks:
        return say(missing.line)
    return f"{capital(named(missing.ranks))}: {say(missing.line)}"


_WHY: Mapping[statements.Missing, str] = {
    "of the script": (
        "it is code of the script, and no operator in it makes the difference itself"
    ),
    "of a library": "it is an operator of another library than the framework",
    "from outside": "what differs comes into it from something that was not recorded",
    "no operators": "of this framework no operators are recorded",
    "not recorded": "its operators were not recorded; `reprocheck run --level op` records them",
    "not recordable": "its operators could not be recorded",
    "inputs": "not all that it was given is known",
    "size": "its tensors are too large",
}


@say.register
def not_made(replay: statements.NoReplay) -> str:
    """Say why an operation that makes a difference cannot be replayed."""
    return (
        f"No `replay.py` was made of {words.code(words.place(replay.of))}: {_WHY[replay.missing]}."
    )
