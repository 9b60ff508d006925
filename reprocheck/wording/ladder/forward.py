"""The forward pass, the loss, and another way through the code, in words."""

from __future__ import annotations

from reprocheck.language import mark, shortlist, tr
from reprocheck.language.letters import capital
from reprocheck.model.statements import forward as statements
from reprocheck.model.statements.difference import Fact
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.registry import Said, said_of

_NO_PRODUCER = mark("nothing that was recorded makes the difference")
_ONE = mark("does not"), mark("differs")
_SEVERAL = mark("do not"), mark("differ")
"""How it is said of something that it does not agree: beside what agrees, and alone."""


@said_of.register
def other_output(differs: statements.OtherOutput) -> Said:
    """Say that a module returns another output for the same inputs."""
    name = words.module(differs.call.place, differs.call.class_)
    stretch, last = "", differs.last
    if last is not None:
        child = words.module(last.place, last.class_)
        stretch = tr(", in the stretch between {child} and its own output", child=child)
    culprit = f"the forward of {name}"
    why = tr("no process-wide generator moved: it draws from a private generator or is noisy")
    if differs.unequal:
        culprit = f"the state of {words.generators(differs.unequal)}"
        why = tr("{culprit} that it draws from does not agree", culprit=culprit)
    elif differs.drawn:
        why = tr(
            "{generators} that it draws from agrees: it is noisy itself, or"
            " draws from a private generator besides",
            generators=words.generators(differs.drawn),
        )
    head = tr(
        "{within} {name} returns another output for the same inputs",
        within=words.within(differs.call.iteration),
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
    into = words.module(differ.enters.place, differ.enters.class_)
    stretch = tr("something before {into} that was not recorded", into=into)
    if differ.before is not None:
        stretch = tr(
            "something between {named} and {into} that was not recorded",
            named=words.subject(differ.before),
            into=into,
        )
    head = tr(
        "{within} the inputs of {into} differ and {no_producer}",
        within=words.within(differ.call.iteration),
        into=into,
        no_producer=tr(_NO_PRODUCER),
    )
    name = words.module(differ.call.place, differ.call.class_)
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
    name = words.module(labels.call.place, labels.call.class_)
    differ = _beside(
        labels.agreed, tr("the labels that the loss {name} is taken against", name=name), _SEVERAL
    )
    return Said(
        culprit=f"the labels that {name} is given",
        detail=f"{capital(differ)}; {_NO_PRODUCER}.",
        sentence=tr(
            "{within} {differ}: they are made by something that was not recorded",
            within=words.within(labels.call.iteration),
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
            within=words.within(differs.fact.iteration),
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
            within=words.within(loss.iteration),
            differs=differs,
            culprit=culprit,
            shown=shown,
        ),
    )


def _after(last: Fact | None) -> str:
    if last is None:
        return tr("the start")
    return tr("the last module, {module},", module=words.module(last.place, last.class_))


@said_of.register
def other_path(path: statements.OtherPath) -> Said:
    """Say what only one run does."""
    seen = path.fact
    does = tr("has {seen}", seen=words.fact(seen))
    if seen.kind == "call":
        does = tr("calls {place}", place=words.module(seen.place, seen.class_))
    if seen.call:
        does = tr("{does} (number {call})", does=does, call=seen.call + 1)
    here, there = words.runs(seen)
    sentence = tr(
        "{within} run {here} {does}, which run {there} does not: the control flow differs.",
        within=words.within(seen.iteration),
        here=here,
        does=does,
        there=there,
    )
    return Said(culprit="the control flow", detail=sentence, sentence=sentence)
