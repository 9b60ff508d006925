"""The forward pass, the loss, and another way through the code, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.sentences.said import Said
from reprocheck.language import mark, tr
from reprocheck.model.evidence import CallDiffers
from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen

_NO_PRODUCER = mark("nothing that was recorded makes the difference")
_ONE = mark("does not"), mark("differs")
_SEVERAL = mark("do not"), mark("differ")
"""How it is said of something that it does not agree: beside what agrees, and alone."""


def own(evidence: CallDiffers, seen: Seen, *, last: Seen | None) -> Said:
    """Return a module that returns another output for the same inputs; `last`: its last child,
    behind which the difference came.
    """
    name = words.module(seen.place, seen.class_)
    stretch = ""
    if last is not None:
        child = words.module(last.place, last.class_)
        stretch = tr(", in the stretch between {child} and its own output", child=child)
    culprit = tr("the forward of {name}", name=name)
    why = tr("no process-wide generator moved: it draws from a private generator or is noisy")
    names = evidence.generators.names
    if names:
        culprit = tr("the state of {generators}", generators=words.generators(names))
        why = tr("{culprit} that it draws from does not agree", culprit=culprit)
    elif seen.drawn:
        why = tr(
            "{generators} that it draws from agrees: it is noisy itself, or"
            " draws from a private generator besides",
            generators=words.generators(seen.drawn),
        )
    head = tr(
        "{within} {name} returns another output for the same inputs",
        within=words.within(seen.iteration),
        name=name,
    )
    return Said(
        culprit=culprit,
        detail=tr(
            "The inputs of {name} agree, its output differs{stretch}; {why}.",
            name=name,
            stretch=stretch,
            why=why,
        ),
        head=head,
        sentence=tr("{head}{stretch}, and {why}", head=head, stretch=stretch, why=why),
    )


def victim(seen: Seen, enters: Seen, before: Seen | None) -> Said:
    """Return a module whose inputs differ; `enters`: the outermost around it that they came into,
    `before`: the last fact before it that agrees.
    """
    into = words.module(enters.place, enters.class_)
    stretch = tr("something before {into} that was not recorded", into=into)
    if before is not None:
        stretch = tr(
            "something between {named} and {into} that was not recorded",
            named=_named(before),
            into=into,
        )
    head = tr(
        "{within} the inputs of {into} differ and {no_producer}",
        within=words.within(seen.iteration),
        into=into,
        no_producer=tr(_NO_PRODUCER),
    )
    return Said(
        culprit=stretch,
        detail=tr(
            "The inputs of {name} differ already and {no_producer}: {stretch}.",
            name=words.module(seen.place, seen.class_),
            no_producer=tr(_NO_PRODUCER),
            stretch=stretch,
        ),
        head=head,
        sentence=tr("{head}: the difference is made by {stretch}", head=head, stretch=stretch),
    )


def _named(seen: Seen) -> str:
    if seen.kind == "call":
        return words.module(seen.place, seen.class_)
    return words.code(seen.place)


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreed:
    """What was recorded up to the loss, and agrees."""

    weights: bool
    states: bool
    batches: bool
    outputs: bool

    @property
    def text(self) -> str:
        """Return what agrees as a clause; "" where nothing was recorded."""
        names = {
            tr("weights"): self.weights,
            tr("RNG states"): self.states,
            tr("batches"): self.batches,
            tr("module outputs"): self.outputs,
        }
        agreeing = [name for name, agrees in names.items() if agrees]
        if not agreeing:
            return ""
        return tr("{listed} agree", listed=words.listed(agreeing))

    def beside(self, what: str, verbs: tuple[str, str]) -> str:
        """Return a clause that something does not agree, beside what does."""
        beside, alone = verbs
        if not self.text:
            return tr("{what} {verb}", what=what, verb=tr(alone))
        return tr("{text}, {what} {verb}", text=self.text, what=what, verb=tr(beside))


@dataclass(frozen=True, kw_only=True, slots=True)
class Unseen:
    """What was not recorded and can have made another loss.

    compiled: what shows a forward pass that a compiled function hides; "" where none does.
    """

    compiled: str
    first_weights: bool


def labels_of_module(seen: Seen, agreed: Agreed) -> Said:
    """Return the call of a loss that is given other labels."""
    name = words.module(seen.place, seen.class_)
    differ = agreed.beside(
        tr("the labels that the loss {name} is taken against", name=name), _SEVERAL
    )
    return Said(
        culprit=tr("the labels that {name} is given", name=name),
        detail=tr("{differ}; {no_producer}.", differ=capital(differ), no_producer=tr(_NO_PRODUCER)),
        sentence=tr(
            "{within} {differ}: they are made by something that was not recorded",
            within=words.within(seen.iteration),
            differ=differ,
        ),
    )


def labels(
    seen: Seen, path: str, names: Sequence[str], *, last: Seen | None, agreed: Agreed
) -> Said:
    """Return what the loss is taken against differs; `names`: its inputs that differ and are
    labels, `path`: the first that differs.
    """
    culprit = tr("something between {after} and the loss that was not recorded", after=_after(last))
    other = agreed.beside(tr("what else the loss is taken from (labels, targets, constants)"), _ONE)
    differ = tr(
        "{other}: `{path}` of {place}; {no_producer}",
        other=other,
        path=path,
        place=seen.place,
        no_producer=tr(_NO_PRODUCER),
    )
    if names:
        culprit = tr(
            "the labels that the loss is taken against (`{names}` of {place})",
            names=names[0],
            place=seen.place,
        )
        other = agreed.beside(tr("the labels that the loss is taken against"), _SEVERAL)
        differ = tr("{other}; {no_producer}", other=other, no_producer=tr(_NO_PRODUCER))
    return Said(
        culprit=culprit,
        detail=tr("{sentence}.", sentence=capital(differ)),
        sentence=tr(
            "{within} {differ}: what makes it was not recorded",
            within=words.within(seen.iteration),
            differ=differ,
        ),
    )


def loss(iteration: int, unseen: Unseen, *, last: Seen | None, agreed: Agreed) -> Said:
    """Return a loss that nothing recorded explains."""
    culprit = tr("something between {after} and the loss that was not recorded", after=_after(last))
    shown = ""
    if unseen.first_weights:
        culprit += tr(", such as the first weights")
    if unseen.compiled:
        culprit = tr("something in the forward pass, which a compiled function hides")
        shown = tr(" ({compiled} shows the forward pass)", compiled=unseen.compiled)
        if unseen.first_weights:
            culprit += tr(", or the first weights")
    detail = tr("The loss differs, {text}", text=agreed.text)
    differs = tr("{text} and the loss differs", text=agreed.text)
    if not agreed.text:
        detail = tr("The loss differs, and nothing recorded before it shows why")
        differs = tr("the loss differs, and nothing recorded before it shows why")
    return Said(
        culprit=culprit,
        detail=tr("{detail}: {culprit}.", detail=detail, culprit=culprit),
        sentence=tr(
            "{within} {differs}: the difference is made by {culprit}{shown}",
            within=words.within(iteration),
            differs=differs,
            culprit=culprit,
            shown=shown,
        ),
    )


def _after(last: Seen | None) -> str:
    if last is None:
        return tr("the start")
    return tr("the last module, {place},", place=words.module(last.place, last.class_))


def other_path(step: Step) -> Said:
    """Return what only one run does."""
    seen = step.seen
    does = tr("has {seen}", seen=words.fact(seen))
    if seen.kind == "call":
        does = tr("calls {place}", place=words.module(seen.place, seen.class_))
    if seen.call:
        does += tr(" (number {call})", call=seen.call + 1)
    here, there = words.runs(step)
    detail = tr(
        "{within} run {here} {does}, which run {there} does not: the control flow differs.",
        within=words.within(seen.iteration),
        here=here,
        does=does,
        there=there,
    )
    return Said(culprit=tr("the control flow"), detail=detail, sentence=detail)
