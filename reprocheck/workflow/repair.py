"""The patch of the user's source for the cause: made by the scan, run in place of the source, kept
in the report folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.language import english, tr

if TYPE_CHECKING:
    from reprocheck.launch.teller import Teller
    from reprocheck.model import Cause, Check, EntryPoint, Run
    from reprocheck.scan import Finding
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
    """Keep a patch in the report folder, where the scan knows the line and the runs agree with it.

    It is that of the confirmed cause; where no control confirms one, that of the first cause with a
    line, which the patch then confirms.
    """
    from reprocheck.scan.fix import difference
    from reprocheck.search.arms import Book
    from reprocheck.search.patch import PATCH, decided, patch_offered, runs_with_patch
    from reprocheck.workflow.replay import with_record

    runs = RUNS
    if not check.smallest:
        runs = runs_with_patch(check, folder)
    if not runs or decided(check, folder):
        return
    changed = changes(check, entry, folder)
    if not changed:
        return

    patch = difference(changed)
    before = {path: path.read_bytes() for path in changed}
    missing = runs - Book(check, folder).made((), patched=True)
    if missing > 0:
        run_patched(changed, missing, check, entry, settings, folder, teller)
    if not patch_offered(with_record(check, folder), folder):
        return
    (folder / "arms" / PATCH).write_text(patch, encoding="utf-8")
    edited = sorted(str(path) for path, data in before.items() if not _holds(path, data))
    if edited:
        teller.remark(
            tr(
                "Changed while the patch was tried, which is for the text before: {edited}.",
                edited=", ".join(edited),
            ),
            style="yellow",
        )


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.read_bytes() == data


def changes(check: Check, entry: EntryPoint, folder: Path) -> Mapping[Path, str]:
    """Return the files that the patch changes, and what they are then.

    Empty where there is nothing to fix.
    """
    from reprocheck import scan

    paths = scripts(entry) or program(check)
    found = scan.scan(paths)
    findings = (*found.findings, *_found_in_imports(check, folder))
    if check.smallest and not all(_is_fixable(check, one, findings) for one in _meant(check)):
        # A patch that leaves a cause in is known to fail before it is run.
        return {}
    fitting = fitting_findings(findings, check)
    if not fitting:
        return {}
    return scan.patched(replace(found, findings=fitting))


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
    """Findings that can be fixed and are about a confirmed cause, by code or line; else what a
    control of the smallest set removes.

    Where no control confirms a cause, those about the line of the first one alone: what the patch
    fixes is what it proves.
    """
    from reprocheck.causes.likely import removes

    causes = _meant(check)
    codes = {cause.code for cause in causes if check.smallest}
    fixable = [replace(one, patchable=True) for one in findings if _has_edit(one)]
    meant = [
        one
        for one in fixable
        if one.code in codes or any(_is_about(one, cause) for cause in causes)
    ]
    fitting = meant or [
        one for one in fixable if any(removes(name, one.code) for name in check.smallest)
    ]
    # the first of several at one place
    places = {(one.path, one.line, one.column, one.code): one for one in reversed(fitting)}
    return tuple(reversed(places.values()))


def _meant(check: Check) -> list[Cause]:
    """Return the causes that a patch is for: all that are confirmed, else the first one."""
    if not check.smallest:
        return list(check.causes[:1])
    return [cause for cause in check.causes if cause.confidence == "confirmed"]


def _has_edit(finding: Finding) -> bool:
    return finding.patchable or "unsure" in finding.evidence


def _is_about(finding: Finding, cause: Cause) -> bool:
    """Return whether a finding stands on the line of a cause."""
    source = cause.source
    return source is not None and (Path(source.file).name, str(source.line)) in _lines(finding)


def _is_fixable(check: Check, cause: Cause, findings: Sequence[Finding]) -> bool:
    """Return whether an edit is known for a cause: for its line where findings stand there, else
    for its code, else for what its control removes.
    """
    from reprocheck.causes.likely import confirms, removes

    controls = [name for name in check.smallest if confirms(name, cause.code)]
    alike = (
        [one for one in findings if _is_about(one, cause)]
        or [one for one in findings if one.code == cause.code]
        or [one for one in findings if any(removes(name, one.code) for name in controls)]
    )
    return any(map(_has_edit, alike))


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


def run_patched(
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
    from reprocheck.search import words
    from reprocheck.search.patched_files import SOURCES, written

    arm = f"{len(check.record.arms) + 1}-{ARM}"
    names = ", ".join(sorted(map(str, changed)))
    why = tr(words.PATCHED)
    teller.arm(
        ARM,
        tr(
            "{why}; Python is given the patched text of {names}, and the file itself stays as it"
            " is",
            why=why,
            names=names,
        ),
        runs,
    )
    launch.record_arm(
        *(entry, settings, folder, teller),
        name=arm,
        controls=check.record.controls,
        seed=settings.seed,
        runs=runs,
        steps=settings.steps,
        why=english(why),
        patched=written(changed, folder / "arms" / SOURCES),
        output=teller.output,
        enough=partial(_decided, check, folder),
    )


def _decided(check: Check, folder: Path) -> bool:
    """Return whether the runs with the patch that were made by now say all that they can say."""
    from reprocheck.search.patch import decided
    from reprocheck.workflow.replay import with_record

    return decided(with_record(check, folder), folder)
