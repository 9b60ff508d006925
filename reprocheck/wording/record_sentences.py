"""The sentences that stand in `record.json`, or are made of what stands there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck.files.summary import summary
from reprocheck.language import again, mark, tr
from reprocheck.model import Advice, CheckRecord
from reprocheck.model.record import CHANGES
from reprocheck.model.statements.check import AdviceReason, NoValues, Unfinished, ValuesMissing
from reprocheck.wording.say import say

_ADVISED: Mapping[str, str] = {
    "wrong home": mark(
        "PYTHONHOME is {folder}, where the interpreter finds no standard library. Unset it:"
    ),
    "reads input": mark(
        "The script reads standard input, which is empty in a run. Write what it asks for into"
        " answers.txt:"
    ),
    "module elsewhere": mark(
        "{python}, which ran the script, has no module {module}. The interpreter of the active"
        " environment has it:"
    ),
    "module nowhere": mark(
        "{python}, which ran the script, has no module {module}. Install it there, or name the"
        " interpreter that has it:"
    ),
    "in package": mark("The script uses relative imports, so run it as a module of its package:"),
    "our options": mark("`{options}` is an option of reprocheck: write it before {word}:"),
    "found leftovers": mark(
        "Run {number} failed where run 1 did not. It found what run 1 had left: {paths}. Give each"
        " run its own copy of the folder, so that it starts as run 1 did:"
    ),
    "failed on leftover": mark(
        "Run {number} failed on {path}, which run 1 had made. Give each run its own copy of the"
        " folder, so that it starts as run 1 did:"
    ),
}
_UNFINISHED: Mapping[str, str] = {
    "pair": mark("The runs at level {level} could not be recorded: {message}"),
    "half": mark("The run at level {level} could not be recorded: {message}"),
    "search": mark("The search for the cause ended early: {message}"),
    "values": mark("No values of tensors were recorded: {message}"),
}
_NO_VALUES: Mapping[str, str] = {
    "no operator": mark(
        "No values of tensors were recorded: no operator is known to make the difference."
    ),
    "no input": mark(
        "No values of tensors were recorded: {name} is given none, or none of a known type."
    ),
    "not again": mark(
        "No values of tensors were recorded: in a further run {name} was not given the same again."
    ),
}


def told(record: CheckRecord) -> CheckRecord:
    """Return the record with its own sentences in the language that is spoken."""
    changed = tuple(again(said, CHANGES.values()) for said in record.changed_to_observe)
    advice = record.advice and _advised(record.advice)
    return replace(record, changed_to_observe=changed, advice=advice)


def _advised(advice: Advice) -> Advice:
    """Return the advice with its sentence; older versions kept that in English."""
    if advice.reason is None:
        return replace(advice, why=again(advice.why, _ADVISED.values()))
    return replace(advice, why=say(advice.reason))


@say.register
def advice_reason(reason: AdviceReason) -> str:
    """Return what went wrong and what is to be done: a sentence that leads to the command."""
    files = summary(reason.names, others=reason.others)
    return tr(
        _ADVISED[reason.kind],
        folder=reason.place,
        python=reason.place,
        word=reason.place,
        module=" ".join(reason.names),
        options=" ".join(reason.names),
        paths=files,
        path=files,
        number=reason.run,
    )


@say.register
def unfinished(runs: Unfinished) -> str:
    """Say which further runs an error ended."""
    return tr(_UNFINISHED[runs.what], level=runs.level, message=runs.message)


@say.register
def no_values(missing: NoValues) -> str:
    """Say why the values of no tensor are there."""
    return tr(_NO_VALUES[missing.why], name=f"`{missing.operator}`")


@say.register
def values_missing(missing: ValuesMissing) -> str:
    """Say which tensors are too large to be kept."""
    return tr(
        "Of the tensors that {name} is given, values of at most {most} MB are recorded, the"
        " smallest tensors first: not those of {missing}.",
        name=f"`{missing.operator}`",
        most=missing.most,
        missing=", ".join(map("`{}`".format, missing.paths)),
    )
