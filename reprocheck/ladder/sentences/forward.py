"""The forward pass, the loss, and another way through the code, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reprocheck.ladder import words
from reprocheck.ladder.align import Step
from reprocheck.ladder.sentences.said import Said
from reprocheck.model.evidence import CallDiffers
from reprocheck.model.letters import capital
from reprocheck.trace.deep import Seen

_NO_PRODUCER = "no recorded producer differs"
_ONE, _SEVERAL = ("does not", "differs"), ("do not", "differ")
"""How it is said of something that it does not agree: beside what agrees, and alone."""


def own(evidence: CallDiffers, seen: Seen, *, last: Seen | None) -> Said:
    """A module that returns another output for the same inputs; `last`: its last child, behind
    which the difference came.
    """
    name = words.module(seen.place, seen.class_)
    stretch = ""
    if last is not None:
        child = words.module(last.place, last.class_)
        stretch = f", in the stretch between {child} and its own output"
    culprit = f"the forward of {name}"
    why = "no process-wide generator moved: it draws from a private generator or is noisy"
    names = evidence.generators.names
    if names:
        culprit = f"the state of {words.generators(names)}"
        why = f"{culprit} that it draws from does not agree"
    elif seen.drawn:
        why = (
            f"{words.generators(seen.drawn)} that it draws from agrees: it is noisy itself, or"
            " draws from a private generator besides"
        )
    head = f"{words.within(seen.iteration)} {name} returns another output for the same inputs"
    return Said(
        culprit=culprit,
        detail=f"The inputs of {name} agree, its output differs{stretch}; {why}.",
        head=head,
        sentence=f"{head}{stretch}, and {why}",
    )


def victim(seen: Seen, enters: Seen, before: Seen | None) -> Said:
    """A module whose inputs differ; `enters`: the outermost around it that they came into,
    `before`: the last fact before it that agrees.
    """
    into = words.module(enters.place, enters.class_)
    stretch = f"something before {into} that was not recorded"
    if before is not None:
        stretch = f"something between {_named(before)} and {into} that was not recorded"
    head = f"{words.within(seen.iteration)} the inputs of {into} differ and {_NO_PRODUCER}"
    name = words.module(seen.place, seen.class_)
    return Said(
        culprit=stretch,
        detail=f"The inputs of {name} differ already and {_NO_PRODUCER}: {stretch}.",
        head=head,
        sentence=f"{head}: the difference is made by {stretch}",
    )


def _named(seen: Seen) -> str:
    if seen.kind == "call":
        return words.module(seen.place, seen.class_)
    return words.code(seen.place)


# ----------------------------------------------------------------------------------------- the loss


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreed:
    """What was recorded up to the loss, and agrees."""

    weights: bool
    states: bool
    batches: bool
    outputs: bool

    @property
    def text(self) -> str:
        """As a clause; "" where nothing was recorded."""
        names = {
            "weights": self.weights,
            "RNG states": self.states,
            "batches": self.batches,
            "module outputs": self.outputs,
        }
        agreeing = [name for name, agrees in names.items() if agrees]
        if not agreeing:
            return ""
        return f"{words.listed(agreeing)} agree"

    def beside(self, what: str, verbs: tuple[str, str]) -> str:
        """A clause that something does not agree, beside what does."""
        beside, alone = verbs
        if not self.text:
            return f"{what} {alone}"
        return f"{self.text}, {what} {beside}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Unseen:
    """What was not recorded and can have made another loss.

    compiled: what shows a forward pass that a compiled function hides; "" where none does.
    """

    compiled: str
    first_weights: bool


def labels_of_module(seen: Seen, agreed: Agreed) -> Said:
    """The call of a loss that is given other labels."""
    name = words.module(seen.place, seen.class_)
    differ = agreed.beside(f"the labels that the loss {name} is taken against", _SEVERAL)
    return Said(
        culprit=f"the labels that {name} is given",
        detail=f"{capital(differ)}; {_NO_PRODUCER}.",
        sentence=(
            f"{words.within(seen.iteration)} {differ}: they are made by something that was not"
            " recorded"
        ),
    )


def labels(
    seen: Seen, path: str, names: Sequence[str], *, last: Seen | None, agreed: Agreed
) -> Said:
    """What the loss is taken against differs; `names`: its inputs that differ and are labels,
    `path`: the first that differs.
    """
    culprit = f"something between {_after(last)} and the loss that was not recorded"
    other = agreed.beside("what else the loss is taken from (labels, targets, constants)", _ONE)
    differ = f"{other}: `{path}` of {seen.place}; {_NO_PRODUCER}"
    if names:
        culprit = f"the labels that the loss is taken against (`{names[0]}` of {seen.place})"
        other = agreed.beside("the labels that the loss is taken against", _SEVERAL)
        differ = f"{other}; {_NO_PRODUCER}"
    return Said(
        culprit=culprit,
        detail=f"{capital(differ)}.",
        sentence=f"{words.within(seen.iteration)} {differ}: what makes it was not recorded",
    )


def loss(iteration: int, unseen: Unseen, *, last: Seen | None, agreed: Agreed) -> Said:
    """A loss that nothing recorded explains."""
    culprit = f"something between {_after(last)} and the loss that was not recorded"
    shown = ""
    if unseen.first_weights:
        culprit += ", such as the first weights"
    if unseen.compiled:
        culprit = "something in the forward pass, which a compiled function hides"
        shown = f" ({unseen.compiled} shows the forward pass)"
        if unseen.first_weights:
            culprit += ", or the first weights"
    detail = f"The loss differs, {agreed.text}"
    differs = f"{agreed.text} and the loss differs"
    if not agreed.text:
        detail = "The loss differs, and nothing recorded before it shows why"
        differs = "the loss differs, and nothing recorded before it shows why"
    return Said(
        culprit=culprit,
        detail=f"{detail}: {culprit}.",
        sentence=f"{words.within(iteration)} {differs}: the difference is made by {culprit}{shown}",
    )


def _after(last: Seen | None) -> str:
    if last is None:
        return "the start"
    return f"the last module, {words.module(last.place, last.class_)},"


# ------------------------------------------------------------------------------------- control flow


def other_path(step: Step) -> Said:
    """What only one run does."""
    seen = step.seen
    does = f"has {words.fact(seen)}"
    if seen.kind == "call":
        does = f"calls {words.module(seen.place, seen.class_)}"
    if seen.call:
        does += f" (number {seen.call + 1})"
    here, there = words.runs(step)
    detail = (
        f"{words.within(seen.iteration)} run {here} {does}, which run {there} does not: the control"
        " flow differs."
    )
    return Said(culprit="the control flow", detail=detail, sentence=detail)
