"""The sentences on variations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reprocheck.language import count, listed, tr
from reprocheck.model.variations import DependsOn, Guilty, Variations
from reprocheck.settings.variations import FIRST_RUN, table
from reprocheck.wording.say import say

WHY_NOT: Mapping[str, str] = {
    "control": "its control is on",
    "user": "you set the variable",
    "no other": "this machine has no other",
    "no space": "there is no space for a copy",
    "breaks": "the script fails under it",
}


def looking_for() -> str:
    """Announce the search."""
    return "The varied run differs: trying which of the variations it is."


def trying(varied: Sequence[str]) -> tuple[str, str]:
    """Return what a trial runs with, and why."""
    if not varied:
        return "unmodified, twice", "to test whether the runs differ without variations"
    if len(varied) == 1:
        return f"--vary {varied[0]}", "to test whether this variation alone makes the difference"
    return count(len(varied), "variation"), f"to test {', '.join(varied)}"


def breaks(name: str) -> str:
    """Say that a variation is left out."""
    return f"The script fails under the variation {name}, which is left out."


def depends(guilty: Guilty) -> str:
    """Say what a training depends on."""
    what = next((row.depends for row in table() if row.name == guilty.name), guilty.name)
    if guilty.source is None:
        return tr("The training depends on {what}.", what=tr(what))
    return tr("The training depends on {what} ({line}).", what=tr(what), line=guilty.source.at)


@say.register
def _(statement: DependsOn) -> str:
    return depends(statement.guilty)


def proof(found: Variations) -> str:
    """Say what the trials showed; "" where there were none."""
    if found.plain is False:
        return "Two runs without variations differ, too: the difference is none of the variations'."
    if found.guilty:
        names = listed([f"`{guilty.name}`" for guilty in found.guilty])
        sentence = f"{names}, varied alone, makes the runs differ"
        if len(found.guilty) > 1:
            sentence = f"Each of {names}, varied alone, makes the runs differ"
        if found.rest:
            sentence += "; with all other variations they agree"
        elif found.rest is False:
            sentence += "; they differ with the other variations, too"
        return f"{sentence}."
    if found.among:
        names = listed([f"`{name}`" for name in found.among])
        return f"No variation makes the difference alone; several of these do: {names}."
    if found.tried and found.wanted is not None:
        return "The search was ended before it found the variation."
    return ""


def covered(found: Variations) -> str:
    """Say what the runs were varied by, and what was left out."""
    sentence = f"{', '.join(found.made) or 'nothing'} ({in_runs(found)})"
    if not found.left_out:
        return sentence
    out = ", ".join(f"{name} ({why_not(why)})" for name, why in found.left_out)
    return f"{sentence}; not varied: {out}"


def in_runs(found: Variations) -> str:
    """Say which runs were varied, and by which seed."""
    if not is_seeded(found):
        return "in run 2"
    return f"in runs 2 to {found.runs[-1]}, with --vary-seed {found.seed}"


def is_seeded(found: Variations) -> bool:
    """Return whether a seed decided values of the variations."""
    return any(number > FIRST_RUN for number in found.runs)


def why_not(key: str) -> str:
    """Say why a variation was not made."""
    return WHY_NOT.get(key, key)
