"""Reads the table of controls, and sets the environment variables that controls need.

The recorder reads the same table. Imports model and errors only. `.ci/pages.py` makes the sections
of `docs/reference/controls.md` from the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.errors import ControlError
from reprocheck.settings.relations import TABLE, rows_of

if TYPE_CHECKING:  # the model's many data classes would be half of the time of `--help`
    from reprocheck.model import ControlClass

ALTERS: ControlClass = "alters the training"


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """Describe a control, which removes one source of difference without a change of the script.

    does         what the control does, as one sentence
    frameworks   what the control does in each framework, by the framework's name
    environment  environment variables set before the start; `{seed}` stands for the seed, `{tmp}`
                 for
                 the run's own TMPDIR
    accepts      other values of such a variable that serve as well
    launch       what the launcher does: "" nothing, `copy` a fresh working directory for each run,
                 `addresses` no randomized memory addresses
    cost         what is known of the time that the control costs
    limits       what the control does not reach
    source       where the control is documented
    fix          code for the user to paste, by framework (`torch`), or by framework and device
                 (`torch cuda`)
    """

    name: str
    control_class: ControlClass
    does: str
    frameworks: Mapping[str, str]
    environment: Mapping[str, str]
    accepts: Mapping[str, tuple[str, ...]]
    launch: str
    cost: str
    limits: str
    source: str
    fix: Mapping[str, str]

    @property
    def alters(self) -> bool:
        """Return whether the control changes the training itself, and so its losses."""
        return self.control_class == ALTERS


_FIELDS = (
    "name",
    "class",
    "does",
    "frameworks",
    "environment",
    "launch",
    "cost",
    "limits",
    "source",
    "fix",
)
"""What each control has in the table; empty where there is nothing to say."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contradiction:
    """Name an environment variable of the user whose value contradicts a control.

    value   the value that the user set
    wanted  the value that the control would set
    """

    control: str
    variable: str
    value: str
    wanted: str


@cache
def table() -> tuple[Control, ...]:
    """Return all controls, ordered from those that change least to those that change most."""
    return tuple(controls_of(TABLE))


def controls_of(file: Path) -> Iterator[Control]:
    """Yield the controls of a table. Raises ReprocheckError if a field is wrong."""
    for row in rows_of(file, "control", _FIELDS, ("accepts",)):
        accepts = {key: tuple(values) for key, values in row.pop("accepts", {}).items()}
        yield Control(control_class=row.pop("class"), accepts=accepts, **row)


def control(name: str) -> Control:
    """Return the control with this name. Raises ControlError if there is none."""
    for row in table():
        if row.name == name:
            return row
    raise ControlError(
        f"There is no control {name!r}.",
        f"The controls are {', '.join(row.name for found in table())}.",
    )


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of controls, each once, in the order of the table.

    Raises ControlError for a name that is not in the table.
    """
    wanted = {control(name).name for name in names}
    return tuple(row.name for row in table() if row.name in wanted)


def harmless() -> tuple[str, ...]:
    """Return the names of all controls that do not change the training itself."""
    return tuple(row.name for row in table() if not row.alters)


@cache
def parts() -> dict[str, tuple[str, ...]]:
    """Return, for each control by name, the names of the controls that do a part of the same.

    Such a part only sets environment variables, all of which the whole control sets to the same
    values.
    """
    by_variables = [one for one in table() if one.environment and not one.launch]
    return {
        whole.name: tuple(
            one.name
            for one in by_variables
            if one is not whole and one.environment.items() <= whole.environment.items()
        )
        for whole in table()
    }


def launched(names: Iterable[str], what: str) -> bool:
    """Return whether one of the controls needs `what` from the launcher, such as `copy`."""
    return any(control(name).launch == what for name in names)


def environment(
    names: Iterable[str], seed: int, user: Mapping[str, str], tmp: str = ""
) -> tuple[dict[str, str], tuple[Contradiction, ...]]:
    """Return the variables that controls set, and the user's values that contradict them.

    Variables of the environment.

    A value of the user that serves as well stays, and is not among the returned variables.

    user  environment variables of the user
    tmp   the run's own TMPDIR
    """
    added: dict[str, str] = {}
    against: list[Contradiction] = []
    for row in map(control, ordered(names)):
        for variable, pattern in row.environment.items():
            wanted = pattern.replace("{seed}", str(seed)).replace("{tmp}", tmp)
            theirs = user.get(variable, "")
            serving = (wanted, *row.accepts.get(variable, ()))
            if theirs and theirs.lower() in map(str.lower, serving):
                continue
            if theirs and added.get(variable) != wanted:
                against.append(
                    Contradiction(control=row.name, variable=variable, value=theirs, wanted=wanted)
                )
            added[variable] = wanted
    return added, tuple(against)


def refuse(against: Iterable[Contradiction]) -> None:
    """Raise ControlError if values of the user contradict a control: they are kept."""
    contradictions = list(against)
    if not contradictions:
        return
    message = " ".join(
        f"{one.variable}={one.value} contradicts the control {one.control}, which sets"
        f" {one.wanted}."
        for one in contradictions
    )
    variables = " ".join(dict.fromkeys(one.variable for one in contradictions))
    names = " and ".join(dict.fromkeys(one.control for one in contradictions))
    raise ControlError(
        message,
        f"Take your value out of the environment (unset {variables}), or leave out the control"
        f" {names}.",
    )
