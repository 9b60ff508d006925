"""What a search for the guilty change came to, as data: `--format json` prints it as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from reprocheck.suite.bisect.commits import CommitFacts
from reprocheck.suite.bisect.packages import Change

By = Literal["bitwise", "verdict"]
"""What a candidate is judged by: its curves against the good night's, or the verdict of a check."""
Outcome = Literal[
    "found", "several", "options", "good end is bad", "bad end is good", "bad end is skipped"
]
"""`options`: nothing but what the target was run with differs between the nights."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Guilty:
    """Describe the guilty change: a commit, or packages that moved together."""

    commit: CommitFacts | None = None
    packages: tuple[Change, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """Describe one candidate that was checked.

    candidate  a short name: a commit, a package with its version
    answer     `good`, `bad` or `skip`
    reason     what differed or failed; "" if the candidate is good
    """

    candidate: str
    answer: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Bisected:
    """The answer of a search.

    good, bad     the nights
    candidates    how many changes lie between them
    most          the most candidates that may be checked on a chain: ⌈log2 n⌉ + 1
    checked       the candidates that were looked at, in this order, those of an earlier start too
    made          how many checks this start made
    guilty        the guilty change; if the outcome is `several`, one of these changes is guilty
    good_checked  whether a good candidate was seen here
    options       what the target was run with that is not the same in both nights: name -> (then,
                  now)
    options_of    the night with whose options the candidates were run, where those differ
    elsewhere     other facts that differ between the nights: name -> (then, now). They cannot be
                  searched
    notes         what limits the answer, as sentences
    """

    target: str
    good: str
    bad: str
    by: By
    outcome: Outcome
    candidates: int
    most: int
    checked: tuple[Checked, ...] = ()
    made: int = 0
    guilty: tuple[Guilty, ...] = ()
    good_checked: bool = True
    options: dict[str, tuple[str, str]] = field(default_factory=dict)
    options_of: str = ""
    elsewhere: dict[str, tuple[str, str]]
    notes: tuple[str, ...] = ()
