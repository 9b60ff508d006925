"""Which targets a command is about: by name, by tag, by shard."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from reprocheck.errors import SettingsError, UsageError
from reprocheck.settings import nearest
from reprocheck.suite.model import Target

_SHARD = re.compile(r"(\d+)/(\d+)")


def selected(
    targets: Sequence[Target], names: Sequence[str], tags: Sequence[str], shard: str
) -> tuple[Target, ...]:
    """The targets that have one of the names and one of the tags, of that shard, sorted by name.

    names  exact, or patterns of a shell (`resnet*`); a name with brackets is taken as it is first.
           Of a matrix its name without values stands for all. None: all.
    shard  `2/8`: every target is in exactly one of the eight.

    Raises UsageError for a name or tag that no target has.
    """
    if not targets:
        raise SettingsError(
            "The suite has no targets.", "`reprocheck suite init` writes them from your scripts."
        )
    found = sorted(targets, key=lambda target: target.name)
    for tag in tags:
        _refuse_unknown_tag(tag, found)
    if names:
        wanted = {name for asked in names for name in _named(asked, found)}
        found = [target for target in found if target.name in wanted]
    if tags:
        found = [target for target in found if not set(tags).isdisjoint(target.tags)]
    number, of = _shard(shard)
    return tuple(found[number - 1 :: of])


def _named(asked: str, targets: Iterable[Target]) -> list[str]:
    """Names of the targets that `asked` stands for. Raises UsageError where there is none."""
    known = [target.name for target in targets]
    if asked in known:
        return [asked]
    of_the_matrix = [name for name in known if name.startswith(f"{asked}[")]
    matching = [name for name in known if fnmatchcase(name, asked)]
    if of_the_matrix or matching:
        return of_the_matrix or matching
    raise UsageError(f"There is no target {asked!r}.", _instead(asked, known, "targets"))


def _refuse_unknown_tag(tag: str, targets: Iterable[Target]) -> None:
    known = sorted({one for target in targets for one in target.tags})
    if tag not in known:
        raise UsageError(f"No target has the tag {tag!r}.", _instead(tag, known, "tags"))


def _instead(asked: str, known: Sequence[str], what: str) -> str:
    """The nearest of the known names, else the first few."""
    meant = nearest(asked, known)
    if meant:
        return f"Did you mean {meant}? `reprocheck suite list` lists all."
    if not known:
        return f"There are no {what} in this suite."
    return f"The {what} are {', '.join(known[:8])}{', …' if len(known) > 8 else ''}."


def _shard(text: str) -> tuple[int, int]:
    """Number and count of a shard; 1 of 1 where none is asked for."""
    if not text:
        return 1, 1
    found = _SHARD.fullmatch(text)
    numbers = tuple(map(int, found.groups())) if found else (0, 0)
    number, of = numbers
    if not 1 <= number <= of:
        raise UsageError(
            f"--shard {text} is no shard.", "Write it as --shard 2/8: the second of eight, from 1."
        )
    return number, of
