"""Run the scan: from paths to a result."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from reprocheck.scan import files, options, pinned_versions, workers
from reprocheck.scan.cache import Cache, Found
from reprocheck.scan.checks import tables
from reprocheck.scan.collect import ByFile, Read, collected, forget, group_key, groups
from reprocheck.scan.finding import Finding, Result, Unreadable
from reprocheck.scan.judge import finished
from reprocheck.scan.programs import EXECUTION
from reprocheck.scan.project import Module, Project

Progress = Callable[[int, int], None]
NOTHING_GIVEN: Mapping[Path, bytes] = MappingProxyType({})


class Promise(Hashable, Protocol):
    """Says which findings patches fix, and how: `reprocheck.fixes.fixability.promised`."""

    def __call__(
        self, judged: Sequence[tuple[Project, Sequence[Finding]]], jobs: int = 1
    ) -> list[list[Finding]]:
        """Return the findings of each project, with what patches do for them."""


def scan(
    paths: Iterable[str | Path],
    *,
    promise: Promise,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    libraries: Sequence[tuple[str, str]] = (),
    given: Mapping[Path, bytes] = NOTHING_GIVEN,
    cache: Path | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Scan files and folders, and the user's modules that they import.

    promise          says which findings patches fix, and how: the layer above the scan
    select, ignore   codes, beginnings of codes or names of rules; without `select` all rules
    exclude          paths or patterns to leave out of folders
    libraries        calls that differ from run to run, each with the argument that seeds it
    given            contents by path that replace those on disk, as an editor does; these files
                     are scanned, too
    cache            folder of cached results; None for no cache
    jobs             number of processes; None for one per core if there is enough to scan
    progress         is called with the numbers of files done and of all files

    Raises UsageError for a rule that does not exist.
    """
    tables.extend(libraries)
    chosen, left_out = options.codes(select, "--select"), options.codes(ignore, "--ignore")
    forget()
    pinned_versions.forget()
    kept = Cache(cache, extra=libraries)
    with workers.few_collections():
        found, problems = files.find([Path(path) for path in paths], exclude, given)
        collection = collected(found, kept)
        findings, wrong, cached = _judged(collection.done, kept, promise, jobs, progress)
    kept.prune()
    if select:
        findings = [finding for finding in findings if finding.code in chosen]
    wanted = [finding for finding in findings if finding.code not in left_out]
    all_problems = {*problems, *collection.problems, *wrong}
    by_place = sorted(all_problems, key=lambda one: (one.path, one.line or 0, one.reason))
    asked = [one for one in collection.done.values() if not one.outside]
    return Result(
        findings=tuple(one for one in wanted if one.suppressed is None),
        suppressed=tuple(one for one in wanted if one.suppressed is not None),
        unreadable=tuple(by_place),
        files=len(asked),
        lines=sum(one.outline.lines for one in asked),
        outside=len(collection.done) - len(asked),
        unread=len(collection.unread),
        cached=cached,
    )


def _judged(
    read_files: dict[str, Read],
    kept: Cache,
    promised: Promise,
    jobs: int | None,
    progress: Progress | None,
) -> tuple[list[Finding], list[Unreadable], int]:
    """Return the findings in all groups of files, from the cache if they are known."""
    findings: list[Finding] = []
    problems: list[Unreadable] = []
    fresh: list[tuple[str, Project]] = []
    done = 0
    for group in groups(read_files):
        members = [read_files[key] for key in group]
        key = group_key(members)
        known = kept.found(key)
        if known is not None:
            findings += known.findings
            problems += known.problems
            done += sum(not one.outside for one in members)
        else:
            fresh.append((key, _project({path: read_files[path] for path in group})))
    cached, total = done, sum(not one.outside for one in read_files.values())

    def told(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(done, total)

    told(0)
    work = [(project, project.asked) for _, project in fresh]
    lines = sum(module.outline.lines for _, modules in work for module in modules)
    processes = workers.processes(lines, jobs)
    judged = workers.judge(work, processes, told)
    finished_ones: list[tuple[Project, list[Finding]]] = []
    for (_, project), (some, _) in zip(fresh, judged, strict=True):
        finished_ones.append((project, finished(project, some)))
        project.let_go()
    whole = promised(finished_ones, jobs=processes)
    for (key, _), (_, wrong), found in zip(fresh, judged, whole, strict=True):
        if all(problem.partly for problem in wrong):
            kept.keep_found(key, Found(findings=found, problems=wrong))
        findings += found
        problems += wrong
    findings.sort(key=lambda one: (one.path, one.joined_line, one.column, one.code))
    return findings, problems, cached


def _project(members: dict[str, Read]) -> Project:
    project = Project(EXECUTION)
    by_real_path: dict[str, Module] = {}
    for key, one in members.items():
        module = Module(
            name=one.name,
            source=one.source(),
            project=project,
            package=one.package,
            single=one.file.single,
            roots=one.roots,
            known=one.outline,
            outside=one.outside,
            pins=one.pins,
        )
        project.modules[one.file.path] = by_real_path[key] = module
    project.resolver = ByFile(project, by_real_path)
    return project
