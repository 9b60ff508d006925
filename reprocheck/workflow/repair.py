"""Patch the user's source for the cause.

The patch is made by the scan, tried in runs, and kept in the report folder.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.model.reason import Reason

if TYPE_CHECKING:
    from reprocheck.launch.observer import Teller
    from reprocheck.model import Cause, Check, EntryPoint
    from reprocheck.scan import Finding, Result
    from reprocheck.search.arm_runs import Judged
    from reprocheck.settings import Settings

ARM = "patched"
RUNS = 2
CALL = "reprocheck_child.call"
"""The module behind which the file of a function stands."""


def repair(
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
) -> None:
    """Keep a patch for all confirmed causes, if runs agree with the patch applied.

    It lies in the report folder.

    Runs are made for that, unless the search has made them.
    """
    from reprocheck import launch
    from reprocheck.fixes.edits.difference import difference
    from reprocheck.fixes.patched_files import PATCH, SOURCES, written
    from reprocheck.model import Arm
    from reprocheck.wording import progress

    if not _confirmed(check) or _decided(check, folder):
        return
    changed = changes(check, entry, folder)
    if not changed:
        return

    patch = difference(changed)
    before = {path: path.read_bytes() for path in changed}
    made = _patched(check, folder)
    missing = RUNS - (0 if made is None else len(made.runs))
    if missing > runs_left(check, settings):
        teller.remark(progress.patch_untried(), style="yellow")
        return
    if missing > 0:
        reason = Reason(key="patch")
        teller.arm(ARM, progress.patched(reason, sorted(map(str, changed))), missing)
        name = f"{len(check.record.arms) + 1}-{ARM}"
        arm = Arm(name=name, controls=check.record.controls, runs=(), reason=reason)
        launch.record_arm(
            *(entry, settings, folder, teller, arm),
            seed=settings.seed,
            runs=missing,
            steps=settings.steps,
            patched=written(changed, folder / "arms" / SOURCES),
            output=teller.output,
            enough=partial(_decided, check, folder),
        )
    made = _patched(check, folder)
    if made is None or not (made.untried or made.agrees):
        # It is shown where the runs with it agree, or no run could try it.
        return
    (folder / "arms" / PATCH).write_text(patch, encoding="utf-8")
    kept = {path for path, data in before.items() if path.is_file() and path.read_bytes() == data}
    edited = before.keys() - kept
    if edited:
        teller.remark(progress.edited(sorted(map(str, edited))), style="yellow")


def runs_left(check: Check, settings: Settings) -> int:
    """Return how many more runs `--max-runs` allows."""
    if settings.max_runs is None:
        return sys.maxsize
    return settings.max_runs - runs_made(check)


def runs_made(check: Check) -> int:
    """Return how many runs the search has made."""
    return sum(len(arm.runs) for arm in check.record.arms)


def changes(check: Check, entry: EntryPoint, folder: Path) -> Mapping[Path, str]:
    """Return file -> new text for a patch of all confirmed causes.

    Empty if there is nothing to fix.
    """
    found = _found(check, entry, folder)
    proved = () if check.search is None or check.smallest else check.search.fixes
    if proved:
        # Others have not been tried.
        return _changed(found, _named(found.findings, proved))
    if not all(_is_fixable(check, one, found.findings) for one in _confirmed(check)):
        # A patch that leaves a cause in is known to fail before it is run.
        return {}
    return _changed(found, fitting_findings(found.findings, check))


def patched_files(
    fixes: Sequence[str], check: Check, entry: EntryPoint, folder: Path
) -> Mapping[Path, Path]:
    """Return file -> patched copy that Python is given in its place, for the named patches."""
    from reprocheck.fixes.patched_files import SOURCES, written

    found = _found(check, entry, folder)
    changed = _changed(found, _named(found.findings, fixes))
    return written(changed, folder / "arms" / SOURCES)


def _found(check: Check, entry: EntryPoint, folder: Path) -> Result:
    """Return what the scan finds in the script and in the modules that it imports."""
    from reprocheck import scan
    from reprocheck.causes.usercode import UserCode

    result = scan.scan(scripts(entry) or program(check))
    # files that the runs imported, wherever they found them
    imported = UserCode(check, folder).program.findings
    paths = {one.path for one in imported}
    below = {path for path in paths if not Path(path).is_absolute() and Path(path).is_file()}
    in_imports = (one for one in imported if one.path in below)
    return replace(result, findings=(*result.findings, *in_imports))


def _changed(found: Result, findings: Iterable[Finding]) -> Mapping[Path, str]:
    """Return file -> new text with the fixes of findings applied."""
    from reprocheck import scan

    # the first of several at one place
    places = {(one.path, one.line, one.column, one.code): one for one in reversed([*findings])}
    edited = [replace(one, patchable=True) for one in reversed(places.values()) if one.is_editable]
    return scan.patched(replace(found, findings=tuple(edited))) if edited else {}


def _named(findings: Iterable[Finding], fixes: Iterable[str]) -> list[Finding]:
    """Return the findings whose patches are named, such as `RC402 train.py:3`.

    The file is matched by the end of its path.
    """
    named = []
    for finding in findings:
        for fix in fixes:
            code, _, place = fix.partition(" ")
            file, _, line = place.rpartition(":")
            if (finding.code, str(finding.line)) != (code, line):
                continue
            path, end = Path(finding.path).parts, Path(file).parts
            shared = min(len(path), len(end))
            if path[-shared:] == end[-shared:]:
                named.append(finding)
    return named


def fitting_findings(findings: Sequence[Finding], check: Check) -> tuple[Finding, ...]:
    """Return the fixable findings for the confirmed causes, by code or line.

    If there are none, the fixable findings that a control of the smallest set removes.
    """
    from reprocheck.rules.likely import removes

    causes = _confirmed(check)
    codes = {cause.code for cause in causes}
    fixable = [one for one in findings if one.is_editable]
    meant = [
        one
        for one in fixable
        if one.code in codes or any(_is_about(one, cause) for cause in causes)
    ]
    return tuple(meant) or tuple(
        one for one in fixable if any(removes(name, one.code) for name in check.smallest)
    )


def _confirmed(check: Check) -> list[Cause]:
    """Return the confirmed causes."""
    return [cause for cause in check.causes if cause.confidence == "confirmed"]


def _is_about(finding: Finding, cause: Cause) -> bool:
    """Return whether a finding is on the line of a cause."""
    source = cause.source
    return source is not None and (Path(source.file).name, str(source.line)) in _lines(finding)


def _is_fixable(check: Check, cause: Cause, findings: Sequence[Finding]) -> bool:
    """Return whether the scan can edit a finding of a cause.

    Findings on the line of the cause count, else those with its code, else those that its control
    removes.
    """
    from reprocheck.rules.likely import confirms, removes

    controls = [name for name in check.smallest if confirms(name, cause.code)]
    alike = (
        [one for one in findings if _is_about(one, cause)]
        or [one for one in findings if one.code == cause.code]
        or [one for one in findings if any(removes(name, one.code) for name in controls)]
    )
    return any(one.is_editable for one in alike)


def _lines(finding: Finding) -> set[tuple[str, str]]:
    """Return the lines of a finding as (file name, line).

    Its own, and the line that makes the number which it is about.
    """
    name = Path(finding.path).name
    made = finding.evidence.get("made", "").partition(":")[0]
    return {(name, str(finding.line)), (name, made)}


def program(check: Check) -> list[Path]:
    """Return the script that the training processes execute, whatever started them."""
    if not check.runs:
        return []
    run = check.runs[0]
    programs = filter(None, (trace.process.program for trace in run.traces))
    places = (Path(run.workdir, program).expanduser() for program in programs)
    return _python_files(Path(run.shown(str(place))) for place in places)[:1]


def scripts(entry: EntryPoint) -> list[Path]:
    """Return the Python files that the command names."""
    if entry.kind != "module":
        return _python_files(map(Path, entry.command[1:]))[:1]
    name = ""
    if "-m" in entry.command[:-1]:
        name = entry.command[entry.command.index("-m") + 1]
    if name == CALL:
        return _python_files(map(Path, entry.command[3:4]))
    if not name:
        return []
    base = Path(*name.split("."))
    return _python_files([base.with_suffix(".py"), base / "__main__.py"])


def _python_files(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if path.suffix == ".py" and path.is_file()]


def _decided(check: Check, folder: Path) -> bool:
    """Return whether the runs with the patch give an answer.

    They differ, failed, or were not given the patch.
    """
    made = _patched(check, folder)
    return made is not None and (made.untried or made.decided)


def _patched(check: Check, folder: Path) -> Judged | None:
    """Return the runs made so far with the patch of all confirmed causes."""
    from reprocheck.search.arms import Book
    from reprocheck.workflow.replay import with_record

    book = Book(with_record(check, folder), folder)
    if check.search is not None and not check.smallest and check.search.fixes:
        return book.of(check.search.fixes)
    return book.of((), patched=True)
