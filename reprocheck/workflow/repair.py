"""The patch of the user's source for the cause: made by the scan, run in place of the source, kept
in the report folder.
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
    from reprocheck.launch.teller import Teller
    from reprocheck.model import Cause, Check, EntryPoint, Run
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
    """Keep a patch of all confirmed causes in the report folder, where the scan knows the lines and
    the runs agree with it: further runs, unless the search has made them.
    """
    from reprocheck.fixes.edits.difference import difference
    from reprocheck.fixes.patched_files import PATCH
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
        _run_patched(changed, missing, check, entry, settings, folder, teller)
    made = _patched(check, folder)
    if made is None or not (made.untried or made.agrees):
        # It is shown where the runs with it agree, or no run could try it.
        return
    (folder / "arms" / PATCH).write_text(patch, encoding="utf-8")
    edited = sorted(str(path) for path, data in before.items() if not _holds(path, data))
    if edited:
        teller.remark(progress.edited(edited), style="yellow")


def runs_left(check: Check, settings: Settings) -> int:
    """Return how many more runs `--max-runs` allows."""
    if settings.max_runs is None:
        return sys.maxsize
    return settings.max_runs - runs_made(check)


def runs_made(check: Check) -> int:
    """Return how many runs the search has made."""
    return sum(len(arm.runs) for arm in check.record.arms)


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def changes(check: Check, entry: EntryPoint, folder: Path) -> Mapping[Path, str]:
    """Return the files that the patch of all confirmed causes changes, and what they are then.

    Empty where there is nothing to fix.
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
    """Return the files that some patches change, each with one of ours that Python is given in its
    place.
    """
    from reprocheck.fixes.patched_files import SOURCES, written

    found = _found(check, entry, folder)
    changed = _changed(found, _named(found.findings, fixes))
    return written(changed, folder / "arms" / SOURCES)


def _found(check: Check, entry: EntryPoint, folder: Path) -> Result:
    """Return what the scan finds in the script and in what it imports of the user's."""
    from reprocheck import scan

    found = scan.scan(scripts(entry) or program(check))
    return replace(found, findings=(*found.findings, *_found_in_imports(check, folder)))


def _changed(found: Result, findings: Iterable[Finding]) -> Mapping[Path, str]:
    """Return the files that the fixes of findings change, and what they are then."""
    from reprocheck import scan

    # the first of several at one place
    places = {(one.path, one.line, one.column, one.code): one for one in reversed([*findings])}
    edited = [replace(one, patchable=True) for one in reversed(places.values()) if one.is_editable]
    return scan.patched(replace(found, findings=tuple(edited))) if edited else {}


def _named(findings: Iterable[Finding], fixes: Iterable[str]) -> list[Finding]:
    """Return the findings whose patches are named, as `RC402 train.py:3`: of one file alone, by the
    end of its path.
    """
    split = [(fix.partition(" ")[0], *fix.partition(" ")[2].rpartition(":")) for fix in fixes]
    places = [(code, Path(file).parts, line) for code, file, _, line in split]
    return [
        one
        for one in findings
        for code, parts, line in places
        if (one.code, str(one.line)) == (code, line) and _end_alike(Path(one.path).parts, parts)
    ]


def _end_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether the shorter of two paths is the end of the other."""
    parts = min(len(one), len(other))
    return tuple(one[-parts:]) == tuple(other[-parts:])


def _found_in_imports(check: Check, folder: Path) -> list[Finding]:
    """Return what is found in the files that the runs imported, wherever they found them, and that
    lie below the working directory.
    """
    from reprocheck.causes.usercode import UserCode

    findings = UserCode(check, folder).program.findings
    return [
        one for one in findings if not Path(one.path).is_absolute() and Path(one.path).is_file()
    ]


def fitting_findings(findings: Sequence[Finding], check: Check) -> tuple[Finding, ...]:
    """Return the findings that can be fixed and are about a confirmed cause, by code or line; else
    what a control of the smallest set removes.
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
    """Return whether a finding stands on the line of a cause."""
    source = cause.source
    return source is not None and (Path(source.file).name, str(source.line)) in _lines(finding)


def _is_fixable(check: Check, cause: Cause, findings: Sequence[Finding]) -> bool:
    """Return whether an edit is known for a cause: for its line where findings stand there, else
    for its code, else for what its control removes.
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
    """Return the lines that a finding is about, each with the name of its file: its own, and the
    one that makes the number which it finds.
    """
    name = Path(finding.path).name
    made = finding.evidence.get("made", "").partition(":")[0]
    return {(name, str(finding.line)), (name, made)}


def program(check: Check) -> list[Path]:
    """Return the script that the processes execute which train, whatever started them: a shell
    script, make, a launcher.
    """
    if not check.runs:
        return []
    run = check.runs[0]
    programs = filter(None, (trace.process.program for trace in run.traces))
    return _python_files(_place(run, one) for one in programs)[:1]


def _place(run: Run, program: str) -> Path:
    """Return where a program of a run lies, as a report names it."""
    whole = Path(run.workdir, program).expanduser()
    return Path(run.shown(str(whole)))


def scripts(entry: EntryPoint) -> list[Path]:
    """Return the Python files that the command names."""
    if entry.kind != "module":
        return _python_files(map(Path, entry.command[1:]))[:1]
    name = _module(entry.command)
    if name == CALL:
        return _python_files(map(Path, entry.command[3:4]))
    if not name:
        return []
    base = Path(*name.split("."))
    return _python_files([base.with_suffix(".py"), base / "__main__.py"])


def _module(command: Sequence[str]) -> str:
    """Return the word after `-m`; empty where there is none."""
    if "-m" not in command[:-1]:
        return ""
    return command[command.index("-m") + 1]


def _python_files(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if path.suffix == ".py" and path.is_file()]


def _run_patched(
    changed: Mapping[Path, str],
    runs: int,
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
) -> None:
    """Run for which Python is given the changed files in place of the user's.

    The record then holds them.
    """
    from reprocheck import launch
    from reprocheck.fixes.patched_files import SOURCES, written
    from reprocheck.wording import progress

    arm = f"{len(check.record.arms) + 1}-{ARM}"
    reason = Reason(key="patch")
    teller.arm(ARM, progress.patched(reason, sorted(map(str, changed))), runs)
    launch.record_arm(
        *(entry, settings, folder, teller),
        name=arm,
        controls=check.record.controls,
        seed=settings.seed,
        runs=runs,
        steps=settings.steps,
        reason=reason,
        patched=written(changed, folder / "arms" / SOURCES),
        output=teller.output,
        enough=partial(_decided, check, folder),
    )


def _decided(check: Check, folder: Path) -> bool:
    """Return whether the runs with the patch that were made by now say all that they can say: they
    differ, fail, or were not given it.
    """
    made = _patched(check, folder)
    return made is not None and (made.untried or made.decided)


def _patched(check: Check, folder: Path) -> Judged | None:
    """Return the runs that were made by now with the patch of all confirmed causes."""
    from reprocheck.search.arms import Book
    from reprocheck.workflow.replay import with_record

    book = Book(with_record(check, folder), folder)
    if check.search is not None and not check.smallest and check.search.fixes:
        return book.of(check.search.fixes)
    return book.of((), patched=True)
