"""What is found out and said in one message, with the values that it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

from reprocheck.language import mark, tr
from reprocheck.language.ranks import named
from reprocheck.model.statement import Statement
from reprocheck.model.statements.verdict import (
    BeyondDoubles,
    BreaksOff,
    ComparedAsSet,
    NeverTogether,
    NotFiniteFrom,
    OtherDtype,
    RankInOneRunOnly,
    StepSkipped,
    WeightsNotSeen,
)
from reprocheck.wording.say import say
from reprocheck.wording.verdict.ranks import RANKS, of_ranks

_MESSAGES: Mapping[type[Statement], str] = {
    BeyondDoubles: mark("run {run} has loss {shown} where run 1 has {other}"),
    BreaksOff: mark(
        "The recording of run {number} breaks off after iteration {closed}, {ranks} ({why}):"
        " later ones are not compared."
    ),
    ComparedAsSet: mark(
        "Which training of one run is which of another is not known of {named}: their losses"
        " were compared as a set, each training with one of run 1 that has the same losses, as far"
        " as there was one."
    ),
    NeverTogether: mark(
        "in run {run} rank {late} had been started and had not begun to train when reprocheck"
        " ended rank {stopped} at its stop, so they were never seen at the same time; --steps all"
        " lets each come to its own end"
    ),
    NotFiniteFrom: mark(
        "The loss of iteration {iteration} is NaN or infinite: what agrees from there on says"
        " nothing of the training."
    ),
    OtherDtype: mark("{dtype} in run {run}, {reference_dtype} in run 1"),
    RankInOneRunOnly: mark("rank {rank} was recorded in run {where} only"),
    StepSkipped: mark("A gradient scaler skipped a step in iteration {iteration} ({who})."),
    WeightsNotSeen: mark(
        "Whether updates change the weights could not be seen ({ranks}); the first update is"
        " taken to be a real one."
    ),
}


def who(run: object) -> str:
    """Return the run, and in it the ranks, that a sentence is about."""
    return tr("run {number}, {ranks}", number=run, ranks=RANKS)


def plain(statement: Statement) -> str:
    """Say what is found out, by the message of its class."""
    values = {field.name: getattr(statement, field.name) for field in fields(statement)}  # type: ignore[arg-type]
    ranks, run = values.pop("ranks", ()), values.get("run")
    spoken = {name: say(value) for name, value in values.items() if isinstance(value, Statement)}
    text = tr(
        _MESSAGES[type(statement)],
        **{**values, **spoken},
        number=run,
        where=run,
        who=who(run),
        named=named(ranks) if ranks else "",
        ranks=RANKS,
    )
    return of_ranks(text, ranks)


for _kind in _MESSAGES:
    say.register(_kind, plain)
