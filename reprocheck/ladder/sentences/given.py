"""What the runs were given in words: environment, arguments, variables, files, and source."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.ladder import words
from reprocheck.ladder.given import BY_NUMBER, Given
from reprocheck.ladder.own_words import FoundState
from reprocheck.model import EnvironmentDifference, SourceDifference

LEFT_BY_RUN_1 = "run 1, which left it behind"
_KINDS = {
    "argument": "argument",
    "variable": "environment variable",
    "input": "input",
}
_MOST_SAID = 3
"""Files and arguments that are named with both values."""


def environment(differences: Sequence[EnvironmentDifference]) -> str:
    """Facts of the environment that are not the same in a run as in run 1."""
    one, *others = differences
    values = words.both(one.reference, one.value, second=one.run)
    said = f"`{one.key}` is not the same in run {one.run} as in run 1: {values}."
    if not others:
        return said
    names = [other.key for other in others]
    return f"{said} So {words.agreeing(names, 'is', 'are')} {words.named(names)}."


def called(given: Given) -> str:
    """The name in a sentence: argument `--seed`, argument 1."""
    if given.name.startswith(BY_NUMBER):
        return given.name
    return f"{_KINDS[given.kind]} `{given.name}`"


def sentence(given: Given) -> str:
    """One thing that the runs were not given alike, with both values."""
    name = called(given)
    if given.second is None:
        return f"Run 1 alone was given the {name}, `{given.first}`."
    if given.first is None:
        return f"Run 2 alone was given the {name}, `{given.second}`."
    if given.kind != "input":
        return f"The {name} is `{given.first}` in run 1 and `{given.second}` in run 2."
    anew = ", made anew in each," if given.made else ""
    return (
        f"The files differ: `{given.name}`{anew} is not the same in both runs: {given.first}"
        f" in run 1 and {given.second} in run 2."
    )


def given_otherwise(code: Sequence[SourceDifference], others: Sequence[Given]) -> str:
    """Source, arguments, variables and files that are not the same, the first of them with both
    values.
    """
    said = [*map(_of_code, code), *map(sentence, others)]
    shown, more = said[:_MOST_SAID], said[_MOST_SAID:]
    if more:
        count = words.plural(len(more), "more file or argument", "more files or arguments")
        shown.append(f"{count} {words.agreeing(more, 'differs', 'differ')} too.")
    return " ".join(shown)


def _of_code(one: SourceDifference) -> str:
    if one.only_in is not None:
        return f"Run {one.only_in} alone has {words.code(one.file)}."
    pair = next(iter(one.changed), None)
    if pair is None or pair.first is None or pair.second is None:
        return f"{words.code(one.file)} is not the same in both runs."
    return (
        f"Line {pair.first.line} of {words.code(one.file)} is `{pair.first.text}` in run 1 and"
        f" `{pair.second.text}` in run 2."
    )


def left_behind(paths: Sequence[str], found: FoundState | None) -> str:
    """Files of run 1 that run 2 reads, with what its log says of them."""
    read = f"Run 2 reads {words.named(paths)}, which run 1 wrote."
    if found is None:
        return read
    return f"{read} The log of run {found.run} says, and that of run 1 does not: {found.line!r}."


def left_without_effect(alike: Sequence[str], left: Sequence[str]) -> str:
    """Files of run 1 that run 2 reads, and which explain nothing: `alike` are those that run 1 read
    in the same way, `left` all of them.
    """
    if alike:
        return (
            f"Run 2 reads {words.named(alike)}, which run 1 wrote; run 1 read the same from there."
        )
    if left:
        return (
            f"Run 2 reads {words.named(left)}, which run 1 wrote, but only after the first"
            " difference."
        )
    return ""
