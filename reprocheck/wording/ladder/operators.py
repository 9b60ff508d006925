"""The operator that makes a difference, in words."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.language import sentences, tr
from reprocheck.model.statements.operators import FirstOperator, Refined, UnequalInput
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.registry import Said, said_of


@said_of.register
def with_operator(refined: Refined) -> Said:
    """Describe a difference, including what the operators show of it."""
    first, operator = said_of(refined.difference), refined.operator
    if operator == "none differs":
        none = tr("No operator differed where the operators were recorded.")
        return replace(first, detail=sentences(first.detail, none))
    if operator == "differ before":
        before = tr(
            "The runs that recorded the operators differ before the iterations that they recorded:"
            " they say nothing of it."
        )
        return replace(first, detail=sentences(first.detail, before))
    said = said_of(operator)
    detail, sentence = said.detail, first.sentence
    if refined.elsewhere is not None:
        elsewhere = tr(
            "In the runs that recorded the operators, that is in iteration {iteration}.",
            iteration=refined.elsewhere,
        )
        detail = sentences(detail, elsewhere)
    if operator.tells:
        sentence = sentences(words.sentence(first.head or first.sentence), detail)
    return replace(
        first,
        culprit=said.culprit or first.culprit,
        detail=sentences(first.detail, detail),
        sentence=sentence,
    )


@said_of.register
def first_operator(operator: FirstOperator) -> Said:
    """Say which operator is the first that differs."""
    named = words.code(operator.fact.place) + _where(operator)
    if operator.evidence.only_in_one_run:
        return _alone(operator, named)
    culprit = named if operator.blames else None
    unequal = operator.unequal_input
    why = _own(operator) if unequal is None else _given(unequal)
    detail = tr("The first operator that differs is {named}: {why}.", named=named, why=why)
    return Said(detail=detail, sentence=detail, culprit=culprit)


def _given(unequal: UnequalInput) -> str:
    """Describe an input that differs, with its values if they are short."""
    differs = f"input {words.code(unequal.path)} differs already"
    if unequal.values is not None:
        differs = f"input {words.code(unequal.path)} is {words.both(*unequal.values)}"
    return tr(
        "its {differs}, and no recorded operator has made that: it comes from something not"
        " recorded",
        differs=differs,
    )


def _own(operator: FirstOperator) -> str:
    """Say, in a clause, what it means that the inputs of the operator agree."""
    if operator.evidence.reads_unfilled:
        return tr("it reads memory that nothing has filled")
    if operator.evidence.given_generator:
        return tr("it draws from a private generator that it is given")
    if operator.unequal:
        return tr(
            "it draws from {generators}, whose state differs",
            generators=words.generators(operator.unequal),
        )
    if operator.drawn:
        return tr(
            "its inputs agree, and so does {generators} that it draws from: it is noisy itself",
            generators=words.generators(operator.drawn),
        )
    return tr(
        "its inputs agree and no process-wide generator moved: it is noisy itself, or draws from a"
        " private generator"
    )


def _alone(operator: FirstOperator, named: str) -> Said:
    """Describe an operator that only one run calls."""
    here, there = words.runs(operator.fact)
    detail = tr(
        "Run {here} calls {named}, which run {there} does not: the control flow differs.",
        here=here,
        named=named,
        there=there,
    )
    return Said(detail=detail, sentence=detail, culprit="the control flow")


def _where(operator: FirstOperator) -> str:
    """Node, module and line of an operator, in words."""
    text = ""
    if operator.node:
        text += f" ({operator.node})"
    if operator.module:
        text += f" in {words.module(operator.module)}"
    return text + words.at(operator.line)
