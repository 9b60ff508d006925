"""The search for the change since which a target is another."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from reprocheck.errors import ReportError, UsageError
from reprocheck.suite import curves
from reprocheck.suite.bisect import commits, night_options, packages
from reprocheck.suite.bisect.checking import Checker, apart
from reprocheck.suite.bisect.checkout import alone, target_with_interpreter
from reprocheck.suite.bisect.environments import Environments, Refused, default_folder
from reprocheck.suite.bisect.packages import Requirements
from reprocheck.suite.bisect.plan import (
    Asked,
    Candidate,
    Plan,
    anything_to_search,
    elsewhere,
    plan,
    unrecorded,
)
from reprocheck.suite.bisect.result import (
    Bisected,
    By,
    Checked,
    Guilty,
    Memory,
    Outcome,
    Remembered,
)
from reprocheck.suite.bisect.search import (
    GOOD_END,
    Answer,
    End,
    Found,
    NotHere,
    Probe,
    most_checks,
    step,
)
from reprocheck.suite.history import History
from reprocheck.suite.model import Night, TargetCheck
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite, folder_name


class Observer(Protocol):
    """Receive the events of a search."""

    def planned(self, found: Plan, most: int) -> None:
        """Show what is searched, and the largest number of checks it takes."""

    def begins(self, number: int, candidate: Candidate) -> None:
        """Tell that the check `number` of this search begins."""

    def ended(self, checked: Checked, *, remembered: bool) -> None:
        """Tell that a candidate was judged.

        `remembered`: the answer is from an earlier start of the search.
        """

    def say(self, text: str) -> None:
        """Show what is under way."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """Hold the options of a search.

    as_in  the night whose target options are used, if the two nights had different options
    again  whether to forget the answers of an earlier start
    """

    good: str
    bad: str
    by: By = "bitwise"
    asked: Asked = field(default_factory=Asked)
    repeat: int = 1
    as_in: End | None = None
    again: bool = False
    environments: Environments = field(
        default_factory=lambda: Environments(folder=default_folder())
    )


def find(
    suite: Suite, history: History, name: str, options: Options, observer: Observer
) -> Bisected:
    """Search for the guilty change between two nights.

    Each answer is kept as soon as it is known, so the same call goes on after an interruption.

    Raises UsageError if there is nothing to search, the target is intermittent, or was run with
    other options in the two nights and `options` does not say which hold.
    """
    selected = suite.select([name])
    if len(selected) != 1:
        raise UsageError(
            f"{name} stands for {len(selected)} targets.",
            f"Name one of them: {', '.join(target.name for target in selected)}",
        )
    (of_suite,) = selected
    good, bad = (_check(history, night, of_suite) for night in (options.good, options.bad))
    for why in (_intermittent(good, bad, history, options), _no_reason(good, bad, options)):
        if why is not None:
            raise why
    changed = dict(night_options.changed(good, bad, tolerances=options.by == "verdict"))
    if changed and not anything_to_search(of_suite, good, bad):
        return Bisected(
            target=good.target,
            good=good.night,
            bad=bad.night,
            by=options.by,
            outcome="options",
            candidates=0,
            most=0,
            options=changed,
            elsewhere=elsewhere(good, bad),
            notes=tuple(unrecorded(good, bad)),
        )
    if changed and options.as_in is None:
        raise _two_ways_to_run(good, bad)
    run_as = {"good": good, "bad": bad}[options.as_in or "good"]
    target, python = target_with_interpreter(night_options.as_in(of_suite, run_as))
    found = plan(target.workdir, python, good, bad, options.asked)
    otherwise = night_options.now_otherwise(of_suite, run_as)
    if otherwise is not None:
        then, now = otherwise
        note = f"The night {run_as.night} ran `{then}`, and so did this search; now it is `{now}`."
        found = replace(found, notes=(*found.notes, note))
    place = f"bisect/{folder_name(target.name)}/{good.night}--{bad.night}--{options.by}"
    checker = Checker(
        target=target,
        python=python,
        root=suite.folder,
        place=place,
        plan=found,
        good=good,
        bad=bad,
        by=options.by,
        repeat=options.repeat,
        environments=options.environments,
        say=observer.say,
    )
    memory = Memory(suite.folder / place)
    if options.again:
        memory.forget()
    with alone(checker.root, checker.place, target.workdir):
        search = _Search(checker=checker, memory=memory, observer=observer, options=changed)
        if changed:
            search.options_of = run_as.night
            search.anew = options.by == "bitwise" and run_as is bad
        observer.planned(found, search.most)
        return search.run()


@dataclass(kw_only=True)
class _Search:
    """Hold a search under way.

    options     the options of the target that differ between the two nights
    options_of  the night whose options the candidates are run with, if the options differ
    anew        whether to run the good end with these options first, because its recorded curves
                are of other options
    """

    checker: Checker
    memory: Memory
    observer: Observer
    options: dict[str, tuple[str, str]]
    options_of: str = ""
    anew: bool = False
    answers: dict[int, Answer] = field(default_factory=dict)
    checked: list[Checked] = field(default_factory=list)
    made: int = 0

    @property
    def most(self) -> int:
        """Return the largest number of candidates that are checked on a chain."""
        return most_checks(self.checker.plan.graph.bad_end) + self.anew

    def run(self) -> Bisected:
        """Check until the outcome is known.

        Raises UsageError if the good end cannot be run anew.
        """
        if self.anew:
            self._run_good_end()
        while isinstance(now := step(self.checker.plan.graph, self.answers), Probe):
            self._probe(now.number)
        return self._result(now)

    def _run_good_end(self) -> None:
        """Run the good end with the options of the bad night.

        Its curves replace those recorded in the good night.
        """
        candidate = self.checker.plan.candidates[GOOD_END]
        requirements = self.checker.requirements(candidate)
        if isinstance(requirements, Refused):
            raise _good_end_does_not_run(requirements.reason)
        identity = self.checker.identity(candidate, requirements)
        packed = self.memory.curves(identity)
        remembered = bool(packed)
        if not remembered:
            self.made += 1
            self.observer.begins(1, candidate)
            try:
                packed = self.checker.curves(candidate, requirements)
            except ReportError:
                raise
            except UsageError as error:
                raise _good_end_does_not_run(error.message) from error
            self.memory.keep_curves(identity, packed)
        self.checker = replace(self.checker, good=replace(self.checker.good, curves=packed))
        self._keep(GOOD_END, candidate, Remembered(answer="good"), remembered=remembered)

    def _probe(self, number: int) -> None:
        candidate = self.checker.plan.candidates[number]
        requirements = self.checker.requirements(candidate)
        if isinstance(requirements, Refused):
            found = Remembered(answer="skip", reason=requirements.reason)
            self._keep(number, candidate, found, remembered=False)
            return
        identity = self.checker.identity(candidate, requirements)
        known = self.memory.get(identity)
        if known is not None:
            self._keep(number, candidate, known, remembered=True)
            return
        self.made += 1
        self.observer.begins(len(self.checked) + 1, candidate)
        judged = self.checker.check(candidate, requirements)
        self.memory.keep(identity, judged)
        self._keep(number, candidate, judged, remembered=False)

    def _keep(
        self, number: int, candidate: Candidate, found: Remembered, *, remembered: bool
    ) -> None:
        self.answers[number] = found.answer
        checked = Checked(candidate=candidate.label, answer=found.answer, reason=found.reason)
        self.checked.append(checked)
        self.observer.ended(checked, remembered=remembered)

    def _result(self, found: Found | NotHere) -> Bisected:
        checker = self.checker
        guilty: tuple[Guilty, ...] = ()
        good_checked = True
        outcome: Outcome
        if isinstance(found, Found):
            guilty = tuple(map(self._guilty, found.candidates))
            good_checked = found.good_checked
            outcome = "found" if len(found.candidates) == 1 else "several"
        elif found.skipped:
            outcome = "bad end is skipped"
        else:
            outcome = "good end is bad" if found.end == "good" else "bad end is good"
        return Bisected(
            target=checker.target.name,
            good=checker.good.night,
            bad=checker.bad.night,
            by=checker.by,
            outcome=outcome,
            candidates=checker.plan.graph.bad_end,
            most=self.most,
            checked=tuple(self.checked),
            made=self.made,
            guilty=guilty,
            good_checked=good_checked,
            options=self.options,
            options_of=self.options_of,
            elsewhere=elsewhere(checker.good, checker.bad),
            notes=checker.plan.notes,
        )

    def _guilty(self, number: int) -> Guilty:
        """Return the change that a candidate brings: its commit, or the packages that it moves."""
        found = self.checker.plan
        candidate = found.candidates[number]
        before = found.candidates[found.graph.parents[number][0]]
        if candidate.commit != before.commit:
            return Guilty(commit=commits.facts(self.checker.target.workdir, candidate.commit))
        then, now = map(self.checker.requirements, (before, candidate))
        if not isinstance(then, Requirements) or not isinstance(now, Requirements) or not found.uv:
            return Guilty()
        moved = packages.changes(then.versions, now.versions)
        return Guilty(packages=tuple(packages.with_link(found.uv, change) for change in moved))


def _two_ways_to_run(good: TargetCheck, bad: TargetCheck) -> UsageError:
    then, now = (one.key.facts["options"] for one in (good, bad))
    ran = f"`{then}` was run in the night {good.night}, and `{now}` in {bad.night}"
    if then == now:
        ran = f"The tolerances of the nights {good.night} and {bad.night} are not the same"
    return UsageError(
        f"{good.target} has other options in the two nights: {ran}.",
        "Search with those of the bad night: --options bad (or of the good one: --options good)",
    )


def _good_end_does_not_run(reason: str) -> UsageError:
    return UsageError(
        f"The good end cannot be run with the options of the bad night: {reason}",
        "Search with those of the good night: --options good",
    )


def _check(history: History, name: str, target: Target) -> TargetCheck:
    """Return the last attempt of a target in a night."""
    night = _night(history, name)
    found = history.checks(night=night.id, target=target.name, curves=True)
    if not found:
        raise UsageError(
            f"{target.name} was not checked in the night {night.id}.",
            f"reprocheck suite history {target.name} lists the nights with a check of it.",
        )
    return found[-1]


def _night(history: History, name: str) -> Night:
    """Return the night with that id, or the only night whose id begins with it."""
    found = [night for night in history.nights() if night.id.startswith(name)]
    exact = [night for night in found if night.id == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        return history.night(name)
    several = ", ".join(night.id for night in found)
    raise UsageError(f"{name} stands for {len(found)} nights.", f"Name one of them: {several}")


def _no_reason(good: TargetCheck, bad: TargetCheck, options: Options) -> UsageError | None:
    """Return an error that says why the nights do not differ.

    They are compared by the criterion of the search; None if they differ.
    """
    if options.by == "verdict":
        if good.good and not bad.good:
            return None
        return UsageError(
            f"By verdict the night {good.night} must be good and {bad.night} bad:"
            f" {good.verdict} and {bad.verdict} were recorded.",
            "Name other nights, or compare curves: --by bitwise",
        )
    then, now = curves.unpack(good.curves), curves.unpack(bad.curves)
    if not then:
        return UsageError(
            f"No curves were recorded in the night {good.night}.",
            "Name another night with --good, or search by verdict: --by verdict",
        )
    if now and not apart(now, then, bad.rtol, bad.atol):
        return UsageError(
            f"The curves of the nights {good.night} and {bad.night} are equal in every bit.",
            "Name other nights, or search by verdict: --by verdict",
        )
    return None


def _intermittent(
    good: TargetCheck, bad: TargetCheck, history: History, options: Options
) -> UsageError | None:
    """Return an error if the target is intermittent: one check decides little for it.

    None if the target is not intermittent.
    """
    often = "Check each candidate several times, which is bad as soon as one check is: --repeat 5"
    if options.by == "bitwise":
        if good.bitwise is not False:
            return None
        return UsageError(
            f"In the night {good.night} the runs of {good.target} were not equal in every bit among"
            " themselves, so one run cannot be held against them bit by bit.",
            "Search by verdict: --by verdict",
        )
    if options.repeat > 1:
        return None
    for check in (good, bad):
        attempts = history.checks(night=check.night, target=check.target)
        if len({attempt.good for attempt in attempts}) > 1:
            return UsageError(
                f"{check.target} was good and bad in the same night {check.night}:"
                " it is intermittent.",
                often,
            )
    states = [
        state
        for check in (good, bad)
        for state in history.states(night=check.night, target=check.target)
    ]
    if any(state.state == "intermittent" for state in states):
        return UsageError(f"{good.target} is intermittent.", often)
    return None
