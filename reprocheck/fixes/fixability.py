"""Say which findings can be fixed.

A finding is fixable if a patch can really be made, and its fix is what the patch does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.scan import engine
from reprocheck.scan.files import shown
from reprocheck.scan.finding import Finding, Result, file_of
from reprocheck.scan.fix_words import UNSURE, fix_by
from reprocheck.scan.index import grouped
from reprocheck.scan.project import Project
from reprocheck.scan.source import decode, read
from reprocheck.scan.workers import each

if TYPE_CHECKING:
    from reprocheck.fixes.patches import Mended


@dataclass(frozen=True, slots=True)
class Patched:
    """The text of a file, and the findings whose patches may change the text."""

    text: str
    findings: tuple[Finding, ...]


def promised(
    judged: Sequence[tuple[Project, Sequence[Finding]]], jobs: int = 1
) -> list[list[Finding]]:
    """Return the findings of each project; those called fixable are those that a patch fixes.

    Their fix is what the patch does.
    """
    files = []
    for project, findings in judged:
        told = [finding for finding in findings if finding.suppressed is None]
        editable = [one for one in told if one.patchable or UNSURE in one.evidence]
        by_path = grouped((file_of(finding), finding) for finding in editable)
        for module in project:
            if module.shown in by_path:
                files.append(Patched(module.source.text, tuple(by_path[module.shown])))
    fixes: dict[int, Mended] = {}
    if files:
        # the library that patches need takes long to import, most scans need none, and processes
        # that are forked have it
        from reprocheck.fixes import patches

        for file, mended in zip(files, each(patches.fixes, files, jobs), strict=True):
            fixes |= {id(file.findings[one.number]): one for one in mended}
    return [[_with_fix(one, fixes.get(id(one))) for one in findings] for _, findings in judged]


def _with_fix(finding: Finding, patch: Mended | None) -> Finding:
    """Return a finding with the effect of its patch as the fix, if one line can say it."""
    if patch is None:
        return replace(finding, patchable=False)
    finding = replace(finding, edit_known=True)
    if not patch.changes:
        return finding
    return replace(finding, fix=fix_by(finding, patch.changes), fix_from="place")


scan = partial(engine.scan, promise=promised)
"""Scans files and folders: `reprocheck.scan.engine.scan`, whose findings say what patches fix."""


def patched(result: Result, given: Mapping[Path, bytes] = engine.NOTHING_GIVEN) -> dict[Path, str]:
    """Return the new text of each file in which a finding can be fixed, by its path.

    Notebooks are skipped. `given` is the text of files as given to the scan.
    """
    from reprocheck.fixes import patches

    by_path = grouped((file_of(one), one) for one in result.findings if one.patchable)
    contents = {shown(path.absolute()): data for path, data in given.items()}
    changed: dict[Path, str] = {}
    for path, found in by_path.items():
        data = contents.get(path)
        if data is None:
            data = read(Path(path))
        before = decode(data)
        after = patches.patch(before, found)
        if after != before:
            changed[Path(path)] = after
    return changed
