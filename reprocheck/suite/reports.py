"""Nights as pages and files show them: read from the history and the settings, and redacted."""

from __future__ import annotations

import os
import shlex
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reprocheck.redaction import Redaction, identity, redacted, values_of
from reprocheck.suite.baselines.accepted import AcceptedBaselines
from reprocheck.suite.execution.job import OF_RESUME, option_words, resume_words
from reprocheck.suite.model import (
    LOOKED_BACK,
    ORDER,
    NightReport,
    PastState,
    ShownTarget,
    TargetCheck,
    TargetReport,
    TargetState,
    green_before,
)
from reprocheck.suite.target import Target

if TYPE_CHECKING:
    from reprocheck.suite.history import History
    from reprocheck.suite.targets import Suite

T = TypeVar("T")
_OF_CHECKS = ("explain", "level")
"""Options of `run` that `explain` does not take."""


def read(
    history: History, night: str, suite: Suite, accepted: AcceptedBaselines | None = None
) -> NightReport:
    """Read a night of a history, redacted for display. Curves of checks are not read.

    accepted  the baselines, if they were read before
    """
    if accepted is None:
        accepted = AcceptedBaselines(history.baselines())
    attempts = defaultdict(list)
    for check in history.checks(night=night):
        attempts[check.target].append(check)
    states = {state.target: state for state in history.states(night=night)}
    begun = history.night(night)
    known = {target.name: target for target in suite.targets}
    last: dict[str, TargetState] = {}
    if not {*begun.selected, *states}.issuperset(begun.targets):
        last = history.last_states(before=night)
    targets = []
    # in the order of the suite; then those that only a state or a check names
    for name in dict.fromkeys((*begun.targets, *begun.selected, *states, *attempts)):
        state = states.get(name)
        target = target_report(name, known.get(name), state, attempts[name], accepted)
        if state is None and name not in begun.selected and name in last:
            target = replace(target, state=last[name], last_checked=last[name].night)
        targets.append(target)
    changed = [one.name for one in targets if _has_changed(one) and not one.last_checked]
    earlier = history.past_states(changed, LOOKED_BACK, before=night)
    targets = [with_green(target, earlier[target.name]) for target in targets]
    return folder_level(NightReport(night=begun, targets=ordered(targets)))


def target_report(
    name: str,
    target: Target | None,
    state: TargetState | None,
    attempts: Iterable[TargetCheck],
    accepted: AcceptedBaselines,
) -> TargetReport:
    """Return a target's result in a night, with the baseline of the key of its last attempt."""
    in_order = tuple(sorted(attempts, key=lambda check: check.attempt))
    now = None if target is None else shown(target)
    made = TargetReport(
        name=name, target=now, state=state, attempts=in_order, accepted=bool(accepted.of(name))
    )
    return replace(made, baseline=accepted.counting(made.check))


MOVED = ("drift", "expected drift", "moved")
"""States in which a search for the change makes sense, also where they do not fail the night."""


def with_green(target: TargetReport, states: Iterable[TargetState | PastState]) -> TargetReport:
    """Return the target with the last green night before its state began.

    It has one if it fails or its curves are others. `states`: oldest first.
    """
    if target.state is None or not _has_changed(target):
        return target
    return replace(target, green=green_before(target.state, states))


def _has_changed(target: TargetReport) -> bool:
    """Return whether a target fails, or its curves are others, and it is not known why."""
    return target.word in MOVED or (target.failed and target.word != "known issue")


def ordered(targets: Iterable[TargetReport]) -> tuple[TargetReport, ...]:
    """Return failing targets first, then by state; otherwise in the given order."""
    places: dict[str, int] = {word: place for place, word in enumerate(ORDER)}
    return tuple(
        sorted(targets, key=lambda one: (not one.failed, places.get(one.word, len(places))))
    )


def folder_level(thing: T) -> T:
    """Redact what a file in the suite's folder shows, as `run` redacts a report folder."""
    return redacted(thing, Redaction("folder", identity=identity()))


def to_paste(thing: T, *targets: TargetReport) -> T:
    """Redact what is pasted into an issue or sent to a chat.

    Values given to these targets are redacted, too.
    """
    texts = [target.target.explain for target in targets if target.target is not None]
    texts += [
        target.check.key.facts.get("options", "") for target in targets if target.check is not None
    ]
    values = [value for text in texts for value in values_of(shlex.split(text))]
    # without the name of a target no command finds it
    named = "\n".join(target.name for target in targets)
    known = [value for value in values if value not in named]
    return redacted(thing, Redaction("paste", identity=identity(), known=known))


def shown(target: Target) -> ShownTarget:
    """Return a target without its secrets, for display."""
    base = target.workdir if target.file is None else target.file.parent
    root = next((at for at in (base, *base.parents) if (at / ".git").exists()), base)
    return ShownTarget(
        tags=target.tags,
        resumes=target.resume is not None,
        explain=_explain(target),
        script=_inside(root, target.script) if target.script else "",
        folder=_inside(root, target.workdir),
        owner=target.owner,
        known_issue=target.known_issue,
        quarantine=target.quarantine,
    )


def _inside(root: Path, path: Path) -> str:
    """Return a path relative to a folder; "" if the path lies outside."""
    if not path.is_relative_to(root):
        return ""
    return path.relative_to(root).as_posix()


def _explain(target: Target) -> str:
    """Return the command that searches for a target's cause, as typed beside the settings file."""
    given = {name: value for name, value in target.options.items() if name not in _OF_CHECKS}
    options = option_words(given)
    if target.resume is not None:
        shared = {name: value for name, value in target.options.items() if name in OF_RESUME}
        options = ("--resume", *option_words(shared), *resume_words(target.resume))
    typed = ["reprocheck", "explain", *options, *target.words]
    if target.environment:
        typed = ["env", *(f"{name}={value}" for name, value in target.environment.items()), *typed]
    command = shlex.join(masked(typed))
    if target.file is None or target.workdir == target.file.parent:
        return command
    folder = os.path.relpath(target.workdir, target.file.parent)
    return f"(cd {shlex.quote(folder)} && {command})"


def masked(words: Iterable[str]) -> tuple[str, ...]:
    """Mask the words of a command as a report folder has them."""
    return Redaction("folder", identity=identity()).arguments(words)
