"""What is told of a check while it is under way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reprocheck.language import count, tr
from reprocheck.model.controls import controls_in, fixes_in
from reprocheck.model.reason import Reason
from reprocheck.wording.search import why

_MOST_NAMED = 4
"""Controls of an arm that are all named as it begins; of more their number is told."""


def waits_for_another_check() -> str:
    """Return that another check is under way in the same folder."""
    return tr(
        "Another check is under way in this folder: this one waits for its end, since the runs of"
        " both would change the same files."
    )


def cost(least: int, named: int, most: int, seconds: float) -> str:
    """Return what the search may cost: the runs that it takes at least, with what is named, and at
    most.
    """
    runs = f"{least}"
    if named > least:
        runs = tr("{least} to {named}", least=least, named=named)
    return tr(
        "The search takes about {runs} runs of {seconds:.0f} s, at most {most} (--max-runs).",
        runs=runs,
        most=most,
        seconds=max(1, seconds),
    )


def arm(under: Sequence[str]) -> str:
    """Return what the next runs are made under."""
    names, fixes = controls_in(under), fixes_in(under)
    said = [" + ".join(names) if len(names) <= _MOST_NAMED else count(len(names), "control")]
    if fixes:
        several = count(len(fixes), "patch", "patches")
        said.append(tr("the patch of {fix}", fix=fixes[0]) if len(fixes) == 1 else several)
    return " + ".join(filter(None, said)) or tr("unmodified")


def ends_after(runs: int) -> str:
    """Return that no more runs are allowed."""
    made = count(runs, "further run")
    return tr("The search ends after {runs}, as --max-runs says.", runs=made)


def patch_untried() -> str:
    """Return that no run is left for the patch."""
    return tr("The patch was not tried, as --max-runs says.")


def patched(reason: Reason, files: Iterable[str]) -> str:
    """Return why runs with a patch are made, and how."""
    return tr(
        "{why}; Python is given the patched text of {names}, and the file itself stays as it is",
        why=why(reason),
        names=", ".join(files),
    )


def edited(files: Iterable[str]) -> str:
    """Return which files somebody has changed meanwhile."""
    return tr(
        "Changed while the patch was tried, which is for the text before: {edited}.",
        edited=", ".join(files),
    )


def useless() -> str:
    """Return why no run follows run 1."""
    return tr("Run 1 ended before the checks could be made: run 2 is not started.")


def comparing() -> str:
    """Return what is done once the runs have ended."""
    return tr("comparing the runs")


def looking() -> str:
    """Return what is done once the runs at a deeper level have ended."""
    return tr("looking for the first difference")


def recording(operator: str) -> str:
    """Return what a run for the values of tensors is for."""
    return tr("recording what {name} is given", name=operator)


def series_differs(command: str) -> str:
    """Return that only a series differs, and how its cause is searched."""
    return tr(
        "All losses agree, and a series beside them differs: `{command}` searches for the cause.",
        command=command,
    )


def no_losses() -> str:
    """Return that the check shows no difference that can be searched."""
    return tr("No losses that differ were recorded, so no control can be tried.")


def nothing_to_explain() -> str:
    """Return that the check passes."""
    return tr(
        "No difference was seen beyond the tolerance: there is nothing to explain. `--runs N`"
        " looks for one that is intermittent."
    )


def longer(first: int | None) -> str:
    """Return that one run goes on where another ended, from this iteration on."""
    missing = tr("iteration {first_iteration:,} is missing in the other", first_iteration=first)
    return tr(
        "No loss that both runs recorded differs, but one run is longer: {missing}.",
        missing=missing,
    )
