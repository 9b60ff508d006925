"""The whole ladder in words: its sentence, rungs without a difference, expected drift."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.language import shortlist, tr
from reprocheck.language.letters import capital, clause, small, unended
from reprocheck.language.ranks import named
from reprocheck.model.statements import ladder as statements
from reprocheck.model.statements.inputs import LeftFiles
from reprocheck.model.statements.ladder import Noise, NotCompared, SidesCompared, WithoutEffect
from reprocheck.wording.ladder import terms
from reprocheck.wording.ladder.terms import Said, said_of
from reprocheck.wording.say import say


@said_of.register
def consequence(behind: statements.Consequence) -> Said:
    """Say that a difference can follow from the first."""
    before = terms.code(behind.first)
    if behind.rank is not None:
        before += f" of rank {behind.rank}"
    detail = (
        f"{terms.code(terms.place(behind.place))} is the first here that differs; the"
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
    return terms.sentence(sentence)


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
                series=terms.code(agree.series),
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
        rung=terms.code(first.rung),
        place=terms.place(first.place),
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
        f"No `replay.py` was made of {terms.code(terms.place(replay.of))}: {_WHY[replay.missing]}."
    )


_MOST_WEIGHTS = 3


@say.register
def not_compared(rung: NotCompared) -> str:
    """Say why nothing of a rung was compared, or only a part."""
    match rung.why:
        case "one rank":
            return "There is only one rank: nothing is reduced."
        case "other algorithms":
            first, second = rung.names
            return (
                f"The runs were recorded with different hash algorithms ({first}, {second}): not"
                " comparable."
            )
        case "hidden forward":
            return (
                f"A compiled function hides the inputs and outputs of layers; {rung.names[0]}"
                " shows them, possibly with other bits."
            )
        case "unknown draws":
            return (
                f"The states of {terms.generators(rung.names)} differ, and whether the first"
                " weights were drawn from them was not recorded."
            )
    unseen = (
        f"The first values of {terms.named(rung.names, _MOST_WEIGHTS)} were not"
        " recorded: they could not be read before the first update."
    )
    if not rung.others_agree:
        return unseen
    return f"{unseen} Those of the other weights agree."


@say.register
def without_effect(generators: WithoutEffect) -> str:
    """Say which generators differ without an effect."""
    parts = []
    if generators.at_weights:
        parts.append(
            f"The state of {terms.generators(generators.at_weights)} differed when the weights were"
            " made; the generators that the iterations draw from agree."
        )
    if generators.unused:
        them = "it" if len(generators.unused) == 1 else "them"
        parts.append(
            f"The state of {terms.generators(generators.unused)} differs and nothing recorded draws"
            f" from {them}: unused."
        )
    return " ".join(parts)


_REST = {
    True: "what differs was not recorded",
    False: "it is noise from run to run, or comes from what was not recorded",
}
"""Whether runs of one side are known to agree -> what the difference between the sides is."""


@say.register
def sides_compared(sides: SidesCompared) -> str:
    """Say whether the differences of the environment can cause the observed difference."""
    what = shortlist([f"the {title}" for title in sides.acting])
    if sides.equal is None:
        return "No losses were compared, so drift cannot be judged."
    if sides.beside or sides.equal:
        return _equal(sides, what)
    if sides.noise is not None:
        return _noisy(sides.noise)
    if not sides.quiet:
        return _expected(sides, what)
    runs = shortlist(list(map(str, sides.quiet)))
    return f"From run to run each side agrees in every bit ({runs} runs). {_expected(sides, what)}"


def _equal(sides: SidesCompared, what: str) -> str:
    """Say that all losses are equal; `what`: what else differs between the sides."""
    although = ""
    if sides.acting:
        although = f", although they differ in {what}"
    if not sides.beside:
        return f"Both sides agree in every bit{although}."
    differ = "differs" if len(sides.beside) == 1 else "differ"
    return (
        f"All losses of both sides are equal in every bit{although}; {terms.named(sides.beside)}"
        f" {differ} beside them."
    )


def _expected(sides: SidesCompared, what: str) -> str:
    if not sides.acting:
        agree = "The sides agree in all of the environment that affects numbers"
        return f"{agree}: {_REST[bool(sides.quiet)]}."
    if sides.anything:
        return (
            f"The sides differ in {what}, which can cause any difference; the ladder shows"
            " where it begins."
        )
    differ = "differs" if len(sides.acting) == 1 else "differ"
    expected = f"expected where {what} {differ}"
    if sides.rounding:
        return f"The difference is at rounding level, as is {expected}."
    return f"The difference is more than rounding, and so more than is {expected}."


def _noisy(noise: Noise) -> str:
    """Say what the differences among the runs of one side explain."""
    own = (
        f"Runs of {shortlist(noise.sides)} differ among themselves, by up to"
        f" {noise.most:.3g} in a checked loss"
    )
    if noise.between is None:
        return terms.sentence(own)
    if noise.between <= 2 * noise.most:
        return (
            f"{own}: the difference between the sides, {noise.between:.3g}, is noise from"
            " run to run and no sign of drift."
        )
    return f"{own}; the difference between the sides, {noise.between:.3g}, is larger than that."
