"""The environment of a run: the user's own, a closed list of ours, and the controls."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from reprocheck.settings import controls

TRACE = "REPROCHECK_CHILD"
RECORDER = Path(__file__).resolve().parents[2] / "child"
PORTS = {
    "MASTER_PORT": "MASTER_ADDR",
    "PET_MASTER_PORT": "PET_MASTER_ADDR",
    "MS_SCHED_PORT": "MS_SCHED_HOST",
}
"""Variables that name a port to listen on, and the variable that names the machine it is on.

Launchers that are given no port (torchrun, `accelerate launch`, msrun) take a free one or their
default, which is free again after each run, since nothing of a run outlives it; a variable of ours
would change the kind of rendezvous that torchrun chooses.
"""

_NODES = ("NODE_RANK", "GROUP_RANK", "PET_NODE_RANK", "MS_NODE_RANK")
"""Variables that number machines: the others go by the same port."""

WAIT_POLICY = "OMP_WAIT_POLICY"
"""Threads that wait for work spin by default, and take the processors from the other run."""


def users_environment() -> dict[str, str]:
    """Return the environment as the user's shell gave it to reprocheck.

    LC_CTYPE is left out where Python itself put it there (PEP 538).
    """
    environment = dict(os.environ)
    if "LC_CTYPE" in environment:
        try:
            original = Path("/proc/self/environ").read_bytes()
        except OSError:
            return environment
        if not any(item.startswith(b"LC_CTYPE=") for item in original.split(b"\0")):
            del environment["LC_CTYPE"]
    return environment


def added_variables(
    user: Mapping[str, str],
    *,
    trace: Path,
    tmpdir: Path,
    pwd: Path | None = None,
    side_by_side: bool = False,
) -> dict[str, str]:
    """Return the variables of ours for one run, over those of the user."""
    folders = filter(None, (str(RECORDER), user.get("PYTHONPATH")))
    added = {
        TRACE: str(trace),
        "PYTHONPATH": os.pathsep.join(folders),
        "TMPDIR": str(tmpdir),
    }
    if pwd is not None and "PWD" in user:
        added["PWD"] = str(pwd)
    if side_by_side and WAIT_POLICY not in user:
        added[WAIT_POLICY] = "passive"
    # the other nodes know the port that the user chose
    one_of_several = any(user.get(name) for name in _NODES) or bool(
        user.get("RANK") and user.get("WORLD_SIZE", "1") not in ("", "1")
    )
    if one_of_several:
        return added
    names = [name for name in PORTS if _is_local_port(user, name)]
    return added | dict(zip(names, map(str, free_ports(len(names))), strict=True))


def free_ports(count: int) -> list[int]:
    """Return different TCP ports on which nobody listens right now."""
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            for _ in range(count)
        ]
        for each in sockets:
            each.bind(("", 0))
        return [each.getsockname()[1] for each in sockets]


def _is_local_port(user: Mapping[str, str], name: str) -> bool:
    if user.get(name, "") in ("", "0"):
        return False
    address = user.get(PORTS[name]) or user.get("MASTER_ADDR") or "localhost"
    return address in ("localhost", "127.0.0.1", "::1", "0.0.0.0", socket.gethostname())


COPY, ADDRESSES = "copy", "addresses"
"""What controls may need of the launcher."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Under:
    """The controls that are on, and the seed from which their seeds derive.

    Also whether they override what the user set (`user`: the environment). `spared`: a control, `@`
    and a place at which it does not act.
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
