"""What a suite is about, as data that may be shown: nights, their checks, baselines, states."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from reprocheck.model import EXIT_CODE, Sample, Series
from reprocheck.resume.model import EXIT_CODE as RESUME_EXIT_CODE

Allow = Literal["bits", "tolerance", "noise-floor"]
"""How far the series of a check may be from the baseline of the same key."""
State = Literal[
    "unchanged",
    "new failure",
    "still failing",
    "fixed",
    "intermittent",
    "drift",
    "expected drift",
    "moved",
    "slower",
    "larger",
    "known issue",
    "new target",
    "gone",
    "not run",
]
"""What changed at a target since the nights before."""
TO_LOOK_AT: tuple[State, ...] = (
    "new failure",
    "still failing",
    "drift",
    "intermittent",
    "moved",
    "slower",
    "larger",
)
"""States that somebody should look at, also where they do not fail the night."""
NO_REPORT = "error"
"""The verdict of a check of which no report could be made."""
OF_RESUME = frozenset(RESUME_EXIT_CODE) - frozenset(EXIT_CODE)
"""Verdicts that a check of a resume alone has."""
_COMMIT = re.compile(r"([0-9a-f]{12})[0-9a-f]{28}(\+?)")


def short(fact: str) -> str:
    """Return a commit as people name it, by its first 12 digits; every other fact as it is."""
    commit = _COMMIT.fullmatch(fact)
    if commit is None:
        return fact
    return commit[1] + commit[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownIssue:
    """Say that a target is allowed to fail.

    until  the last day on which it is: `2026-12-31`, UTC
    link   where it is followed, "" if nowhere
    """

    why: str
    until: str
    link: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resources:
    """Say what one check of a target occupies while it runs.

    cpus, gpus, npus  cores and devices, of each node
    nodes             machines, which the training's own launcher reaches
    minutes           how long the check takes at most; 0 if that is not said
    """

    cpus: float = 1.0
    gpus: int = 0
    npus: int = 0
    nodes: int = 1
    minutes: int = 0


@dataclass(frozen=True, kw_only=True)
class Key:
    """Hold the environment key: the facts that may change numbers.

    Curves are compared with a baseline of the same key.

    Facts such as `torch`: `2.13.0`, `device`: `NVIDIA H100`, `ranks`: `2`, `threads`: `8`,
    `options`: `--steps 20`.
    """

    facts: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """Return 16 hexadecimal digits that stand for the facts."""
        text = json.dumps(dict(sorted(self.facts.items())), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @classmethod
    def stored(cls, facts: Mapping[str, str], digest: str) -> Key:
        """Return a key whose digest is known before its facts are read."""
        key = cls(facts=facts)
        key.__dict__["digest"] = digest
        return key


@dataclass(frozen=True, kw_only=True, slots=True)
class RankSeries:
    """One series of one rank of run 1; `loss` is among them.

    repeats  whether every run of the check reported these values, bit for bit; True of what a
             clock gave, which is not compared
    rounded  read from a file of another program, which holds fewer digits, or fewer of the steps,
             than were computed: such values are compared by the tolerance, never by their bits
    steady   how many values, from the first, the runs of the check agree on at its tolerance; None:
             on all of them
    """

    rank: int
    series: Series
    repeats: bool = True
    rounded: bool = False
    steady: int | None = None

    @property
    def identity(self) -> tuple[int, str, str]:
        """Return what distinguishes this series from the other series of a check."""
        return self.rank, self.series.name, self.series.by


@dataclass(frozen=True, kw_only=True, slots=True)
class Recorded:
    """Hold what run 1 of a check recorded.

    series   by rank: its losses, one value a loss, then the series that the training reported
    samples  of each rank the clock and the memory after some iterations
    deep     iterations, from the first, that a rank recorded deeply, which takes longer
    """

    series: Sequence[tuple[int, list[Series]]]
    samples: Sequence[Sequence[Sample]] = ()
    deep: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Night:
    """One run of all targets of the suite, usually nightly.

    id        sorts by time: `2026-11-23T02-00-00Z-1f3a`
    started   seconds since 1970, UTC, as the clock of the machine has it
    ended     seconds since 1970; None while the night is under way, or if it was killed
    targets   names of all targets that the suite had then, whether they were run or not
    selected  names of the targets that this night was to run
    shard     the share of the targets: `2/8`; "" if the night has all. A digest stands behind it,
              `2/8@1f3c9a0b`, where the shares follow from how long targets take
    commit    the commit of the repository that holds the suite, "" if there is none
    """

    id: str
    started: float
    ended: float | None = None
    targets: tuple[str, ...] = ()
    selected: tuple[str, ...] = ()
    shard: str = ""
    commit: str = ""
    executor: str = "local"
    reprocheck_version: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetCheck:
    """The result of one check of a target in a night: a row of the history.

    attempt           the number of the attempt in the night, from 1; above 1 it is a retry
    verdict           as in report.json, of a check of a resume as in the report.json of such a one;
                      `error` where no report could be made
    failed_check      `forward`, `backward` or ""
    good              whether the verdict is the expected one and the exit code allows it
    bitwise           whether all runs are equal in every bit; None if that is not known
    first_bitwise     the first iteration that is not equal in every bit
    first_divergence  the first iteration that differs at the tolerance
    rung, place       the first rung of the ladder that differs, and the place that differs on it
    causes            codes of the causes in the catalogue, the most likely first
    source            the line of the first cause, else that at which the script failed:
                      `train.py:12`, the file relative to the working directory of the target; ""
                      if none is known
    beside            facts of the environment that are not in the key
    commit            of the target's working directory, with `+` where files are modified
    files             a digest of the target's own files; "" if they are not known
    reason_to_paste   the reason without what it quotes of the log; "" if that is not known
    reference         `tolerance.rtol` and `.atol`, and the rule of `fail_on`, of this check
    folder            the report folder, relative to the folder of the suite; "" if removed
    curves            the series of run 1, as `reprocheck.suite.curves` packs them
    measures          what it took by name, see `reprocheck.suite.measures`: `seconds` an iteration,
                      bytes of `memory` and `device_memory`, and the bytes of `growth` an iteration
    """

    night: str
    target: str
    attempt: int = 1
    started: float = 0.0
    seconds: float = 0.0
    verdict: str = NO_REPORT
    failed_check: str = ""
    exit_code: int = 70
    reason: str = ""
    reason_to_paste: str = ""
    good: bool = False
    bitwise: bool | None = None
    first_bitwise: int | None = None
    first_divergence: int | None = None
    rung: str = ""
    place: str = ""
    causes: tuple[str, ...] = ()
    source: str = ""
    key: Key = field(default_factory=lambda: Key(facts={}))
    beside: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""
    files: str = ""
    rtol: float = 1e-3
    atol: float = 1e-3
    folder: str = ""
    curves: bytes = b""
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_of_resume(self) -> bool:
        """Return whether this is a check of a resume, for which no curves are kept."""
        return self.verdict in OF_RESUME

    @property
    def title(self) -> str:
        """Return the verdict in the words of reports.

        `NOT REPRODUCIBLE (backward)`, `PASSES THE CHECKS, DIVERGES from iteration 7`; `NO REPORT`
        if no report could be made.
        """
        if self.verdict == NO_REPORT:
            return "NO REPORT"
        words = self.verdict.replace("_", " ").upper()
        if self.failed_check:
            return f"{words} ({self.failed_check})"
        if self.verdict != "reproducible":
            return words
        if self.exit_code == 1:
            return "FAILED BY --fail-on"
        if self.first_divergence is not None:
            return f"PASSES THE CHECKS, DIVERGES from iteration {self.first_divergence}"
        return words


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The difference of one series from the same series of the baseline.

    series       its name, with the tracker's before it where two series have the same
    first_bit    the first value (from 1) whose bits are not the baseline's; None if none is, and
                 of an imported series with rounded values
    step         where that value stands: the tracker's step, or the iteration
    ulp          the distance of that value from the baseline's, in units in the last place of its
                 dtype; None if it is undefined
    beyond       the first value beyond the tolerance; None if none is, and where the runs of one
                 of the two checks are themselves as far apart by then
    relative     the largest relative difference; 1.0 where the baseline has 0
    value, other the first value that differs: in the check, and in the baseline
    missing      whether only the baseline has this series
    new          whether only the check has this series
    loose        whether the runs of one of the two checks did not repeat this series bitwise
    """

    series: str
    rank: int = 0
    first_bit: int | None = None
    step: float | None = None
    ulp: int | None = None
    beyond: int | None = None
    relative: float = 0.0
    value: float | None = None
    other: float | None = None
    missing: bool = False
    new: bool = False
    loose: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """The curves of one accepted check, by target and key.

    why, who, when    the reason, the user and the time (seconds since 1970) of the acceptance
    bitwise           whether the accepted check was equal in every bit
    night, commit     the night and commit of the accepted check; "" for imported curves
    environment       all environment facts at that time: those of the key and the others
    replaced          the differences from the curves of the baseline that this one replaced
    recording         the deeper recording of the accepted training, relative to the folder of the
                      suite; "" if none was made
    """

    target: str
    key: Key
    curves: bytes
    why: str
    who: str
    when: float
    bitwise: bool = True
    night: str = ""
    commit: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    replaced: tuple[Difference, ...] = ()
    recording: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """Hold the changed line that is the likeliest cause of a difference.

    The difference is from the last good night; the comparison of their deeper recordings names the
    line.

    report   the folder of the comparison, relative to the folder of the suite; "" if none was made,
             or it was removed
    source   the line as it is numbered now, in a file relative to the working directory of the
             target: `train.py:12`; "" if none is known
    diff     the lines around it, each behind a space, `-` or `+`
    commits  those since the last good night that change the file, the newest first: `4cc649203e93
             Smoother labels`
    """

    report: str = ""
    source: str = ""
    diff: str = ""
    commits: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the lines that were removed and added, each behind `-` or `+`."""
        return tuple(row for row in self.diff.splitlines() if not row.startswith(" "))


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetState:
    """The state of a target in a night, found once all its checks have ended.

    failed     whether the target fails the night
    since      the night in which the state began; "" if it is this night
    sentence   says to people what changed, and from what to what
    sentence_to_paste  the same without what it quotes of the log and values of variables; "" where
               that is not known
    changed    facts of the environment that are not as in the night or baseline that it is held
               against: name -> (then, now)
    drift      the series that differ from the baseline; of `moved` from the last good night
    operation  the first operation that differs from the last green night; "" if not looked for
    suspect    the changed line behind it
    """

    night: str
    target: str
    state: State
    failed: bool = False
    since: str = ""
    sentence: str = ""
    sentence_to_paste: str = ""
    changed: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    drift: tuple[Difference, ...] = ()
    operation: str = ""
    suspect: Suspect = Suspect()


@dataclass(frozen=True, kw_only=True, slots=True)
class OverviewRow:
    """Hold a target's result in one night, as far as an overview of many nights shows it.

    state, failed   the target's state, and whether it fails the night; "" and False if no state was
                    recorded
    verdict, good   of the last attempt; "" and False if the target was not checked; as is what
                    follows
    attempts        how many attempts there were
    key             the digest of the environment key
    drift           the largest relative difference from the baseline
    """

    night: str
    target: str
    state: str = ""
    failed: bool = False
    verdict: str = ""
    good: bool = False
    bitwise: bool | None = None
    attempts: int = 0
    seconds: float = 0.0
    key: str = ""
    drift: float = 0.0

    @property
    def is_good(self) -> bool:
        """Return whether the target needs no attention.

        It does not fail the night, its check is as expected, and its state is none that reports a
        problem.
        """
        if self.failed or self.state in TO_LOOK_AT:
            return False
        return self.good or not self.verdict or self.state == "known issue"


ORDER: tuple[State, ...] = (
    "new failure",
    "drift",
    "still failing",
    "intermittent",
    "moved",
    "slower",
    "larger",
    "gone",
    "not run",
    "fixed",
    "known issue",
    "expected drift",
    "new target",
    "unchanged",
)
"""The states, those first that a reader of the morning looks for."""
NOT_CHECKED = ("gone", "not run")
"""States of targets without a check of this night."""
NOT_GREEN = (*NOT_CHECKED, "known issue")
"""States that say nothing of when a target was good last."""
LOOKED_BACK = 60
"""Nights in which the last good one of a target that fails is looked for."""


class PastState(NamedTuple):
    """What is asked of the state of a target in an earlier night; the fields of a TargetState."""

    night: str
    target: str
    state: State
    failed: bool


def green_before(failed: TargetState, states: Iterable[TargetState | PastState]) -> str:
    """Return the last good night before a failure began.

    `states`: those of its target, oldest first. Returns "" if there is none.
    """
    began = failed.since or failed.night
    green = [
        state.night
        for state in states
        if state.night < began and not state.failed and state.state not in NOT_GREEN
    ]
    return green[-1] if green else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownTarget:
    """A target as it may be shown: no value of it is a secret.

    resumes  whether it checks how its training resumes
    explain  the command that searches for the cause, as one types it beside the settings file
    script   its script, relative to the repository; "" if none is known, or it lies elsewhere
    folder   the folder in which it starts, relative to the repository; "" likewise
    owner    who is told of it; "" if nobody is named
    known_issue, quarantine  as in Target
    """

    tags: tuple[str, ...] = ()
    resumes: bool = False
    explain: str = ""
    script: str = ""
    folder: str = ""
    owner: str = ""
    known_issue: KnownIssue | None = None
    quarantine: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TargetReport:
    """Hold a target's result in one night.

    target    the target as the suite has it now, redacted; None if the suite no longer has it
    state     the state of the target in the night; None if the night has not ended
    attempts  the checks of the target in this night, in order; empty if it was not run
    baseline  the accepted curves of the environment key of the last attempt
    accepted  whether curves were accepted, of any environment key
    green     the last good night before the state began; "" if unknown, or nothing is wrong
    last_checked  if the night did not select the target, the night of its state; else ""
    """

    name: str
    target: ShownTarget | None = None
    state: TargetState | None = None
    attempts: tuple[TargetCheck, ...] = ()
    baseline: Baseline | None = None
    accepted: bool = False
    green: str = ""
    last_checked: str = ""

    @property
    def check(self) -> TargetCheck | None:
        """Return the target's last attempt; None if the target was not run."""
        if not self.attempts:
            return None
        return self.attempts[-1]

    @property
    def decisive(self) -> TargetCheck | None:
        """Return the attempt that its state is about.

        It is the last one that was not good, else the last one; None if the target was not run.
        """
        bad = (check for check in reversed(self.attempts) if not check.good)
        return next(bad, self.check)

    @property
    def failed(self) -> bool:
        """Return whether the target fails the night, or failed when it was last checked."""
        return self.state is not None and self.state.failed

    @property
    def word(self) -> str:
        """Return the target's state as a word; `no state yet` while the night is under way."""
        if self.state is None:
            return "no state yet"
        return self.state.state

    @property
    def tags(self) -> tuple[str, ...]:
        """Return the target's tags."""
        if self.target is None:
            return ()
        return self.target.tags


@dataclass(frozen=True, kw_only=True, slots=True)
class NightReport:
    """Hold a night with all its targets: failing targets first, then in the order of `ORDER`."""

    night: Night
    targets: tuple[TargetReport, ...] = ()

    @property
    def failed(self) -> tuple[TargetReport, ...]:
        """Return the targets that fail the night."""
        return tuple(target for target in self.targets if target.failed)

    @property
    def without_baseline(self) -> tuple[TargetReport, ...]:
        """Return the targets whose curves nothing holds; a check of a resume has none."""
        return tuple(
            one
            for one in self.targets
            if not (one.accepted or one.word == "gone" or (one.target and one.target.resumes))
        )

    @property
    def counts(self) -> dict[str, int]:
        """Return how many targets are in each state that occurs, in the order of `ORDER`."""
        found = Counter(target.word for target in self.targets)
        return {word: found[word] for word in (*ORDER, "no state yet") if found[word]}

    @property
    def seconds(self) -> float:
        """Return the total time of all checks in seconds, retries included."""
        return sum(check.seconds for target in self.targets for check in target.attempts)

    def named(self, name: str) -> TargetReport | None:
        """Return the target of that name; None if the night has none."""
        return next((target for target in self.targets if target.name == name), None)
