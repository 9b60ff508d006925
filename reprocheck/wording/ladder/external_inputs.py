"""What the runs were given in words: environment, arguments, variables, files, and source."""

from __future__ import annotations

from datetime import UTC, datetime

from reprocheck.language import count, form, sentences, tr
from reprocheck.model import SourceDifference
from reprocheck.model.statements import given as statements
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.registry import Said, said_of
from reprocheck.wording.say import say

_KINDS = {
    "argument": "argument",
    "variable": "environment variable",
    "input": "input",
}
_MOST_SAID = 3
"""Files and arguments that are named with both values."""


@say.register
def environment(other: statements.OtherEnvironment) -> str:
    """Say which facts of the environment are not the same in a run as in run 1."""
    first, *others = other.differences
    sentence = tr(
        "`{key}` is not the same in run {run} as in run 1: {values}.",
        key=first.key,
        run=first.run,
        values=words.both(first.reference, first.value, second=first.run),
    )
    if not others:
        return sentence
    names = [other.key for other in others]
    more = form(len(names), "So is {named}.", "So are {named}.", named=words.named(names))
    return sentences(sentence, more)


def called(given: statements.Given) -> str:
    """Return the name in a sentence: argument `--seed`, argument 1."""
    if given.name.startswith(statements.BY_NUMBER):
        return given.name
    return f"{_KINDS[given.kind]} {words.code(given.name)}"


@say.register
def one_thing(given: statements.Given) -> str:
    """Say which argument, variable or file the runs were given unequally, with both values."""
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
    anew = ""
    if given.made:
        anew = (
            f", written anew in each by {given.written},"
            if given.written
            else ", made anew in each,"
        )
    return tr(
        "The files differ: `{name}`{anew} is not the same in both runs: {first}"
        " in run 1 and {second} in run 2.",
        name=given.name,
        anew=anew,
        first=first,
        second=second,
    )


def _value(value: str | statements.FileState | None) -> str:
    """Return a value as it was given; of a file the size, hash or time that distinguishes it from
    the other.
    """
    if not isinstance(value, statements.FileState):
        return value or ""
    text = f"{value.size:,} bytes"
    if value.hash:
        text += f", hash {value.hash}"
    if value.time is not None:
        when = datetime.fromtimestamp(value.time, UTC)
        text += f", changed {when:%Y-%m-%d %H:%M:%S} UTC"
    return text


@say.register
def given_otherwise(otherwise: statements.NotGivenAlike) -> str:
    """Say which source, arguments, variables and files differ, the first of them with both
    values.
    """
    differences = [*map(_of_code, otherwise.code), *map(say, otherwise.others)]
    shown, more = differences[:_MOST_SAID], len(differences) - _MOST_SAID
    if more > 0:
        rest = count(more, "more file or argument", "more files or arguments")
        shown.append(form(more, "{rest} differs too.", "{rest} differ too.", rest=rest))
    return sentences(*shown)


def _of_code(source: SourceDifference) -> str:
    file = words.code(source.file)
    if source.only_in is not None:
        return tr("Run {only_in} alone has {file}.", only_in=source.only_in, file=file)
    pair = next(iter(source.changed), None)
    if pair is None or pair.first is None or pair.second is None:
        return tr("{file} is not the same in both runs.", file=file)
    return tr(
        "Line {line} of {file} is `{text}` in run 1 and `{second_text}` in run 2.",
        line=pair.first.line,
        file=file,
        text=pair.first.text,
        second_text=pair.second.text,
    )


@said_of.register
def left_behind(left: statements.LeftFiles) -> Said:
    """Say which files of run 1 run 2 reads, with what its log says of them."""
    detail = tr("Run 2 reads {named}, which run 1 wrote.", named=words.named(left.paths))
    if left.says is not None:
        says = tr(
            "The log of run {run} says, and that of run 1 does not: {line!r}.",
            run=left.says.run,
            line=left.says.line,
        )
        detail = sentences(detail, says)
    return Said(detail=detail, sentence=detail, culprit="run 1, which left it behind")


@say.register
def left_without_effect(left: statements.LeftWithoutEffect) -> str:
    """Say which files of run 1 run 2 reads, and that they explain nothing."""
    read = f"Run 2 reads {words.named(left.paths)}, which run 1 wrote"
    if left.alike:
        return f"{read}; run 1 read the same from there."
    return f"{read}, but only after the first difference."
