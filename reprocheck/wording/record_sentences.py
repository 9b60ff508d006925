"""The sentences that stand in `record.json`, or are made of what stands there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck.files.summary import summary
from reprocheck.language import mark, tr
from reprocheck.model import CheckRecord
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
    "pair": "The runs at level {level} could not be recorded: {message}",
    "half": "The run at level {level} could not be recorded: {message}",
    "search": "The search for the cause ended early: {message}",
    "values": "No values of tensors were recorded: {message}",
}
_NO_VALUES: Mapping[str, str] = {
    "no operator": (
        "No values of tensors were recorded: no operator is known to make the difference."
    ),
    "no input": (
        "No values of tensors were recorded: {name} is given none, or none of a known type."
    ),
    "not again": (
        "No values of tensors were recorded: in a further run {name} was not given the same again."
    ),
}


def told(record: CheckRecord) -> CheckRecord:
    """Return the record with the sentence of its advice."""
    advice = record.advice
    # older versions kept the sentence itself
    if advice is None or advice.reason is None:
        return record
    return replace(record, advice=replace(advice, why=say(advice.reason)))


@say.register
def advice_reason(reason: AdviceReason) -> str:
    """Return a sentence that says what went wrong and leads to the advised command."""
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
    return _UNFINISHED[runs.what].format(level=runs.level, message=runs.message)


@say.register
def no_values(missing: NoValues) -> str:
    """Say why the values of no tensor were recorded."""
    return _NO_VALUES[missing.why].format(name=f"`{missing.operator}`")


@say.register
def values_missing(missing: ValuesMissing) -> str:
    """Say which tensors are too large to be kept."""
    paths = ", ".join(f"`{path}`" for path in missing.paths)
    return (
        f"Of the tensors that `{missing.operator}` is given, values of at most {missing.most}"
        f" MB are recorded, the smallest tensors first: not those of {paths}."
    )
