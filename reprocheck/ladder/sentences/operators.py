"""The operator that makes a difference, in words."""

from __future__ import annotations

from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.sentences.said import Said
from reprocheck.language import mark, tr
from reprocheck.model.evidence import Generators, OperatorDiffers
from reprocheck.trace.deep import Seen

NONE_DIFFERS = mark("No operator differed where the operators were recorded.")
DIFFER_BEFORE = mark(
    "The runs that recorded the operators differ before the iterations that they recorded: they say"
    " nothing of it."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class UnequalInput:
    """The first input of an operator that differs; `values` in both runs, where it is no tensor."""

    path: str
    values: tuple[object, object] | None


def operator(
    evidence: OperatorDiffers, seen: Seen, drawn: Generators, unequal: UnequalInput | None
) -> Said:
    """Return the first operator that differs; `drawn`: the generators that it draws from whose
    states differ.
    """
    named = words.code(seen.place) + _where(seen)
    culprit = None if evidence.inputs_differ else named
    why = _own(evidence, seen, drawn) if unequal is None else _given(unequal)
    detail = tr("The first operator that differs is {named}: {why}.", named=named, why=why)
    return Said(detail=detail, sentence=detail, culprit=culprit)


def _given(unequal: UnequalInput) -> str:
    """Return an input that differs, with its values where they are plain."""
    differs = tr("input {path} differs already", path=words.code(unequal.path))
    if unequal.values is not None:
        differs = tr(
            "input {path} is {both}",
            path=words.code(unequal.path),
            both=words.both(*unequal.values),
        )
    return tr(
        "its {differs}, and no recorded operator has made that: it comes from something not"
        " recorded",
        differs=differs,
    )


def _own(evidence: OperatorDiffers, seen: Seen, drawn: Generators) -> str:
    """Return what it means that the inputs agree, as a clause."""
    if evidence.reads_unfilled:
        return tr("it reads memory that nothing has filled")
    if evidence.given_generator:
        return tr("it draws from a private generator that it is given")
    if drawn.drawn:
        return tr(
            "it draws from {generators}, whose state differs",
            generators=words.generators(drawn.names),
        )
    if seen.after:
        return tr(
            "its inputs agree, and so does {generators} that it draws from: it is noisy itself",
            generators=words.generators(seen.drawn),
        )
    return tr(
        "its inputs agree and no process-wide generator moved: it is noisy itself, or draws from a"
        " private generator"
    )


def elsewhere(iteration: int) -> str:
    """Return the runs that recorded operators differ in another iteration than those that named the
    module.
    """
    return tr(
        "In the runs that recorded the operators, that is in iteration {iteration}.",
        iteration=iteration,
    )


def alone(step: Step) -> Said:
    """Return an operator that only one run calls."""
    here, there = words.runs(step)
    detail = tr(
        "Run {here} calls {named}, which run {there} does not: the control flow differs.",
        here=here,
        named=words.code(step.seen.place) + _where(step.seen),
        there=there,
    )
    return Said(detail=detail, sentence=detail, culprit=tr("the control flow"))


def _where(seen: Seen) -> str:
    """Node, module and line of an operator, in words."""
    text = ""
    if seen.node:
        text += tr(" ({node})", node=seen.node)
    if seen.module:
        text += tr(" in {module}", module=words.module(seen.module))
    return text + words.at(seen.line)
