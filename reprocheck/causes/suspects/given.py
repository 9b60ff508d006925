"""What the runs were given: arguments and files, and of two recordings the user's source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reprocheck.causes.evidence import Recorded
from reprocheck.causes.started import made_at_start
from reprocheck.causes.suspects.look import Look, Suspect
from reprocheck.ladder.given import Given, given_otherwise
from reprocheck.ladder.sentences import given as in_words
from reprocheck.ladder.shell import Made
from reprocheck.model import Rung, SourceDifference, SourceLine
from reprocheck.model.evidence import loaded_file

MOST_QUOTED = 3
"""Lines that differ and are quoted."""


def of_given(look: Look) -> Iterator[Suspect]:
    """Other code, other arguments, other files."""
    code = look.check.between.other_code if look.check.between else ()
    below = look.ladder.first_of_training
    follows = (below.detail,) if below is not None and below.detail else ()
    others = (
        given_otherwise(look.check, below.rung, loaded_file(below.evidence))
        if below is not None
        else given_otherwise(look.check)
    )
    sure = (
        look.quiet
        or not look.check.record.compared
        or _names_place(below, [*_lines(code), *(one.name for one in others)])
    )
    if code:
        yield Suspect(
            name="other-source",
            shown=tuple(Recorded(kind="text differs", of=one.file) for one in code) if sure else (),
            evidence=(*_quoted(code), *follows),
            source=look.rung.source,
        )
    if others:
        said = () if not code else tuple(in_words.sentence(one) for one in others[:MOST_QUOTED])
        origin = made_at_start(look.check, look.code.sources.text)
        yield Suspect(
            name="changing-input",
            shown=tuple(
                Recorded(kind="contents differ", of=one.name)
                for one in others
                if sure and (below or not one.made)
            ),
            evidence=(*said, *_where(origin), *follows),
            source=_line(origin) or look.line_at(others[0].line),
            fix=_fixed(origin) if origin is not None else _same(others[0]),
        )


def _line(origin: Made | None) -> SourceLine | None:
    return (
        SourceLine(file=origin.file, line=origin.line)
        if origin is not None and origin.file
        else None
    )


def _where(origin: Made | None) -> tuple[str, ...]:
    if origin is None:
        return ()
    place = f"Line {origin.line} of `{origin.file}`" if origin.file else "The command"
    return (f"{place} makes it of `{origin.by}`, which differs at each start.",)


def _fixed(origin: Made) -> str:
    """A fixed value where the script makes one anew."""
    if not origin.file:
        return f"Give a fixed value in the command in place of `{origin.by}`."
    return f"Give it a fixed value in line {origin.line} of {origin.file}: `{origin.fixed}`"


def _same(given: Given) -> str:
    """What to do about an argument, a variable, or a file."""
    if given.of_one_run:
        return f"Start every run with the {in_words.called(given)}, or every run without it."
    if given.kind != "input":
        return f"Start every run with the same {in_words.called(given)}, such as `{given.first}`."
    if given.made:
        return (
            f"Seed what the program draws that makes `{given.name}`, or make the file once, before"
            " the runs that are compared."
        )
    return (
        f"Keep `{given.name}` as it is while runs are compared: pin its version, or give each run a"
        " copy of its own."
    )


def _names_place(below: Rung | None, texts: Sequence[str]) -> bool:
    """Whether a line or an argument that differs names what differs first in the training, such as
    `lr`.
    """
    name = str(below.place or "").rpartition(".")[2] if below is not None else ""
    return bool(name) and any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)


def _lines(code: Sequence[SourceDifference]) -> list[str]:
    """The lines that differ, of both sides."""
    return [
        line.text
        for one in code
        for pair in one.changed
        for line in (pair.first, pair.second)
        if line is not None
    ]


def _quoted(code: Sequence[SourceDifference]) -> list[str]:
    """The lines behind the first, which the rung has quoted."""
    pairs = [
        (one.file, pair)
        for one in code
        for pair in one.changed
        if pair.first is not None and pair.second is not None
    ][1:MOST_QUOTED]
    return [
        f"Line {pair.first.line} of `{file}` is `{pair.first.text}` in run 1 and"
        f" `{pair.second.text}` in run 2."
        for file, pair in pairs
        if pair.first is not None and pair.second is not None
    ]
