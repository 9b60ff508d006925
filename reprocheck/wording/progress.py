"""What is told of a check while it is under way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reprocheck.language import count
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.reason import Reason
from reprocheck.wording.search import why

_MOST_NAMED = 4
"""Controls of an arm that are all named as it begins; of more their number is told."""


def waits_for_another_check() -> str:
    """Return that another check is under way in the same folder."""
    return (
        "Another check is under way in this folder: this one waits for its end, since the"
        " runs of both would change the same files."
    )


def cost(least: int, named: int, most: int, seconds: float) -> str:
    """Say how many runs the search takes.

    `least` if one control removes the difference, `named` if all named controls together do, `most`
    if none does.
    """
    runs = f"{least}"
    if named > least:
        runs = f"{least} to {named}"
    return (
        f"The search takes about {runs} runs of {max(1, seconds):.0f} s, at most {most}"
        " (--max-runs)."
    )


def arm(under: Sequence[str]) -> str:
    """Say under which controls and patches the next runs are made."""
    names, fixes = controls_in(under), fixes_in(under)
    parts = [" + ".join(names) if len(names) <= _MOST_NAMED else count(len(names), "control")]
    if len(fixes) == 1:
        parts.append(f"the patch of {fixes[0]}")
    elif fixes:
        parts.append(count(len(fixes), "patch", "patches"))
    return " + ".join(filter(None, parts)) or "unmodified"


def ends_after(runs: int) -> str:
    """Return that no more runs are allowed."""
    return f"The search ends after {count(runs, 'further run')}, as --max-runs says."


def patch_untried() -> str:
    """Return that no run is left for the patch."""
    return "The patch was not tried, as --max-runs says."


def patched(reason: Reason, files: Iterable[str]) -> str:
    """Return why runs with a patch are made, and how."""
    names = ", ".join(files)
    return (
        f"{why(reason)}; Python is given the patched text of {names}, and the file"
        " itself stays as it is"
    )


def edited(files: Iterable[str]) -> str:
    """Say which files somebody has edited during the runs."""
    edited = ", ".join(files)
    return f"Changed while the patch was tried, which is for the text before: {edited}."


def useless() -> str:
    """Return why no run follows run 1."""
    return "Run 1 ended before the checks could be made: run 2 is not started."


def comparing() -> str:
    """Say what reprocheck does after the runs have ended."""
    return "comparing the runs"


def looking() -> str:
    """Say what reprocheck does after the runs at a deeper level of recording have ended."""
    return "looking for the first difference"


def recording(operator: str) -> str:
    """Say why a run records the values of tensors."""
    return f"recording what {operator} is given"


def series_differs(command: str) -> str:
    """Return that only a series differs, and how its cause is searched."""
    return (
        f"All losses agree, and a series beside them differs: `{command}` searches for the cause."
    )


def no_losses() -> str:
    """Return that the check shows no difference that can be searched."""
    return "No losses that differ were recorded, so no control can be tried."


def nothing_to_explain() -> str:
    """Return that the check passes."""
    return (
        "No difference was seen beyond the tolerance: there is nothing to explain."
        " `--runs N` looks for one that is intermittent."
    )


def longer(first: int | None) -> str:
    """Say that one run goes on after the other has ended, from this iteration on."""
    return (
        "No loss that both runs recorded differs, but one run is longer: iteration"
        f" {first:,} is missing in the other."
    )
