"""What remains where no control makes the runs agree: by name, as far as the ladder and the lists
of operators know it.
"""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.causes.device import kind
from reprocheck.causes.evidence import VAGUE
from reprocheck.causes.hints import ELAPSED
from reprocheck.causes.usercode import UserCode
from reprocheck.model import Check, Rung
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.rules import known
from reprocheck.search.arms import Book
from reprocheck.search.order import beyond_reach
from reprocheck.search.sets import Found

MOST_NAMED = 3
"""Controls that a sentence names one by one."""


def remaining(check: Check, found: Found, book: Book) -> str:
    """One or more sentences."""
    return " ".join([_remaining(check, found), *_out_of_reach(check, book)])


def given(check: Check) -> str:
    """Why no control is tried where the start gives the numbers that differ."""
    rung = check.ladder.first_rung if check.ladder else None
    said = f" {rung.detail}" if rung is not None else ""
    return (
        "No control is tried: the numbers that differ first in the training are as far apart as"
        f" those that the start gave.{said}"
    )


def _out_of_reach(check: Check, book: Book) -> list[str]:
    """Clocks that a cause names and no control reaches."""
    lines = {(cause.source.file, cause.source.line) for cause in check.causes if cause.source}
    return [
        f"{hint.source.file}:{hint.source.line} reads `{hint.name}`: the controls leave monotonic"
        " clocks alone, so none can confirm it."
        for hint in UserCode(check, book.folder).hints
        if (hint.source.file, hint.source.line) in lines
        and hint.kind in ("clock", ELAPSED)
        and beyond_reach("clock", hint.name)
    ]


def _remaining(check: Check, found: Found) -> str:
    rung = check.ladder.first_rung if check.ladder else None
    if found.idle:
        return _idle(found.idle)
    tried = "None of the controls makes the runs agree, alone or together"
    crashing = " and ".join(f"`{name}`" for name in found.crashing)
    left_out = f" ({crashing} left out, since the script fails under it)" if crashing else ""
    if not found.complete:
        return (
            f"No control was seen to make the runs agree{left_out}. The difference is intermittent,"
            " so few were tried: --runs N tries more."
        )
    if rung is None:
        return (
            f"{tried}{left_out}. Nothing recorded differs, so what makes the difference cannot be"
            " recorded."
        )
    if isinstance(rung.evidence, GivenOtherwise) and rung.evidence.from_outside:
        return f"{tried}{left_out}, since the runs were not given the same. {rung.detail}"
    if rung.size == "rounding" or _operators(check, rung):
        return (
            f"{tried}{left_out}: what remains is noise of an operator or of the hardware."
            f" {_noise(check, rung)}"
        )
    reason = _suspected(check) or (
        ": the difference is made by something that no control reaches, such as a service, a native"
        " library that draws by itself, a race of threads, or the hardware."
    )
    where = f" It first shows on the rung `{rung.rung}`" + (
        f" at `{rung.place}`." if rung.place else "."
    )
    made = f" It is made by {rung.culprit}." if rung.culprit else ""
    return f"{tried}{left_out}{reason}{where}{made}{_also(check)}"


def _suspected(check: Check) -> str:
    """The line of the first cause, where it has one: then there is more to say than that no control
    reaches it.
    """
    suspect = next((cause for cause in check.causes[:1] if cause.code not in VAGUE), None)
    if suspect is None or suspect.source is None:
        return ""
    place = f"{suspect.source.file}:{suspect.source.line}"
    return (
        f". The {suspect.confidence} cause is {suspect.code} at {place}, and no control"
        " confirms it."
    )


def _also(check: Check) -> str:
    """What the runs were not given alike, where that was not taken for the cause."""
    files = check.ladder.rung("files and arguments") if check.ladder else None
    if files is None or not isinstance(files.evidence, GivenOtherwise):
        return ""
    return f" {files.detail}" if files.evidence.names_the_run else ""


def _idle(names: Sequence[str]) -> str:
    """Runs agreed under controls that did nothing that shows."""
    if len(names) > MOST_NAMED:
        named, them = f"{len(names)} controls at once", "what acted of them does not suffice"
    else:
        quoted = " and ".join(f"`{name}`" for name in names)
        them = "it acted on" if len(names) == 1 else "they acted on"
        named, them = quoted, f"nothing shows what {them} in these runs"
    return f"No cause is confirmed: runs agree under {named}, but {them}, so that may be luck."


def _noise(check: Check, rung: Rung) -> str:
    """The operator, from the ladder and the lists."""
    operator = f"`{rung.operator.name}`" if rung.operator is not None else ""
    named = rung.culprit or operator
    place = f"`{rung.place}`" if rung.place else "the loss"
    made = f"It is made by {named}, first" if named else "It is first"
    made = f"{made} seen at {place} on the rung `{rung.rung}`."
    return " ".join([made, *dict.fromkeys(_operators(check, rung))][:4])


def _operators(check: Check, rung: Rung) -> list[str]:
    """What the lists say of the operators that the rung names."""
    operator = [rung.operator.name] if rung.operator is not None else []
    device = kind(rung.measured.device)
    frameworks = [name for run in check.runs[:1] for name in run.frameworks]
    backward = rung.rung in ("gradient", "reduced gradient")
    return [
        one.sentence
        for name in (*operator, *rung.operations)
        for one in known(name, device=device, backward=backward, frameworks=frameworks)
    ]
