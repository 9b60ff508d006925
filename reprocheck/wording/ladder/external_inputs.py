"""What the runs were given in words: environment, arguments, variables, files, and source."""

from __future__ import annotations

from datetime import UTC, datetime

from reprocheck.language import count, form, mark, sentences, tr
from reprocheck.model import SourceDifference
from reprocheck.model.statements.given import (
    BY_NUMBER,
    FileState,
    Given,
    LeftFiles,
    LeftWithoutEffect,
    NotGivenAlike,
    OtherEnvironment,
)
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.registry import Said, said_of
from reprocheck.wording.say import say

_KINDS = {
    "argument": mark("argument {name}"),
    "variable": mark("environment variable {name}"),
    "input": mark("input {name}"),
}
_MOST_SAID = 3
"""Files and arguments that are named with both values."""


@say.register
def environment(other: OtherEnvironment) -> str:
    """Say which facts of the environment are not the same in a run as in run 1."""
    one, *others = other.differences
    said = tr(
        "`{key}` is not the same in run {run} as in run 1: {values}.",
        key=one.key,
        run=one.run,
        values=words.both(one.reference, one.value, second=one.run),
    )
    if not others:
        return said
    names = [other.key for other in others]
    more = form(len(names), "So is {named}.", "So are {named}.", named=words.named(names))
    return sentences(said, more)


def called(given: Given) -> str:
    """Return the name in a sentence: argument `--seed`, argument 1."""
    if given.name.startswith(BY_NUMBER):
        return given.name
    return tr(_KINDS[given.kind], name=words.code(given.name))


@say.register
def one_thing(given: Given) -> str:
    """Say that the runs were not given one thing alike, with both values."""
    name, first, second = called(given), _value(given.first), _value(given.second)
    if given.second is None:
        return tr("Run 1 alone was given the {name}, `{first}`.", name=name, first=first)
    if given.first is None:
        return tr("Run 2 alone was given the {name}, `{second}`.", name=name, second=second)
    if given.kind != "input":
        return tr(
            "The {name} is `{first}` in run 1 and `{second}` in run 2.",
            name=name,
            first=first,
            second=second,
        )
    return tr(
        "The files differ: `{name}`{anew} is not the same in both runs: {first}"
        " in run 1 and {second} in run 2.",
        name=given.name,
        anew=_anew(given),
        first=first,
        second=second,
    )


def _value(value: str | FileState | None) -> str:
    """Return a value as it was given; of a file what tells it from the other."""
    if not isinstance(value, FileState):
        return value or ""
    said = f"{value.size:,} bytes"
    if value.hash:
        said += f", hash {value.hash}"
    if value.time is not None:
        when = datetime.fromtimestamp(value.time, UTC)
        said += f", changed {when:%Y-%m-%d %H:%M:%S} UTC"
    return said


def _anew(given: Given) -> str:
    """Return the sentence that each run makes a file, and by which line."""
    if not given.made:
        return ""
    if not given.written:
        return tr(", made anew in each,")
    return tr(", written anew in each by {line},", line=given.written)


@say.register
def given_otherwise(otherwise: NotGivenAlike) -> str:
    """Say which source, arguments, variables and files are not the same, the first of them with
    both values.
    """
    said = [*map(_of_code, otherwise.code), *map(say, otherwise.others)]
    shown, more = said[:_MOST_SAID], said[_MOST_SAID:]
    if more:
        rest = count(len(more), "more file or argument", "more files or arguments")
        shown.append(form(len(more), "{rest} differs too.", "{rest} differ too.", rest=rest))
    return sentences(*shown)


def _of_code(one: SourceDifference) -> str:
    if one.only_in is not None:
        return tr("Run {only_in} alone has {file}.", only_in=one.only_in, file=words.code(one.file))
    pair = next(iter(one.changed), None)
    if pair is None or pair.first is None or pair.second is None:
        return tr("{file} is not the same in both runs.", file=words.code(one.file))
    return tr(
        "Line {line} of {file} is `{text}` in run 1 and `{second_text}` in run 2.",
        line=pair.first.line,
        file=words.code(one.file),
        text=pair.first.text,
        second_text=pair.second.text,
    )


@said_of.register
def left_behind(left: LeftFiles) -> Said:
    """Say which files of run 1 run 2 reads, with what its log says of them."""
    detail = tr("Run 2 reads {named}, which run 1 wrote.", named=words.named(left.paths))
    if left.says is not None:
        says = tr(
            "The log of run {run} says, and that of run 1 does not: {line!r}.",
            run=left.says.run,
            line=left.says.line,
        )
        detail = sentences(detail, says)
    return Said(detail=detail, sentence=detail, culprit=tr("run 1, which left it behind"))


@say.register
def left_without_effect(left: LeftWithoutEffect) -> str:
    """Say which files of run 1 run 2 reads, and that they explain nothing."""
    if left.alike:
        return tr(
            "Run 2 reads {named}, which run 1 wrote; run 1 read the same from there.",
            named=words.named(left.paths),
        )
    return tr(
        "Run 2 reads {named}, which run 1 wrote, but only after the first difference.",
        named=words.named(left.paths),
    )
