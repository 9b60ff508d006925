"""The forward pass, the loss, operators, and another way through the code, in words."""

from __future__ import annotations

from dataclasses import replace

from reprocheck.language import mark, sentences, shortlist, tr
from reprocheck.language.letters import capital
from reprocheck.model.statements import training as statements
from reprocheck.model.statements.difference import Fact
from reprocheck.model.statements.training import FirstOperator, Refined, UnequalInput
from reprocheck.wording.ladder import terms
from reprocheck.wording.ladder.terms import Said, said_of

_NO_PRODUCER = mark("nothing that was recorded makes the difference")
_ONE = mark("does not"), mark("differs")
_SEVERAL = mark("do not"), mark("differ")
"""How it is said of something that it does not agree: beside what agrees, and alone."""


@said_of.register
def other_output(differs: statements.OtherOutput) -> Said:
    """Say that a module returns another output for the same inputs."""
    name = terms.module(differs.call.place, differs.call.class_)
    stretch, last = "", differs.last
    if last is not None:
        child = terms.module(last.place, last.class_)
        stretch = tr(", in the stretch between {child} and its own output", child=child)
    culprit = f"the forward of {name}"
    why = tr("no process-wide generator moved: it draws from a private generator or is noisy")
    if differs.unequal:
        culprit = f"the state of {terms.generators(differs.unequal)}"
        why = tr("{culprit} that it draws from does not agree", culprit=culprit)
    elif differs.drawn:
        why = tr(
            "{generators} that it draws from agrees: it is noisy itself, or"
            " draws from a private generator besides",
            generators=terms.generators(differs.drawn),
        )
    head = tr(
        "{within} {name} returns another output for the same inputs",
        within=terms.within(differs.call.iteration),
        name=name,
    )
    return Said(
        culprit=culprit,
        detail=f"The inputs of {name} agree, its output differs{stretch}; {why}.",
        head=head,
        sentence=tr("{head}{stretch}, and {why}", head=head, stretch=stretch, why=why),
    )


@said_of.register
def other_inputs(differ: statements.OtherInputs) -> Said:
    """Say that the inputs of a module differ."""
    into = terms.module(differ.enters.place, differ.enters.class_)
    stretch = tr("something before {into} that was not recorded", into=into)
    if differ.before is not None:
        stretch = tr(
            "something between {named} and {into} that was not recorded",
            named=terms.subject(differ.before),
            into=into,
        )
    head = tr(
        "{within} the inputs of {into} differ and {no_producer}",
        within=terms.within(differ.call.iteration),
        into=into,
        no_producer=tr(_NO_PRODUCER),
    )
    name = terms.module(differ.call.place, differ.call.class_)
    return Said(
        culprit=stretch,
        detail=f"The inputs of {name} differ already and {_NO_PRODUCER}: {stretch}.",
        head=head,
        sentence=tr("{head}: the difference is made by {stretch}", head=head, stretch=stretch),
    )


def _agree(agreed: statements.Agreed) -> str:
    """Return a clause on what agrees up to the loss; "" if nothing was recorded."""
    names = {
        tr("weights"): agreed.weights,
        tr("RNG states"): agreed.states,
        tr("batches"): agreed.batches,
        tr("module outputs"): agreed.outputs,
    }
    agreeing = [name for name, agrees in names.items() if agrees]
    if not agreeing:
        return ""
    return tr("{listed} agree", listed=shortlist(agreeing))


def _beside(agreed: statements.Agreed, what: str, verbs: tuple[str, str]) -> str:
    """Return a clause that says that something differs while the rest agrees."""
    beside, alone = verbs
    text = _agree(agreed)
    if not text:
        return tr("{what} {verb}", what=what, verb=tr(alone))
    return tr("{text}, {what} {verb}", text=text, what=what, verb=tr(beside))


@said_of.register
def other_labels(labels: statements.OtherLabels) -> Said:
    """Say that the labels given to the module of a loss differ."""
    name = terms.module(labels.call.place, labels.call.class_)
    differ = _beside(
        labels.agreed, tr("the labels that the loss {name} is taken against", name=name), _SEVERAL
    )
    return Said(
        culprit=f"the labels that {name} is given",
        detail=f"{capital(differ)}; {_NO_PRODUCER}.",
        sentence=tr(
            "{within} {differ}: they are made by something that was not recorded",
            within=terms.within(labels.call.iteration),
            differ=differ,
        ),
    )


