"""What is said of patches: a finding is fixable where a patch is really made, and its fix is what
that does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from reprocheck.model.letters import capital, small
from reprocheck.scan.finding import Finding
from reprocheck.scan.project import Project

_NOT_SURE = "unsure"
"""The evidence of a finding of which the text does not show whether its patch fits: nothing is
changed, and it is said how.
"""


def promised(project: Project, found: Sequence[Finding]) -> list[Finding]:
    """The findings, of which no more are said to be fixable than a patch really fixes, with what
    it does as their fix.
    """
    candidates = [one for one in found if _may_be_patched(one)]
    fixes: dict[int, str] = {}
    if candidates:
        fixes = _fixes(project, candidates)
    return [_with_fix(one, fixes.get(id(one))) for one in found]


def _may_be_patched(finding: Finding) -> bool:
    if finding.suppressed is not None:
        return False
    return finding.patchable or _NOT_SURE in finding.evidence


def _fixes(project: Project, found: Sequence[Finding]) -> dict[int, str]:
    """What the patches of findings do, by the ids of those that one mends."""
    # the library that patches need takes long to import, and most scans need none
    from reprocheck.scan import patches

    by_path: defaultdict[str, list[Finding]] = defaultdict(list)
    for one in found:
        by_path[patches.file_of(one)].append(one)
    fixes: dict[int, str] = {}
    for module in project:
        mended = patches.fixes(module.source.text, by_path[module.shown])
        fixes |= {id(one): fix for one, fix in mended}
    return fixes


def _with_fix(finding: Finding, patch: str | None) -> Finding:
    """A finding with what its patch does: "" where that takes more than a line, None where there is
    no patch.
    """
    patchable = finding.patchable and patch is not None
    if not patch:
        return replace(finding, patchable=patchable)
    return replace(finding, patchable=patchable, fix=_fix(finding, patch), fix_from="place")


def _fix(finding: Finding, patch: str) -> str:
    """What to do: what the patch does, after what the check says of the place."""
    said = finding.evidence.get("fix", "")
    if said:
        return f"{said.rstrip('.')}, or {small(patch)}"
    if not finding.patchable:
        return f"{patch} {capital(finding.evidence[_NOT_SURE])}."
    return patch
