"""Which targets a command is about: by name, by tag, by shard."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from itertools import chain

from reprocheck.errors import SettingsError, UsageError
from reprocheck.settings import nearest
from reprocheck.suite.target import Target

FEW = 8
"""Names that an error lists."""
_SHARD = re.compile(r"(\d+)/(\d+)")


def selected(
    targets: Sequence[Target], names: Sequence[str], tags: Sequence[str], shard: str
) -> tuple[Target, ...]:
    """Return the targets that have one of the names and one of the tags, of that shard, sorted by
    name.

    names  exact, or patterns of a shell (`resnet*`); a name with brackets is taken as it is first.
           Of a matrix its name without values stands for all. None: all.
    shard  `2/8`: every target is in exactly one of the eight.

    Raises UsageError for a name or tag that no target has.
    """
    if not targets:
        raise SettingsError(
            "The suite has no targets.", "`reprocheck suite init` writes them from your scripts."
        )
    by_name = {target.name: target for target in targets}
    known = sorted(by_name)
    with_name = list(chain.from_iterable(_named(asked, known) for asked in names)) or known
    with_tag: list[str] = []
    for tag in tags:
        tagged = [target.name for target in targets if tag in target.tags]
        if not tagged:
            known_tags = sorted(set(chain.from_iterable(target.tags for target in targets)))
            raise UsageError(f"No target has the tag {tag!r}.", _instead(tag, known_tags, "tags"))
        with_tag += tagged
    number, of = 1, 1
    if shard:
        found = _SHARD.fullmatch(shard)
        number, of = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= of:
            raise UsageError(
                f"--shard {shard} is no shard.",
                "Write it as --shard 2/8: the second of eight, from 1.",
            )
    wanted = sorted(set(with_name).intersection(with_tag or known))
    return tuple(by_name[name] for name in wanted[number - 1 :: of])


def _named(asked: str, known: Sequence[str]) -> list[str]:
    """Return the names that `asked` stands for. Raises UsageError if there is none."""
    if asked in known:
        return [asked]
    of_a_matrix = fnmatch.filter(known, f"{asked}[[]*")
    found = [*fnmatch.filter(known, asked), *of_a_matrix]
    if not found:
        raise UsageError(f"There is no target {asked!r}.", _instead(asked, known, "targets"))
    return found


def _instead(asked: str, known: Sequence[str], what: str) -> str:
    """Suggest the known names nearest to a wrong one, else the first few."""
    meant = nearest(asked, known)
    if meant:
        return f"Did you mean {meant}? `reprocheck suite list` lists all."
    if not known:
        return f"There are no {what} in this suite."
    few = list(known[:FEW])
    if len(known) > FEW:
        few.append("…")
    return f"The {what} are {', '.join(few)}."
