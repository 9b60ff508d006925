"""The patch of the user's source for the cause: made by the scan, run in place of the source, kept
in the report folder.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reprocheck.model import Check, EntryPoint
    from reprocheck.scan import Finding
    from reprocheck.settings import Settings
    from reprocheck.workflow.stopwatch import Stopwatch
    from reprocheck.workflow.teller import Teller

ARM = "patched"
RUNS = 2
CALL = "reprocheck_child.call"
"""The module behind which the file of a function stands."""
SOURCES, OUTSIDE = "patched-files", "outside"
"""In the report folder, under `arms`: the changed files; in it, those that lie outside of the
working directory.
"""


def repair(
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    watch: Stopwatch,
) -> None:
    """Keeps a patch in the report folder, where the scan knows the line and the runs agree with it.

    It is that of the confirmed cause; where no control confirms one, that of the first cause with a
    line, which the patch then confirms.
    """
    from reprocheck.recording import record
    from reprocheck.scan.mend import difference
    from reprocheck.search.confirm import PATCH, patch_offered, runs_with_patch

    by_control = check.search is not None and bool(check.search.smallest)
    runs = RUNS if by_control else runs_with_patch(check, folder)
    changed = changes(check, entry) if runs else {}
    if not changed:
        return

    patch = difference(changed)
    before = {path: path.read_bytes() for path in changed}
    _run(changed, runs, check, entry, settings, folder, teller, watch)
    if not patch_offered(replace(check, record=record.read(folder)), folder):
        return
    (folder / "arms" / PATCH).write_text(patch, encoding="utf-8")
    edited = sorted(
        str(path)
        for path, data in before.items()
        if not path.is_file() or path.read_bytes() != data
    )
    if edited:
        teller.remark(
            "Changed while the patch was tried, which is for the text before:"
            f" {', '.join(edited)}.",
            style="yellow",
        )


def changes(check: Check, entry: EntryPoint) -> Mapping[Path, str]:
    """The files that the patch changes, and what they are then.

    Empty where there is nothing to mend, or the scan is not there.
    """
    paths = scripts(entry) or program(check)
    try:
        from reprocheck import scan

        found = scan.scan(paths) if paths else None
        fitting = fitting_findings(found.findings, check) if found else ()
        return scan.patched(replace(found, findings=fitting)) if found and fitting else {}
    except (ImportError, AttributeError):
        return {}


def fitting_findings(findings: Sequence[Finding], check: Check) -> tuple[Finding, ...]:
    """Findings that can be mended and are about a confirmed cause, by code or line; else what a
    control of the smallest set removes.

    Where no control confirms a cause, those about the line of the first one alone: what the patch
    mends is what it proves.
    """
    from reprocheck.causes.likely import removes

    smallest = check.search.smallest if check.search else ()
    meant_causes = (
        [cause for cause in check.causes if cause.confidence == "confirmed"]
        if smallest
        else list(check.causes[:1])
    )
    codes = {cause.code for cause in meant_causes} if smallest else set()
    lines = {
        (Path(cause.source.file).name, str(cause.source.line))
        for cause in meant_causes
        if cause.source
    }
    mendable = [
        replace(finding, patchable=True)
        for finding in findings
        if finding.patchable or "unsure" in finding.evidence
    ]
    meant = [
        one
        for one in mendable
        if one.code in codes or any((Path(one.path).name, line) in lines for line in _lines(one))
    ]
    return tuple(
        meant or [one for one in mendable if any(removes(name, one.code) for name in smallest)]
    )


def _lines(finding: Finding) -> tuple[str, ...]:
    """The lines of its file that a finding is about: its own, and the one that makes the number
    which it finds.
    """
    return str(finding.line), finding.evidence.get("made", "").partition(":")[0]


def program(check: Check) -> list[Path]:
    """The script that the processes execute which train, whatever started them: a shell script,
    make, a launcher.
    """
    for run in check.runs[:1]:
        found = [
            Path(run.workdir, trace.process.program).expanduser()
            for trace in run.traces
            if trace.process.program
        ]
        shown = [Path(run.shown(str(path))) for path in found]
        return [path for path in shown if path.suffix == ".py" and path.is_file()][:1]
    return []


def scripts(entry: EntryPoint) -> list[Path]:
    """The Python files that the command names."""
    if entry.kind == "module":
        words = entry.command
        name = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
        if name == CALL:
            return [
                path for path in map(Path, words[3:4]) if path.suffix == ".py" and path.is_file()
            ]
        base = Path(*name.split(".")) if name else Path()
        return [
            path
            for path in (base.with_suffix(".py"), base / "__main__.py")
            if name and path.is_file()
        ]
    return [
        Path(word) for word in entry.command[1:] if word.endswith(".py") and Path(word).is_file()
    ][:1]


def _run(
    changed: Mapping[Path, str],
    runs: int,
    check: Check,
    entry: EntryPoint,
    settings: Settings,
    folder: Path,
    teller: Teller,
    watch: Stopwatch,
) -> None:
    """Runs for which Python is given the changed files in place of the user's.

    The record then holds them.
    """
    from reprocheck import launch

    arm = f"{len(check.record.arms) + 1}-{ARM}"
    names = ", ".join(sorted(map(str, changed)))
    why = "the patch, without any control"
    teller.arm(
        ARM,
        f"{why}; Python is given the patched text of {names}, and the file itself stays as it is",
        runs,
    )
    launch.record_arm(
        *(entry, settings, folder, watch),
        name=arm,
        controls=check.record.controls,
        seed=settings.seed,
        runs=runs,
        steps=settings.steps,
        why=why,
        patched=_written(changed, folder / "arms" / SOURCES),
        output=teller.output,
    )
    watch.keep_arm(folder, arm)


def _written(changed: Mapping[Path, str], sources: Path) -> dict[Path, Path]:
    """Writes the changed files below a folder of ours.

    Returns where each lies, by the whole path of the user's file.
    """
    from reprocheck.scan.mend import encoded

    shutil.rmtree(sources, ignore_errors=True)
    here = Path.cwd()
    written = {}
    for number, (path, text) in enumerate(sorted(changed.items())):
        place = Path(os.path.normpath(here / path))
        target = sources / (
            place.relative_to(here)
            if place.is_relative_to(here)
            else Path(OUTSIDE, str(number), path.name)
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(encoded(path, text))
        written[place] = target.absolute()
    return written
