"""The candidates of a search: what lies between the two nights, one step after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from reprocheck.errors import UsageError
from reprocheck.suite.bisect import commits, night_options, packages
from reprocheck.suite.bisect.environments import Uv, find_uv
from reprocheck.suite.bisect.packages import Environment
from reprocheck.suite.bisect.search import Graph
from reprocheck.suite.model import TargetCheck
from reprocheck.suite.target import Target

Over = Literal["all", "commits", "packages"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Describe one point between the two nights at which the target is checked.

    label        a short name: `3f2a9c1d4`, `torch 2.12.1`
    commit       the commit to check out; "": the working directory as it is
    environment  the packages to install; None: the target's interpreter as it is
    """

    label: str
    commit: str = ""
    environment: Environment | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Hold what a search looks through.

    candidates  the candidates by number, the good end first
    graph       which candidate builds on which
    uv          uv for the target's interpreter; None if no package is searched
    local       package name -> requirement line, for packages that are on no index
    notes       what limits the search, as sentences
    """

    candidates: tuple[Candidate, ...]
    graph: Graph
    uv: Uv | None = None
    local: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Hold the options that choose the candidates.

    over          what to search: commits, packages, or whatever differs
    first_parent  whether a merge stands for all commits that it brings in
    packages      the packages to search; empty: those that differ
    pre           whether to try pre-releases and nightlies, too
    """

    over: Over = "all"
    first_parent: bool = False
    packages: tuple[str, ...] = ()
    pre: bool = False


def plan(folder: Path, python: str, good: TargetCheck, bad: TargetCheck, request: Asked) -> Plan:
    """Return the candidates between two checks of a target: first the packages, then the commits.

    folder  the working directory of the target
    python  the absolute path of the target's interpreter

    Raises UsageError if nothing that can be searched differs.
    """
    notes = [*unrecorded(good, bad)]
    way, uv, local = _packages(folder, python, good, bad, request)
    lacking = sorted(name for name, line in local.items() if not line)
    if lacking:
        notes.append(f"No index has these packages, so they are left out: {', '.join(lacking)}.")
    found = None
    then, now = (check.commit.removesuffix(commits.MODIFIED) for check in (good, bad))
    if request.over != "packages" and then and now and then != now:
        found = commits.between(folder, then, now, first_parent=request.first_parent)
    if found is None and len(way) == 1:
        raise _nothing_differs(good, bad, request)
    graph = Graph.chain(len(way) - 1)
    first = now
    if found is None and first:
        first = commits.known(folder, first)
    others: tuple[str, ...] = ()
    if found is not None:
        first, others = found.hashes[0], found.hashes[1:]
        # the good end of the commits is the last candidate of the packages
        moved = [
            tuple(parent + len(way) - 1 for parent in parents)
            for parents in found.graph.parents[1:]
        ]
        graph = Graph(parents=(*graph.parents, *moved))
    if found is not None and found.aside:
        notes.append(
            "The commit of the good night is not in the history of the bad night's:"
            f" {first[:9]}, where the two part, stands in for it."
        )
    on_way = [
        Candidate(
            label=environment.label if environment else first[:9],
            commit=first,
            environment=environment,
        )
        for environment in way
    ]
    on_commits = [
        Candidate(label=commit[:9], commit=commit, environment=way[-1]) for commit in others
    ]
    return Plan(
        candidates=(*on_way, *on_commits), graph=graph, uv=uv, local=local, notes=tuple(notes)
    )


def _packages(
    folder: Path, python: str, good: TargetCheck, bad: TargetCheck, request: Asked
) -> tuple[tuple[Environment | None, ...], Uv | None, dict[str, str]]:
    """Return the environments from the good night to the bad night.

    It is a single one if no packages are searched.
    """
    if request.over == "commits":
        return (None,), None, {}
    then, now = packages.installed_at(good), packages.installed_at(bad)
    differ = {change.name for change in packages.changes(then, now)}
    unknown = sorted(set(request.packages) - differ)
    if unknown:
        raise UsageError(
            f"{unknown[0]} is the same in both nights, or in neither.",
            f"Between them these differ: {', '.join(sorted(differ)) or 'none'}.",
        )
    if not differ or not then or not now:
        return (None,), None, {}
    uv = find_uv(python, folder)
    local = packages.not_on_index(uv, then, now)
    searched = differ - local.keys()
    if not searched:
        return (None,), None, {}
    have, had = (
        {name: version for name, version in night.items() if name not in local}
        for night in (now, then)
    )
    way = packages.between(uv, had, have, only=request.packages, pre=request.pre)
    return way, uv, local


def unrecorded(*checks: TargetCheck) -> list[str]:
    """Return a warning for each night in which files were modified.

    No commit has these changes.
    """
    return [
        f"Files were modified in the night {check.night}: its commit is checked without that."
        for check in checks
        if check.commit.endswith(commits.MODIFIED)
    ]


def anything_to_search(target: Target, good: TargetCheck, bad: TargetCheck) -> bool:
    """Return whether code or a package differs between two checks.

    What they did not record is left out. A commit that touches the settings file of the suite alone
    changes options, and no code.
    """
    then, now = (one.commit.removesuffix(commits.MODIFIED) for one in (good, bad))
    if then and now and not commits.differ_at_most_in(target.file, target.workdir, then, now):
        return True
    return bool(packages.changes(packages.installed_at(good), packages.installed_at(bad)))


def _nothing_differs(good: TargetCheck, bad: TargetCheck, request: Asked) -> UsageError:
    what = {
        "all": "commits and packages are",
        "commits": "the commit is",
        "packages": "packages are",
    }
    fix = "Name two nights that differ: reprocheck suite history lists their facts."
    if request.over != "all":
        fix = "Leave --over out to search all that differs."
    other = ", ".join(elsewhere(good, bad))
    if other:
        fix = f"These differ, and cannot be searched: {other}. {fix}"
    return UsageError(
        f"Between the nights {good.night} and {bad.night} {what[request.over]} the same, or not"
        " recorded.",
        fix,
    )


def elsewhere(good: TargetCheck, bad: TargetCheck) -> dict[str, tuple[str, str]]:
    """Return the other facts that differ between two checks.

    They are no packages, no facts about packages that changed, and no options of the target that
    are known.
    """
    then, now = ({**one.key.facts, **one.beside} for one in (good, bad))
    had, have = packages.installed_at(good), packages.installed_at(bad)
    moved = {change.name for change in packages.changes(had, have)}
    return {
        name: (then.get(name, ""), now.get(name, ""))
        for name in sorted({*then, *now} - night_options.facts_told(good, bad))
        if then.get(name) != now.get(name) and packages.about(name) not in moved
    }
