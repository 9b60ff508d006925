"""The controls that a run is made under: the variables that they set, and what the recorder in the
run is told of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reprocheck.settings import controls

COPY, ADDRESSES = "copy", "addresses"
"""What controls may need of the launcher."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Under:
    """The controls that are on, the seed from which their seeds derive, and whether they override
    what the user set (`user`: the environment). `spared`: a control, `@` and a place at which it
    does not act.
    """

    names: tuple[str, ...] = ()
    seed: int = 0
    override: bool = False
    user: Mapping[str, str] = field(default_factory=dict)
    spared: tuple[str, ...] = ()

    @property
    def copies(self) -> bool:
        """Return whether each run works in a fresh copy of the working directory."""
        return controls.launched(self.names, COPY)

    @property
    def fixed_addresses(self) -> bool:
        """Return whether the randomisation of addresses is off."""
        return controls.launched(self.names, ADDRESSES)

    def variables(self, tmp: str) -> dict[str, str]:
        """Return the variables that the controls set for a run whose TMPDIR is `tmp`."""
        return controls.environment(self.names, self.seed, self.user, tmp)[0]

    def told(self, variables: Mapping[str, str]) -> dict[str, object]:
        """Return entries for `recorder.json`; none if no control is on."""
        if not self.names:
            return {}
        replaced = [
            [one.control, one.variable, one.value, variables[one.variable]]
            for one in controls.environment(self.names, self.seed, self.user)[1]
        ]
        return {
            "controls": list(self.names),
            "seed": self.seed,
            "override": self.override,
            "spared": list(self.spared),
            "environment": dict(variables),
            "overridden": replaced,
        }


def under_controls(
    names: Sequence[str],
    seed: int,
    *,
    override: bool,
    user: Mapping[str, str],
    spared: Sequence[str] = (),
) -> Under:
    """Return the controls, in the order of the table.

    Without `override`, a value of the user's that contradicts a control raises ControlError.
    """
    ordered = controls.ordered(names)
    under = Under(names=ordered, seed=seed, override=override, user=user, spared=tuple(spared))
    if not override:
        controls.refuse(controls.environment(under.names, seed, user)[1])
    return under
