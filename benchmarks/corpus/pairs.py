"""`corpus.toml` as values: a pair is a script with a planted cause, its twin without, and what
reprocheck must say of both.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A row of `corpus.toml`; its head says what each field means.

    Fields with several values: each of them is a right answer.
    """

    script: str
    twin: str
    loop: str
    verdicts: tuple[str, ...]
    rungs: tuple[str, ...]
    places: tuple[str, ...]
    codes: tuple[str, ...]
    lines: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    fixed_by: tuple[str, ...] | None = None
    command: tuple[str, ...] = ()
    python: str = ""
    bitwise: bool = True
    chance: bool = False
    fast: bool = False

    @property
    def name(self) -> str:
        """The script without its ending: `torch/time_seed`."""
        return self.script.rpartition(".")[0]

    def entry(self, script: str) -> list[str]:
        """The words after `reprocheck run` and its options that start this script or its twin."""
        path = str(SCRIPTS / script)
        return (
            ["--", *(path if word == "SCRIPT" else word for word in self.command)]
            if self.command
            else [path]
        )


def load() -> tuple[Pair, ...]:
    """All pairs, in the order of the file."""
    with (HERE / "corpus.toml").open("rb") as file:
        return tuple(_pair(row) for row in tomllib.load(file)["pair"])


def _pair(row: dict[str, Any]) -> Pair:
    return Pair(
        script=row["script"],
        twin=row["twin"],
        loop=row["loop"],
        verdicts=_several(row["verdict"]),
        rungs=_several(row.get("rung", [])),
        places=_several(row.get("place", [])),
        codes=_several(row.get("code", [])),
        lines=_several(row.get("line", [])),
        fixes=_several(row.get("fix", [])),
        fixed_by=_several(row["fixed_by"]) if "fixed_by" in row else None,
        command=tuple(row.get("command", [])),
        python=row.get("python", ""),
        bitwise=row.get("bitwise", True),
        chance=row.get("chance", False),
        fast=row.get("fast", False),
    )


def _several(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
