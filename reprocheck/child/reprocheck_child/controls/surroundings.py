"""Checks what controls need of the process as it starts.

These are environment variables, and addresses that are not randomised (no ASLR).
"""

from __future__ import annotations

import os

from ..recorder import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .active_controls import Active

TABLE = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "shared", "relations.json"
)
ADDR_NO_RANDOMIZE = 0x0040000


def install(active: Active) -> None:
    """Report the environment variables of controls that this process was started with.

    If one is missing or has another value, its control is reported as unavailable.
    """
    with open(TABLE, encoding="utf-8") as file:
        table: list[dict[str, Any]] = json_text.loads(file.read())
    given = active.settings.get("environment") or {}
    for control in table:
        name = control["name"]
        if control["kind"] != "control" or name not in active.names:
            continue
        for variable in control["environment"]:
            _account(active, name, variable, given)
        if control["launch"] == "addresses":
            _addresses(active, name)
    for control_name, variable, old, new in active.settings.get("overridden") or ():
        active.overridden(control_name, variable, old, new)


def _account(active: Active, control: str, variable: str, given: dict[str, str]) -> None:
    value = os.environ.get(variable)
    wanted = given.get(variable, value)
    if value is not None and value == wanted:
        active.touched(control, variable, value)
        return
    active.unavailable(
        control,
        "%s had another value when a process of the script started: %s"
        % (variable, value or "none"),
    )


def _addresses(active: Active, control: str) -> None:
    try:
        with open("/proc/self/personality", encoding="ascii") as file:
            fixed = int(file.read(), 16) & ADDR_NO_RANDOMIZE
    except (OSError, ValueError):
        fixed = 0  # not Linux, or not allowed
    if fixed:
        active.touched(control, "personality", "ADDR_NO_RANDOMIZE")
        return
    active.unavailable(
        control, "the system does not let a program switch the randomisation of addresses off"
    )