@said_of.register
def other_loss_input(differs: statements.OtherLossInput) -> Said:
    """Say that the target of the loss differs."""
    place, agreed = differs.fact.place, differs.agreed
    culprit = f"something between {_after(differs.last)} and the loss that was not recorded"
    other = _beside(
        agreed, tr("what else the loss is taken from (labels, targets, constants)"), _ONE
    )
    differ = tr(
        "{other}: `{path}` of {place}; {no_producer}",
        other=other,
        path=differs.path,
        place=place,
        no_producer=tr(_NO_PRODUCER),
    )
    if differs.label is not None:
        culprit = f"the labels that the loss is taken against (`{differs.label}` of {place})"
        other = _beside(agreed, tr("the labels that the loss is taken against"), _SEVERAL)
        differ = tr("{other}; {no_producer}", other=other, no_producer=tr(_NO_PRODUCER))
    return Said(
        culprit=culprit,
        detail=f"{capital(differ)}.",
        sentence=tr(
            "{within} {differ}: what makes it was not recorded",
            within=terms.within(differs.fact.iteration),
            differ=differ,
        ),
    )


@said_of.register
def other_loss(loss: statements.OtherLoss) -> Said:
    """Say that a loss differs and nothing recorded explains why."""
    culprit = tr(
        "something between {after} and the loss that was not recorded", after=_after(loss.last)
    )
    shown, agree = "", _agree(loss.agreed)
    if loss.first_weights:
        culprit += tr(", such as the first weights")
    if loss.compiled:
        culprit = tr("something in the forward pass, which a compiled function hides")
        shown = tr(" ({compiled} shows the forward pass)", compiled=loss.compiled)
        if loss.first_weights:
            culprit += tr(", or the first weights")
    detail = f"The loss differs, {agree}"
    differs = tr("{text} and the loss differs", text=agree)
    if not agree:
        detail = "The loss differs, and nothing recorded before it shows why"
        differs = tr("the loss differs, and nothing recorded before it shows why")
    return Said(
        culprit=culprit,
        detail=f"{detail}: {culprit}.",
        sentence=tr(
            "{within} {differs}: the difference is made by {culprit}{shown}",
            within=terms.within(loss.iteration),
            differs=differs,
            culprit=culprit,
            shown=shown,
        ),
    )


def _after(last: Fact | None) -> str:
    if last is None:
        return tr("the start")
    return tr("the last module, {module},", module=terms.module(last.place, last.class_))


@said_of.register
def other_path(path: statements.OtherPath) -> Said:
    """Say what only one run does."""
    seen = path.fact
    does = tr("has {seen}", seen=terms.fact(seen))
    if seen.kind == "call":
        does = tr("calls {place}", place=terms.module(seen.place, seen.class_))
    if seen.call:
        does = tr("{does} (number {call})", does=does, call=seen.call + 1)
    here, there = terms.runs(seen)
    sentence = tr(
        "{within} run {here} {does}, which run {there} does not: the control flow differs.",
        within=terms.within(seen.iteration),
        here=here,
        does=does,
        there=there,
    )
    return Said(culprit="the control flow", detail=sentence, sentence=sentence)


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
        sentence = sentences(terms.sentence(first.head or first.sentence), detail)
    return replace(
        first,
        culprit=said.culprit or first.culprit,
        detail=sentences(first.detail, detail),
        sentence=sentence,
    )


@said_of.register
def first_operator(operator: FirstOperator) -> Said:
    """Say which operator is the first that differs."""
    named = terms.code(operator.fact.place) + _where(operator)
    if operator.evidence.only_in_one_run:
        return _alone(operator, named)
    culprit = named if operator.blames else None
    unequal = operator.unequal_input
    why = _own(operator) if unequal is None else _given(unequal)
    detail = tr("The first operator that differs is {named}: {why}.", named=named, why=why)
    return Said(detail=detail, sentence=detail, culprit=culprit)


def _given(unequal: UnequalInput) -> str:
    """Describe an input that differs, with its values if they are short."""
    differs = f"input {terms.code(unequal.path)} differs already"
    if unequal.values is not None:
        differs = f"input {terms.code(unequal.path)} is {terms.both(*unequal.values)}"
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
            generators=terms.generators(operator.unequal),
        )
    if operator.drawn:
        return tr(
            "its inputs agree, and so does {generators} that it draws from: it is noisy itself",
            generators=terms.generators(operator.drawn),
        )
    return tr(
        "its inputs agree and no process-wide generator moved: it is noisy itself, or draws from a"
        " private generator"
    )


def _alone(operator: FirstOperator, named: str) -> Said:
    """Describe an operator that only one run calls."""
    here, there = terms.runs(operator.fact)
    detail = tr(
        "Run {here} calls {named}, which run {there} does not: the control flow differs.",
        here=here,
        named=named,
        there=there,
    )
    return Said(detail=detail, sentence=detail, culprit="the control flow")


def _where(operator: FirstOperator) -> str:
    """Return node, module and line of an operator, in words."""
    text = ""
    if operator.node:
        text += f" ({operator.node})"
    if operator.module:
        text += f" in {terms.module(operator.module)}"
    return text + terms.at(operator.line)
