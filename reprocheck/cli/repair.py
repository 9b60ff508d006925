"""The patch of the user's source for a confirmed cause: made by the scan, run twice in a copy, kept in the report folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reprocheck.cli.console import Console
    from reprocheck.model import Check, EntryPoint
    from reprocheck.scan import Finding
    from reprocheck.settings import Settings

ARM = "patched"
CALL = "reprocheck_child.call"
"""The module behind which the file of a function stands."""
SOURCES = "patched-files"
"""In the report folder, under `arms`: the changed files."""


def repair(check: Check, entry: EntryPoint, held: Settings, folder: Path, console: Console, *, watch: Any) -> None:
    """Keeps a patch for what was confirmed in the report folder, where the scan knows the line and the runs agree with it."""
    if check.search is None or not check.search.smallest:
        return
    changed = changes(check, entry)
    if not changed:
        return
    from reprocheck import explain, record
    from reprocheck.scan.mend import difference

    inside = {path: text for path, text in changed.items() if path.resolve().is_relative_to(Path.cwd().resolve())}
    if inside.keys() == changed.keys():
        _run(inside, check, entry, held, folder, console, watch)
        if not explain.patch_holds(replace(check, record=record.read(folder)), folder):
            return
    (folder / "arms" / explain.PATCH).write_text(difference(changed), encoding="utf-8")


def changes(check: Check, entry: EntryPoint) -> Mapping[Path, str]:
    """The files that the patch changes, and what they are then. Empty where there is nothing to mend, or the scan is not there."""
    paths = scripts(entry)
    try:
        from reprocheck import scan

        found = scan.scan(paths) if paths else None
        fitting = fitting_findings(found.findings, check) if found else ()
        return scan.patched(replace(found, findings=fitting)) if found and fitting else {}
    except (ImportError, AttributeError):
        return {}


def fitting_findings(findings: Sequence[Finding], check: Check) -> tuple[Finding, ...]:
    """Findings that can be mended and are about a confirmed cause, by code or line; else what a control of the smallest set removes."""
    from reprocheck import explain

    confirmed = [cause for cause in check.causes if cause.confidence == "confirmed"]
    codes = {cause.code for cause in confirmed}
    lines = {(Path(cause.source.file).name, cause.source.line) for cause in confirmed if cause.source}
    mendable = [finding for finding in findings if finding.patchable]
    meant = [one for one in mendable if one.code in codes or (Path(one.path).name, one.line) in lines]
    smallest = check.search.smallest if check.search else ()
    return tuple(meant or [one for one in mendable if any(explain.removes(name, one.code) for name in smallest)])


def scripts(entry: EntryPoint) -> list[Path]:
    """The Python files that the command names."""
    if entry.kind == "module":
        words = entry.command
        name = words[words.index("-m") + 1] if "-m" in words[:-1] else ""
        if name == CALL:
            return [path for path in map(Path, words[3:4]) if path.suffix == ".py" and path.is_file()]
        base = Path(*name.split(".")) if name else Path()
        return [path for path in (base.with_suffix(".py"), base / "__main__.py") if name and path.is_file()]
    return [Path(word) for word in entry.command[1:] if word.endswith(".py") and Path(word).is_file()][:1]


def _run(changed: Mapping[Path, str], check: Check, entry: EntryPoint, held: Settings, folder: Path, console: Console, watch: Any) -> None:
    """A pair of runs in a copy of the working directory with the changed files."""
    from reprocheck import launch

    sources = folder / "arms" / SOURCES
    shutil.rmtree(sources, ignore_errors=True)
    for path, text in changed.items():
        target = sources / path.resolve().relative_to(Path.cwd().resolve())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    why = "the patch in a copy of the working directory, without any control"
    console.arm(ARM, why)
    launch.record_arm(
        *(entry, held, folder, watch),
        name=f"{len(check.record.arms) + 1}-{ARM}",
        controls=check.record.controls,
        seed=held.seed,
        runs=2,
        steps=held.steps,
        why=why,
        patched=sources,
        output=console.output,
    )
    watch.keep_arm(folder, f"{len(check.record.arms) + 1}-{ARM}")
