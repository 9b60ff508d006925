"""What the runs were given in words: environment, arguments, variables, files, and source."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.ladder import words
from reprocheck.ladder.given import BY_NUMBER, Given
from reprocheck.ladder.own_words import FoundState
from reprocheck.language import count, form, mark, sentences, tr
from reprocheck.model import EnvironmentDifference, SourceDifference

LEFT_BY_RUN_1 = mark("run 1, which left it behind")
_KINDS = {
    "argument": mark("argument {name}"),
    "variable": mark("environment variable {name}"),
    "input": mark("input {name}"),
}
_MOST_SAID = 3
"""Files and arguments that are named with both values."""


def environment(differences: Sequence[EnvironmentDifference]) -> str:
    """Return facts of the environment that are not the same in a run as in run 1."""
    one, *others = differences
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


def sentence(given: Given) -> str:
    """Return one thing that the runs were not given alike, with both values."""
    name = called(given)
    if given.second is None:
        return tr("Run 1 alone was given the {name}, `{first}`.", name=name, first=given.first)
    if given.first is None:
        return tr("Run 2 alone was given the {name}, `{second}`.", name=name, second=given.second)
    if given.kind != "input":
        return tr(
            "The {name} is `{first}` in run 1 and `{second}` in run 2.",
            name=name,
            first=given.first,
            second=given.second,
        )
    return tr(
        "The files differ: `{name}`{anew} is not the same in both runs: {first}"
        " in run 1 and {second} in run 2.",
        name=given.name,
        anew=_anew(given),
        first=given.first,
        second=given.second,
    )


def _anew(given: Given) -> str:
    """Return the sentence that each run makes a file, and by which line."""
    if not given.made:
        return ""
    if not given.written:
        return tr(", made anew in each,")
    return tr(", written anew in each by {line},", line=given.written)


def given_otherwise(code: Sequence[SourceDifference], others: Sequence[Given]) -> str:
    """Source, arguments, variables and files that are not the same, the first of them with both
    values.
    """
    said = [*map(_of_code, code), *map(sentence, others)]
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


def left_behind(paths: Sequence[str], found: FoundState | None) -> str:
    """Return files of run 1 that run 2 reads, with what its log says of them."""
    read = tr("Run 2 reads {named}, which run 1 wrote.", named=words.named(paths))
    if found is None:
        return read
    says = tr(
        "The log of run {run} says, and that of run 1 does not: {line!r}.",
        run=found.run,
        line=found.line,
    )
    return sentences(read, says)


def left_without_effect(alike: Sequence[str], left: Sequence[str]) -> str:
    """Return files of run 1 that run 2 reads, and which explain nothing: `alike` are those that run
    1 read in the same way, `left` all of them.
    """
    if alike:
        return tr(
            "Run 2 reads {named}, which run 1 wrote; run 1 read the same from there.",
            named=words.named(alike),
        )
    if left:
        return tr(
            "Run 2 reads {named}, which run 1 wrote, but only after the first difference.",
            named=words.named(left),
        )
    return ""
